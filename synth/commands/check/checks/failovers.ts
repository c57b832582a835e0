/** Checks of ServiceFailovers: the operator has seen each, and sends its requests somewhere. */
import { FailoverApi } from '../../../../crds/wire.ts';
import { type FailoverObject, failoverReport } from '../../common/failovers.ts';
import { byKubectl } from '../../common/remedies.ts';
import { type Check, error, type Finding, warning } from '../check-type.ts';
import { conditionText } from '../link-judgement.ts';
import { eachObject } from '../object-judgement.ts';
import type { Survey } from '../survey.ts';

const SWITCHED_OFF =
  'is not served any more: the operator runs with --no-failover, and its routes stay as they are, whatever becomes of the backends';
const SWITCH_ON =
  'run the operator with --failover again; delete each ServiceFailover that is not wanted before it is switched off';

/** Whether the operator here reported on it, and serves none by its settings now. One of another namespace may go on. */
const isLeft = ({ status }: FailoverObject, { namespace, servesFailovers }: Survey): boolean =>
  servesFailovers === false && Boolean(status) && [undefined, namespace].includes(status?.operator as string);

const readyFindings = (failover: FailoverObject, survey: Survey): readonly Finding[] => {
  const { key, ready } = failoverReport(failover);
  if (isLeft(failover, survey)) return [error(`${FailoverApi.kind} ${key}`, SWITCHED_OFF, SWITCH_ON)];
  if (ready.status === 'True') return [];
  const { name, namespace = '' } = failover.metadata;
  const resource = `${FailoverApi.plural}.${FailoverApi.group}`;
  const remedy = `see its conditions: ${byKubectl(survey, '-n', namespace, 'describe', resource, name)}`;
  // What is about to be known is not a fault yet; what nobody reports on is.
  const report = ready.reason === 'Pending' ? warning : error;
  return [report(`${FailoverApi.kind} ${key}`, conditionText(ready), remedy)];
};

export const FAILOVER_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'failovers-ready',
    category: 'failover',
    title: 'ServiceFailovers are ready',
    means:
      'A ServiceFailover is not accepted, has no route, or none of its backends is ready; or the operator does not report on it, or was told to serve none. Requests to its Service go where they went, or nowhere.',
    remedy: 'See the reason, and its conditions: [failover.md](failover.md) explains each.',
    judge: (survey) => eachObject(survey, 'ServiceFailovers', survey.failovers, (each) => readyFindings(each, survey)),
  },
];

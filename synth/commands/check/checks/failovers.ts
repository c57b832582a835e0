/** Checks of ServiceFailovers: the operator has seen each, and sends its requests somewhere. */
import { FailoverApi } from '../../../../crds/wire.ts';
import { type FailoverObject, failoverReport } from '../../common/failovers.ts';
import { byKubectl } from '../../common/remedies.ts';
import { type Check, error, type Finding, warning } from '../check-type.ts';
import { conditionText } from '../link-judgement.ts';
import { eachObject } from '../object-judgement.ts';
import type { Survey } from '../survey.ts';

const readyFindings = (failover: FailoverObject, survey: Survey): readonly Finding[] => {
  const { key, ready } = failoverReport(failover);
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
      'A ServiceFailover is not accepted, has no route, or none of its backends is ready; or the operator does not report on it. Requests to its Service go where they went, or nowhere.',
    remedy: 'See the reason, and its conditions: [failover.md](failover.md) explains each.',
    judge: (survey) => eachObject(survey, 'ServiceFailovers', survey.failovers, (each) => readyFindings(each, survey)),
  },
];

/** Whether it is known who uses a gateway: where nobody could look, somebody may use it. Pure. */
import { Default } from '../../../../crds/wire.ts';
import { shellWord } from '../../common/command-text.ts';
import { quoted } from '../../common/remedies.ts';
import { error, type Finding, type Judgement, judged, skipped, warning } from '../check-type.ts';
import type { AccessSurvey } from './survey.ts';
import type { Counted } from './usage.ts';
import { isCounted } from './verdicts.ts';

/** Reports whether a proxy says who came, and not what for. */
const isOld = ({ uses, unnamed, clients }: Counted): boolean =>
  uses.length === 0 && unnamed === 0 && clients.length > 0;

/** Gets metrics by a port that is forwarded to the pods, which their policy does not forbid. */
const proxyMetrics = ({ kubeconfig, context, namespace }: AccessSurvey): string => {
  const cluster = [...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]), '--context', context];
  const words = ['linkerd', 'diagnostics', 'proxy-metrics', '-n', namespace, `deploy/${Default.gatewayName}`];
  const command = [...words, ...cluster].map(shellWord).join(' ');
  return `get them by ${quoted(`${command} > gateway.metrics`)}, and name the file with --gateway-metrics`;
};

/** Pods of the gateway that run, and of which nothing is known. */
const unknownPods = ({ pods, counted }: AccessSurvey): readonly string[] => {
  const known = new Set(counted.filter(isCounted).map(({ pod }) => pod));
  return (pods.ok ? pods.value : []).map(({ metadata }) => metadata.name).filter((name) => !known.has(name));
};

/** What is not known of the use of a gateway. */
export const usageFindings = (survey: AccessSurvey): Judgement => {
  const { pods, counted, namespace } = survey;
  if (!pods.ok) return skipped('Pods cannot be read');
  const remedy = proxyMetrics(survey);
  const titleOf = (pod: string | undefined): string => (pod === undefined ? 'metrics' : `Pod ${namespace}/${pod}`);
  if (pods.value.length === 0 && counted.length === 0) {
    const reason = 'no pod of it runs: nothing has counted who uses it';
    return judged([error(`Deployment ${namespace}/${Default.gatewayName}`, reason, 'see its pods, and try again')]);
  }
  const failed = counted.flatMap((each) =>
    isCounted(each) ? [] : [error(titleOf(each.pod), `its metrics are not known: ${each.obstacle}`, remedy)],
  );
  const named = new Set(counted.map(({ pod }) => pod));
  const missing = unknownPods(survey)
    .filter((pod) => !named.has(pod))
    .map((pod) => error(titleOf(pod), 'runs, and is not in the metrics that were given', remedy));
  const old = counted
    .filter(isCounted)
    .filter(isOld)
    .map(({ pod, clients }): Finding => {
      const reason = `its proxy has let in ${clients.length === 1 ? 'a client' : `${clients.length} clients`}, and does not say to which Services`;
      return error(titleOf(pod), reason, 'use a proxy of Linkerd 2.18 or later, which counts that, for some days');
    });
  const unnamed = counted
    .filter(isCounted)
    .filter((each) => each.unnamed > 0)
    .map((each): Finding => {
      const reason = `has counted ${each.unnamed} connections whose client or Service has no valid name`;
      return warning(titleOf(each.pod), reason, 'see its metric inbound_tcp_transport_header_connections_total');
    });
  return judged([...failed, ...missing, ...old, ...unnamed]);
};

/** Why the use of a gateway is not known at all; undefined if any of it is. */
export const nothingKnown = (survey: AccessSurvey): string | undefined =>
  survey.counted.some((each) => isCounted(each) && !isOld(each)) ? undefined : 'who uses the gateway is not known';

/** What of the use of a gateway is not known; undefined if all of it is. */
export const partlyKnown = (survey: AccessSurvey): string | undefined => {
  const old = survey.counted.filter(isCounted).filter(isOld);
  const names = [...new Set([...unknownPods(survey), ...old.map(({ pod = 'one' }) => pod)])];
  return names.length === 0 ? undefined : `the use that ${names.join(', ')} has seen`;
};

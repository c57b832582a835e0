/** Looks on while a scene is played: no Link says that it is synced before its change has been applied (G1). */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import { appliedGeneration, unapplied } from '../simulation/applied.ts';
import type { HistoryCluster } from '../simulation/cluster.ts';
import { LINK } from './kinds.ts';

/** What `gatewayPort` is of a Link that has none, or an empty one. */
const DEFAULT_PORT = '4143';
const CLUSTER = 'mirror.linkerd.io/cluster-name';

/** Judges each status of a Link as it is written. */
export function watchSynced(source: HistoryCluster, complain: (what: string) => void): void {
  source.onOperatorWrite((_, { kind }, event) => {
    if (kind === LINK.kind && isNews(event)) for (const problem of problemsOf(event.object, source)) complain(problem);
  });
}

/** Whether a Link says for the first time that its spec of now is applied. */
const isNews = ({ object, previous }: StorageEvent): boolean => {
  const { generation } = object.metadata;
  return appliedGeneration(object) === generation && appliedGeneration(previous) !== generation;
};

function problemsOf(link: KubeObject, source: HistoryCluster): readonly string[] {
  const spec = link.spec as { readonly targetClusterName: string; readonly gatewayPort?: string };
  const endpoints = [...source.list('v1', 'Endpoints'), ...source.list('discovery.k8s.io/v1', 'EndpointSlice')];
  // The probe Service has the probe's port.
  const mirrors = endpoints.filter(
    ({ metadata: { labels, name } }) => labels?.[CLUSTER] === spec.targetClusterName && !name.startsWith('probe-'),
  );
  const gatewayPort = (spec.gatewayPort ?? '') === '' ? DEFAULT_PORT : spec.gatewayPort;
  return unapplied({ ...link, spec: { ...spec, gatewayPort } }, mirrors);
}

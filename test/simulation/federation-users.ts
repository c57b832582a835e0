/**
 * What users do with federated Services: Services of targets and of the source join them, and Linkerd's control plane gets
 * credentials of clusters.
 */
import type { Content, HistoryCluster } from './cluster.ts';
import { CLUSTER_OF, type Command, OTHER_CLUSTER, type Of, type OfSource } from './command.ts';
import { MEMBER_LABEL, OWNER_LABEL } from './members.ts';
import { putService, setPods } from './target-users.ts';

/** The owner of what the local member has. */
export const HERE = 'east';

/** Where Linkerd's control plane is. */
const CONTROL_PLANE = 'linkerd';

/** Has a Service of a target join, or leave. */
export function federate(
  target: HistoryCluster,
  { namespace, name, link, member }: Of & { readonly member: boolean },
): void {
  label(target, { namespace, name }, { owner: link, member });
}

function label(
  cluster: HistoryCluster,
  { namespace, name }: OfSource,
  { owner, member }: { readonly owner: string; readonly member: boolean },
): void {
  const there = cluster.get('v1', 'Service', namespace, name);
  if (there === undefined) return;
  const { [MEMBER_LABEL]: _, ...labels } = there.metadata.labels ?? {};
  const wanted = { ...labels, [OWNER_LABEL]: owner, ...(member && { [MEMBER_LABEL]: 'member' }) };
  cluster.put({ ...there, metadata: { ...there.metadata, labels: wanted } });
}

/** A Service of the source with its pods; none in a namespace that is not there. */
export function putLocal(east: HistoryCluster, command: Extract<Command, { do: 'put local' }>): void {
  const { namespace, name, kind, ports, member, pods } = command;
  const home = east.get('v1', 'Namespace', undefined, namespace);
  if (home === undefined || home.metadata.deletionTimestamp !== undefined) return;
  putService(east, { namespace, name, kind, ports, exported: 'none', tag: 'b', publishNotReady: false });
  setPods(east, { namespace, name, pods });
  label(east, { namespace, name }, { owner: HERE, member });
}

/** What Linkerd's destination controller reads: its own namespace, and credentials of all clusters. */
export function putDiscovery(east: HistoryCluster): void {
  east.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONTROL_PLANE } });
  for (const cluster of new Set([...Object.values(CLUSTER_OF), OTHER_CLUSTER])) discover(east, cluster, true);
}

/** Gives Linkerd's control plane credentials of a cluster, or takes them away. */
export function discover(east: HistoryCluster, cluster: string, isDiscovered: boolean): void {
  const name = `cluster-credentials-${cluster}`;
  if (!isDiscovered) {
    east.remove('v1', 'Secret', CONTROL_PLANE, name);
    return;
  }
  east.put({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'mirror.linkerd.io/remote-kubeconfig',
    metadata: {
      ...{ name, namespace: CONTROL_PLANE, labels: { 'multicluster.linkerd.io/cluster-name': cluster } },
      annotations: {
        'multicluster.linkerd.io/trust-domain': 'cluster.local',
        'multicluster.linkerd.io/cluster-domain': 'cluster.local',
      },
    },
    data: { kubeconfig: 'e30=' },
  });
}

/** Whether Linkerd's control plane has credentials of a cluster. */
export const isDiscovered = (east: Pick<Content, 'get'>, cluster: string): boolean =>
  east.get('v1', 'Secret', CONTROL_PLANE, `cluster-credentials-${cluster}`) !== undefined;

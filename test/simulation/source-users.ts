/**
 * What users do in the source cluster with what is not theirs to do: own objects under names that mirrors want, and
 * edits and deletions of mirrors.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import type { Command } from './command.ts';
import { at } from './hostile.ts';
import { isFederated } from './members.ts';
import { setPods } from './target-users.ts';

type Of<T extends Command['do']> = Omit<Extract<Command, { do: T }>, 'do'>;

export function putForeign(east: HistoryCluster, { kind, namespace, name, labels }: Of<'put foreign'>): void {
  const there = east.get('v1', kind, namespace, name);
  const home = east.get('v1', 'Namespace', undefined, namespace);
  if (there !== undefined || home === undefined || home.metadata.deletionTimestamp !== undefined) return;
  east.put({
    apiVersion: 'v1',
    kind,
    metadata: {
      ...{ name, namespace },
      labels: {
        ...(labels === 'none' ? {} : { 'mirror.linkerd.io/mirrored-service': 'true' }),
        ...(labels === 'of another cluster' ? { 'mirror.linkerd.io/cluster-name': 'north' } : {}),
      },
    },
    ...(kind === 'Service'
      ? { spec: { ports: [{ port: 1234 }], selector: { app: OWN } } }
      : { subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 1234 }] }] }),
  });
}

/** A ready pod in a namespace, which the selectors select that users give to mirrors. */
export const putOwnPod = (east: HistoryCluster, namespace: string): void =>
  setPods(east, { namespace, name: OWN, pods: [{ hostname: '', ready: true }] });

const OWN = 'own';

/** @param isOurs whether an object is a mirror */
export function editMirror(
  east: HistoryCluster,
  { kind, index, how }: Of<'edit mirror'>,
  isOurs: (object: KubeObject) => boolean,
): void {
  const apiVersion = kind === 'EndpointSlice' ? 'discovery.k8s.io/v1' : 'v1';
  const ours = east
    .list(apiVersion, kind)
    .filter((object) => isOurs(object) && object.metadata.deletionTimestamp === undefined);
  const object = ours[index % Math.max(1, ours.length)];
  if (object === undefined) return;
  const { metadata, ...rest } = object;
  const { name, namespace, labels = {}, annotations = {} } = metadata;
  switch (how) {
    case 'delete':
      east.remove(apiVersion, kind, namespace, name);
      break;
    case 'label':
      east.put({ ...rest, metadata: { ...metadata, labels: { ...labels, 'example.com/edited': 'x' } } });
      break;
    case 'annotation':
      east.put({
        ...rest,
        metadata: { ...metadata, annotations: { ...annotations, 'mirror.linkerd.io/remote-svc-fq-name': 'edited' } },
      });
      break;
    case 'content':
      east.put({ ...rest, metadata, ...edited(object) });
      break;
    case 'manager':
      // That of a slice says who maintains it. Kubernetes' own controllers select theirs by it.
      east.put({ ...rest, metadata: { ...metadata, labels: { ...labels, [MANAGED_BY]: at(MANAGERS, index) } } });
      break;
    case 'selector':
      // The Service comes to lead to pods of the source cluster.
      if (kind === 'Service') east.put({ ...object, spec: { ...(object.spec as object), selector: { app: OWN } } });
      break;
    case 'slice':
      if (kind === 'Service') putSliceOf(east, object);
      break;
    case 'unlabel': {
      // By these slices are found, and known to be ours.
      const { [at(SLICE_LABELS, index)]: _, ...others } = labels;
      if (kind === 'EndpointSlice') east.put({ ...object, metadata: { ...metadata, labels: others } });
      break;
    }
    case 'disown': {
      const { [labelOf(object)]: _, ...others } = labels;
      east.put({ ...rest, metadata: { ...metadata, labels: others } });
    }
  }
}

/** A slice of a Service that somebody makes by hand. */
function putSliceOf(east: HistoryCluster, { metadata: { name, namespace = '' } }: KubeObject): void {
  east.put({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name.slice(0, 40)}-by-hand`, namespace, labels: { [SERVICE_NAME]: name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.7'], conditions: { ready: true } }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  });
}

const SERVICE_NAME = 'kubernetes.io/service-name';
const SLICE_LABELS: readonly string[] = [
  ...[SERVICE_NAME, 'mirror.linkerd.io/mirrored-service', 'mirror.linkerd.io/cluster-name'],
  ...['linkspan.dev/federation', 'linkspan.dev/federation-member', 'endpointslice.kubernetes.io/managed-by'],
];

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const MANAGERS: readonly string[] = ['somebody', 'endpointslice-controller.k8s.io', ''];

/** Without this label an object is not ours: a federated Service names no cluster. A slice of one keeps its labels. */
const labelOf = (object: KubeObject): string =>
  isFederated(object) && object.kind === 'Service'
    ? 'mirror.linkerd.io/mirrored-service'
    : 'mirror.linkerd.io/cluster-name';

/** What a user breaks in the content of an object. */
const edited = (object: KubeObject): object => {
  switch (object.kind) {
    case 'Service':
      return {
        spec: { ...(object.spec as object), ports: [{ name: 'edited', port: 81, protocol: 'TCP', targetPort: 81 }] },
      };
    case 'Endpoints':
      return {
        subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'edited', port: 81, protocol: 'TCP' }] }],
      };
    default:
      return { endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }] };
  }
};

/** Rule C3: what leads from a Service of ours to somewhere else, since somebody gave it a selector, or endpoints. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import { isFederated, isKeptByKubernetes } from './members.ts';

/** Returns the Service of which an object is endpoints. */
export const serviceBehind = (
  east: Pick<HistoryCluster, 'get'>,
  { kind, metadata }: KubeObject,
): KubeObject | undefined => {
  const { namespace, name, labels = {} } = metadata;
  const service = kind === 'EndpointSlice' ? labels['kubernetes.io/service-name'] : name;
  return service === undefined || kind === 'Service' ? undefined : east.get('v1', 'Service', namespace, service);
};

/**
 * Whether a slice of ours is left to Kubernetes: somebody has marked it as maintained by that, and it leads from no Service of
 * ours.
 */
export const isLeftToKubernetes = (
  east: Pick<HistoryCluster, 'get'>,
  slice: KubeObject,
  isWritten: (object: KubeObject) => boolean,
): boolean => {
  if (!isKeptByKubernetes(slice)) return false;
  const service = serviceBehind(east, slice);
  return service === undefined || !isWritten(service);
};

/**
 * Returns what is wrong with the slices of our Services: each is ours, or mirrors v1 Endpoints. Those are ours, or
 * somebody else's, which are left alone (A6).
 * @param kind in which form endpoints are written
 * @param isWritten whether an object is ours
 */
export const strays = (
  east: HistoryCluster,
  kind: 'endpoints' | 'slices',
  isWritten: (object: KubeObject) => boolean,
): readonly string[] =>
  east.list('discovery.k8s.io/v1', 'EndpointSlice').flatMap((slice) => {
    const service = serviceBehind(east, slice);
    if (service === undefined || !isWritten(service) || isWritten(slice)) return [];
    const { namespace, name, labels = {} } = slice.metadata;
    const by = labels['endpointslice.kubernetes.io/managed-by'];
    const isOfOurs = OURS.some((label) => label in labels);
    // Somebody's own Endpoints are left alone, and Kubernetes copies them, labels and all.
    const endpoints = east.get('v1', 'Endpoints', namespace, service.metadata.name);
    const isOfOthers = endpoints !== undefined && !isWritten(endpoints);
    const mayBeCopied = (kind === 'endpoints' && !isFederated(service)) || !isOfOurs || isOfOthers;
    if (by === 'endpointslicemirroring-controller.k8s.io' && mayBeCopied) return [];
    return [`slice ${namespace}/${name} of Service ${service.metadata.name} is made by ${by ?? 'hand'} (C3)`];
  });

/** Labels of our Services, which Kubernetes copies to their endpoints. */
const OURS = ['mirror.linkerd.io/mirrored-service', 'mirror.linkerd.io/mirrored-gateway'];

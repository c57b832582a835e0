/** What is known of the endpoints of Services by whoever serves a ServiceFailover (rule J3), stated without its code. */
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import { type LinkState, type SourceState, selects, slicesBehind } from '../oracle.ts';
import type { Counts } from './failover-fields.ts';

const CLUSTER = 'mirror.linkerd.io/cluster-name';
const FLAT = 'multicluster.linkerd.io/remote-discovery';

/** The cluster and the name of the Service that a Service is a mirror of; undefined: it is none. */
export function mirroredBy({
  metadata: { name, labels = {} },
}: KubeObject): { readonly cluster: string; readonly name: string } | undefined {
  const cluster = labels[CLUSTER];
  if (labels['mirror.linkerd.io/mirrored-service'] !== 'true' || cluster === undefined) return undefined;
  const mirror = labels['mirror.linkerd.io/headless-mirror-svc-name'] ?? name;
  return { cluster, name: mirror.endsWith(`-${cluster}`) ? mirror.slice(0, -cluster.length - 1) : '' };
}

/** Whether a mirror is reached on a flat network, whatever its gateway does. */
export const isFlatMirror = ({ metadata: { labels = {} } }: KubeObject): boolean => FLAT in labels;

interface Endpoint {
  readonly conditions?: { readonly ready?: boolean; readonly terminating?: boolean };
}

const countOf = (slices: readonly KubeObject[], { metadata: { namespace } }: KubeObject, name: string): Counts => {
  const endpoints = slices
    .filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
    )
    .flatMap((slice) => (slice['endpoints'] ?? []) as readonly Endpoint[])
    .filter(({ conditions }) => conditions?.terminating !== true);
  return { ready: endpoints.filter(({ conditions }) => conditions?.ready !== false).length, total: endpoints.length };
};

/** By the slices of this cluster. */
export const countedHere = (slices: readonly KubeObject[], service: KubeObject): Counts =>
  countOf(slices, service, service.metadata.name);

/**
 * At first hand if the service is the mirror of a Link that is served; else by the slices of this cluster, which a mirror on
 * a flat network does not have.
 */
export function countsOf(
  service: KubeObject,
  links: readonly LinkState[],
  slices: SourceState['slices'],
): Counts | undefined {
  const mirrored = mirroredBy(service);
  const link = links.find(({ spec }) => spec.targetClusterName === mirrored?.cluster);
  if (mirrored === undefined || link === undefined) {
    return mirrored !== undefined && isFlatMirror(service) ? undefined : countedHere(slices, service);
  }
  const { namespace } = service.metadata;
  const target = link.services.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === mirrored.name,
  );
  const labels = target?.metadata.labels ?? {};
  const isFlat = selects(link.spec.remoteDiscoverySelector, labels);
  if (target === undefined || !(isFlat || selects(link.spec.selector, labels))) return { ready: 0, total: 0 };
  // Those without the label may not count (D9).
  const selector = isFlat ? link.spec.remoteDiscoverySelector : link.spec.selector;
  const counts = countOf(slicesBehind(link.slices, selector, target), service, mirrored.name);
  const isThrough = isFlat || link.gatewayAlive || link.spec.probeSpec === undefined;
  return isThrough ? counts : { ready: 0, total: counts.total };
}

/**
 * When two objects say the same: one plain value for what we write of a Service, Endpoints or EndpointSlice, with the
 * API server's defaults filled in and orders that mean nothing taken out. Two objects are equal when these are, no
 * matter which field manager wrote them; what is not equal is exactly what an apply would have to put right.
 */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type {
  EndpointAddress,
  EndpointPort,
  Endpoints,
  EndpointSlice,
  KubeObject,
  Resource,
  Service,
} from '../kube/objects.ts';

export interface Comparison {
  /** Annotations whose value does not count. */
  readonly ignoredAnnotations?: ReadonlySet<string>;
  /** Labels and annotations that only the live object has do not count: others may put theirs on it. */
  readonly extraMetadata?: 'counts' | 'ignored';
}

/** Set by Kubernetes' own controllers on objects that others write. */
const VOLATILE = /^endpoints\.kubernetes\.io\//;

/** Whether `live` is what `desired` asks for, and nothing else. */
export function saysTheSame(of: Resource, desired: KubeObject, live: KubeObject, how: Comparison = {}): boolean {
  const restrict = how.extraMetadata === 'ignored' ? desired.metadata : undefined;
  return isDeepStrictEqual(canonical(of, desired, how, restrict), canonical(of, live, how, restrict));
}

/** Stands for everything in an object that counts: equal for objects that say the same. */
export const digestOf = (of: Resource, object: KubeObject, how: Comparison = {}): string =>
  hash('sha256', JSON.stringify(canonical(of, object, how, undefined)), 'base64url');

function canonical(
  of: Resource,
  object: KubeObject,
  how: Comparison,
  restrict: KubeObject['metadata'] | undefined,
): readonly unknown[] {
  const { labels = {}, annotations = {} } = object.metadata;
  const kept = (key: string, among: Readonly<Record<string, string>> | undefined): boolean =>
    restrict === undefined || (among !== undefined && Object.hasOwn(among, key));
  return [
    sortedEntries(labels, (key) => kept(key, restrict?.labels)),
    sortedEntries(
      annotations,
      (key) => !VOLATILE.test(key) && how.ignoredAnnotations?.has(key) !== true && kept(key, restrict?.annotations),
    ),
    body(of, object),
  ];
}

function body(of: Resource, object: KubeObject): unknown {
  switch (of.kind) {
    case 'Service':
      return serviceBody((object as Service).spec ?? {});
    case 'Endpoints':
      return endpointsBody(object);
    case 'EndpointSlice':
      return sliceBody(object as EndpointSlice);
    default:
      // Other kinds are only ever created.
      return undefined;
  }
}

function serviceBody(spec: NonNullable<Service['spec']>): unknown {
  return {
    type: spec.type ?? 'ClusterIP',
    headless: spec.clusterIP === 'None',
    selector: sortedEntries(spec.selector ?? {}),
    externalName: spec.externalName ?? '',
    externalIPs: spec.externalIPs ?? [],
    local: spec.internalTrafficPolicy === 'Local',
    affinity: spec.sessionAffinity ?? 'None',
    publishNotReady: spec.publishNotReadyAddresses ?? false,
    ports: sorted(
      (spec.ports ?? []).map((port) => [
        port.name ?? '',
        port.protocol ?? 'TCP',
        port.port,
        port.targetPort ?? port.port,
        port.appProtocol ?? '',
      ]),
    ),
  };
}

function endpointsBody(object: Endpoints): unknown {
  return sorted(
    (object.subsets ?? []).map((subset) => [
      sorted((subset.addresses ?? []).map(address)),
      sorted((subset.notReadyAddresses ?? []).map(address)),
      sorted((subset.ports ?? []).map(endpointPort)),
    ]),
  );
}

function sliceBody(object: EndpointSlice): unknown {
  return [
    object.addressType,
    sorted(
      (object.endpoints ?? []).map((endpoint) => [
        [...endpoint.addresses].sort(),
        endpoint.conditions?.ready ?? true,
        endpoint.hostname ?? '',
        endpoint.targetRef ?? null,
      ]),
    ),
    sorted((object.ports ?? []).map(endpointPort)),
  ];
}

const address = (of: EndpointAddress): unknown => [of.ip, of.hostname ?? '', of.nodeName ?? '', of.targetRef ?? null];

const endpointPort = (of: EndpointPort): unknown => [
  of.name ?? '',
  of.protocol ?? 'TCP',
  of.port ?? null,
  of.appProtocol ?? '',
];

function sortedEntries(
  of: Readonly<Record<string, string>>,
  keep: (key: string) => boolean = () => true,
): readonly (readonly [string, string])[] {
  return Object.entries(of)
    .filter(([key]) => keep(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A list whose order means nothing, in an order of its own. */
function sorted(list: readonly unknown[]): readonly unknown[] {
  if (list.length < 2) return list;
  return list
    .map((item) => [JSON.stringify(item), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, item]) => item);
}

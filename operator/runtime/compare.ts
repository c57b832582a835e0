/**
 * Whether two objects are equivalent: the fields that we write of a Service, Endpoints or EndpointSlice, and the spec
 * of a route, are reduced to one plain value, with the API server's defaults filled in and irrelevant orders removed.
 * Objects are equivalent if these values are equal, no matter which field manager wrote them; if they differ, an apply
 * is needed.
 */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Label } from '../../crds/wire.ts';
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
  /** Annotations that are not compared. */
  readonly ignoredAnnotations?: ReadonlySet<string>;
  /** `ignored`: others may add labels and annotations to the live object, and these are not compared. */
  readonly extraMetadata?: 'counts' | 'ignored';
}

/** Annotations that Kubernetes' own controllers set on objects that others write. */
const VOLATILE = /^endpoints\.kubernetes\.io\//;

/** Whether `live` is what `desired` asks for, and nothing else. */
export function isEquivalent(of: Resource, desired: KubeObject, live: KubeObject, how: Comparison = {}): boolean {
  const restrict = how.extraMetadata === 'ignored' ? desired.metadata : undefined;
  return isDeepStrictEqual(canonical(of, desired, how, restrict), canonical(of, live, how, restrict));
}

/**
 * Keys of the labels and annotations that somebody added to `live`, if it differs from `desired` in nothing else;
 * undefined if it does.
 */
export function additions(
  of: Resource,
  desired: KubeObject,
  live: KubeObject,
  how: Comparison = {},
): readonly string[] | undefined {
  if (!isEquivalent(of, desired, live, { ...how, extraMetadata: 'ignored' })) return undefined;
  const added = (field: 'labels' | 'annotations'): readonly string[] =>
    Object.keys(live.metadata[field] ?? {}).filter((key) => !Object.hasOwn(desired.metadata[field] ?? {}, key));
  return [...added('labels'), ...added('annotations').filter((key) => isCompared(key, how))];
}

const isCompared = (annotation: string, how: Comparison): boolean =>
  !VOLATILE.test(annotation) && how.ignoredAnnotations?.has(annotation) !== true;

/** A digest of everything that is compared: the same for equivalent objects. */
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
    sortedEntries(annotations, (key) => isCompared(key, how) && kept(key, restrict?.annotations)),
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
    case 'ServiceImport':
      return importBody(object);
    case 'HTTPRoute':
    case 'GRPCRoute':
    case 'TCPRoute':
      return routeBody(of.kind, object);
    case 'MeshTLSAuthentication':
    case 'NetworkAuthentication':
    case 'AuthorizationPolicy':
      return (object as KubeObject & { readonly spec?: unknown }).spec;
    default:
      // Objects of other kinds are created and never changed.
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
        endpoint.conditions?.serving ?? null,
        endpoint.conditions?.terminating ?? null,
        endpoint.hostname ?? '',
        endpoint.nodeName ?? '',
        endpoint.zone ?? '',
        reference(endpoint.targetRef),
      ]),
    ),
    sorted((object.ports ?? []).map(endpointPort)),
  ];
}

/** A ServiceImport: its CRD has no defaults, but others may have installed one that has. */
interface ImportObject extends KubeObject {
  readonly spec?: { readonly ports?: readonly object[] };
}

function importBody({ spec = {} }: ImportObject): unknown {
  return { ...spec, ports: (spec.ports ?? []).map((port) => ({ protocol: 'TCP', ...port })) };
}

/** A route of the Gateway API, with the fields that have defaults. */
interface RouteObject extends KubeObject {
  readonly spec?: {
    readonly parentRefs?: readonly object[];
    readonly rules?: readonly { readonly backendRefs?: readonly object[]; readonly matches?: unknown }[];
  };
}

/** Without a match, an HTTPRoute gets one for every path. */
const EVERY_PATH = [{ path: { type: 'PathPrefix', value: '/' } }];

function routeBody(kind: string, { spec = {} }: RouteObject): unknown {
  return {
    ...spec,
    parentRefs: (spec.parentRefs ?? []).map((each) => ({
      group: 'gateway.networking.k8s.io',
      kind: 'Gateway',
      ...each,
    })),
    rules: (spec.rules ?? []).map((rule) => ({
      ...rule,
      ...(kind === 'HTTPRoute' && { matches: rule.matches ?? EVERY_PATH }),
      backendRefs: (rule.backendRefs ?? []).map((each) => ({ group: '', kind: 'Service', weight: 1, ...each })),
    })),
  };
}

const address = (of: EndpointAddress): unknown => [
  of.ip,
  of.hostname ?? '',
  of.nodeName ?? '',
  reference(of.targetRef),
];

/** A reference to an object: its fields are texts, in whatever order. */
const reference = (of: unknown): unknown =>
  typeof of === 'object' && of !== null ? sortedEntries(of as Readonly<Record<string, string>>) : null;

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

/** A list whose order is irrelevant, as texts in a canonical order: a slice has up to a thousand endpoints. */
const sorted = (list: readonly unknown[]): readonly string[] => list.map((item) => JSON.stringify(item)).sort();

/** Labels of federated and derived Services, without which they are not ours. */
const PROOFS = [Label.mirroredService, Label.serviceImport];

/**
 * Reports whether Endpoints are what Kubernetes made of a Service of ours while it had a selector: they have its
 * labels.
 */
export const isCopy = (endpoints: KubeObject, { metadata }: KubeObject): boolean =>
  PROOFS.some((label) => {
    const value = metadata.labels?.[label];
    return value !== undefined && value === endpoints.metadata.labels?.[label];
  });

/**
 * The kinds that ServiceFailovers are derived from, beside Services: how a store keeps the objects of each kind, and
 * how related objects are found in it. None of the CRDs need be installed. The objects are watched (watched.ts), or
 * listed once for a forecast.
 */
import type { RouteKind } from '../../constructs/rendered/index.ts';
import { FAILOVER_KINDS } from '../../crds/derived-kinds.ts';
import { readFailover, type FailoverSettings } from '../../crds/failover/settings.ts';
import { derivedName } from '../../crds/mcs/derived-name.ts';
import type { Checked } from '../../crds/field-error.ts';
import { Label } from '../../crds/wire.ts';
import type { EndpointSlice, KubeObject, Resource } from '../kube/objects.ts';
import type { ReadKind } from '../runtime/optional-kind.ts';
import type { StoreOptions } from '../runtime/store.ts';
import type { Route } from './observed.ts';
import { type FamilyCounts, countSlice } from './readiness.ts';
import { failoverOf, parentsOf, ROUTE_KINDS } from './routes.ts';

export const SERVICE_FAILOVERS: Resource = FAILOVER_KINDS.failovers;
export const SERVICE_PROFILES: Resource = FAILOVER_KINDS.profiles;
/** Linkerd's own HTTPRoutes, which Linkerd accepts beside those of the Gateway API. */
export const POLICY_ROUTES: Resource = FAILOVER_KINDS.policyRoutes;

/** A ServiceFailover, with its spec as it was read. */
export interface FailoverObject extends KubeObject {
  readonly spec?: unknown;
  /** Foreign data. */
  readonly status?: unknown;
  readonly read: Checked<FailoverSettings>;
}

/** A slice, reduced to the counts of its endpoints, because there may be thousands of slices. */
export interface CountedSlice extends KubeObject {
  readonly counts: FamilyCounts;
}

export interface FailoverKinds {
  readonly failovers: ReadKind<FailoverObject>;
  readonly routes: Readonly<Record<RouteKind, ReadKind<Route>>>;
  /** Linkerd's own HTTPRoutes. None of them is ours, but they may keep our routes from having effect. */
  readonly policyRoutes: ReadKind<Route>;
  readonly profiles: ReadKind<KubeObject>;
  readonly slices: ReadKind<CountedSlice>;
}

/** How a store keeps the objects of each kind. */
export const KEPT = {
  failovers: { trim: trimFailover, indexes: { service: servicesOf } },
  routes: (kind: RouteKind): StoreOptions<Route> => ({
    trim: (object) => trimRoute(object, kind),
    indexes: { failover: ownersOf, parent: parentKeysOf },
  }),
  policyRoutes: { trim: (object: Route) => trimRoute(object, 'HTTPRoute'), indexes: { parent: parentKeysOf } },
  profiles: { trim: trimProfile, indexes: { service: profiledOf } },
  slices: { trim: trimSlice, indexes: { service: sliceOwners } },
} as const;

/** Returns the routes that are ours for one ServiceFailover. */
export const routesFor = ({ routes }: Pick<FailoverKinds, 'routes'>, failover: string): readonly Route[] =>
  ROUTE_KINDS.flatMap((kind) => routes[kind].store.by('failover', failover));

/** Returns the routes whose parent is a Service, without those that are ours for one ServiceFailover. */
export function othersFor(
  { routes, policyRoutes }: Pick<FailoverKinds, 'routes' | 'policyRoutes'>,
  service: string,
  failover: string,
): readonly Route[] {
  const others = ROUTE_KINDS.flatMap((kind) => routes[kind].store.by('parent', service)).filter(
    (each) => !ownersOf(each).includes(failover),
  );
  return [...others, ...policyRoutes.store.by('parent', service)];
}

/** Returns the Services that a ServiceFailover names, by key. */
function servicesOf({ read }: FailoverObject): readonly string[] {
  if (!read.ok) return [];
  const { namespace, service, backends } = read.value;
  return [...new Set([service, ...backends.map((each) => each.service)])].map((name) => `${namespace}/${name}`);
}

/** Returns the ServiceFailover that a route is made for, by key. */
export function ownersOf(object: Route): readonly string[] {
  const failover = failoverOf(object);
  return failover === undefined ? [] : [`${object.metadata.namespace}/${failover}`];
}

/** Returns the Services that are parents of a route, by key. */
export function parentKeysOf(object: Route): readonly string[] {
  return [...new Set(parentsOf(object).map(({ name }) => `${object.metadata.namespace}/${name}`))];
}

/**
 * Returns the Service that a ServiceProfile is named after, by key. The name is `<service>.<namespace>.svc.<domain>`.
 */
export function profiledOf({ metadata: { name, namespace } }: KubeObject): readonly string[] {
  const [service, within, svc] = name.split('.');
  return svc === 'svc' && within === namespace ? [`${within}/${service}`] : [];
}

/**
 * Returns the Service of a slice, by key. The slices of a ServiceImport on a flat network do not name the derived
 * Service (rule K4), but count as slices of the derived Service.
 */
export function sliceOwners({ metadata: { namespace, labels = {} } }: KubeObject): readonly string[] {
  const { [Label.serviceImport]: imported } = labels;
  const service = labels[Label.serviceName] ?? (imported && derivedName(imported));
  return service === undefined ? [] : [`${namespace}/${service}`];
}

function trimProfile({ metadata: { name, namespace, uid, resourceVersion } }: KubeObject): KubeObject {
  return { metadata: { name, namespace, uid, resourceVersion } } as KubeObject;
}

function trimFailover(object: FailoverObject): FailoverObject {
  const { name, namespace, uid, resourceVersion, generation } = object.metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion, generation },
    status: object.status,
    read: readFailover(object),
  } as FailoverObject;
}

/**
 * Keeps the fields of a route that are read. Of a route that is not ours, only the parents and some metadata are read.
 */
function trimRoute(object: Route, kind: RouteKind): Route {
  const { name, namespace, uid, resourceVersion, creationTimestamp, labels, annotations } = object.metadata;
  const isOurs = failoverOf(object) !== undefined;
  return {
    kind,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp, ...(isOurs && { labels, annotations }) },
    spec: isOurs ? object.spec : { parentRefs: object.spec?.parentRefs },
  } as Route;
}

function trimSlice(object: KubeObject): CountedSlice | undefined {
  const { name, namespace, uid, resourceVersion, labels } = object.metadata;
  if (sliceOwners(object).length === 0) return undefined;
  const { [Label.serviceName]: service, [Label.serviceImport]: imported } = labels ?? {};
  const kept = service === undefined ? { [Label.serviceImport]: imported } : { [Label.serviceName]: service };
  return {
    metadata: { name, namespace, uid, resourceVersion, labels: kept },
    counts: countSlice(object as EndpointSlice),
  } as CountedSlice;
}

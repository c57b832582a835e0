/**
 * The routes of one ServiceFailover: which ports have a route, of which kind, which ServiceFailover a route belongs to,
 * and which other routes keep it from having effect. Pure.
 */
import { type ApiJson, renderOf, type RouteKind, ServiceRoute } from '../../constructs/rendered/index.ts';
import { FAILOVER_KINDS } from '../../crds/derived-kinds.ts';
import { Label, RouteApi } from '../../crds/wire.ts';
import type { KubeObject, Resource, Service } from '../kube/objects.ts';
import { isOpaque } from '../source/opaque-ports.ts';
import type { ObservedFailover, Route } from './observed.ts';

/** The kinds of routes, in the order in which Linkerd prefers them on one parent. */
export const ROUTES: Readonly<Record<RouteKind, Resource>> = {
  GRPCRoute: FAILOVER_KINDS.GRPCRoute,
  HTTPRoute: FAILOVER_KINDS.HTTPRoute,
  TCPRoute: FAILOVER_KINDS.TCPRoute,
};

export const ROUTE_KINDS = Object.keys(ROUTES) as readonly RouteKind[];

/** Name of the route of one port. */
export const routeNameOf = (failover: string, port: number): string => `${failover}-${port}`;

/** Returns the ServiceFailover that a route is made for, in its namespace; undefined if the route is not ours. */
export function failoverOf({ metadata: { name, labels } }: KubeObject): string | undefined {
  const failover = labels?.[Label.serviceFailover];
  if (failover === undefined || !name.startsWith(`${failover}-`)) return undefined;
  return /^[1-9][0-9]{0,4}$/.test(name.slice(failover.length + 1)) ? failover : undefined;
}

/**
 * Returns the parents of a route that are Services in its own namespace. A parent without `port` stands for all ports
 * of the Service.
 */
export const parentsOf = ({ metadata, spec }: Route): readonly { readonly name: string; readonly port?: number }[] =>
  asArray(spec?.parentRefs).flatMap(({ group, kind, namespace = metadata.namespace, name, port }) => {
    const isService = kind === 'Service' && (group === '' || group === RouteApi.coreGroup);
    if (!isService || namespace !== metadata.namespace || typeof name !== 'string') return [];
    return [{ name, ...(typeof port === 'number' && { port }) }];
  });

/** Returns the weights of a route, by backend; undefined if it has no backend. */
export function weightsIn({ spec }: Route): ReadonlyMap<string, number> | undefined {
  const refs = asArray(spec?.rules).flatMap((rule) => asArray(rule.backendRefs));
  if (refs.length === 0) return undefined;
  return new Map(
    refs.flatMap(({ name, weight }) =>
      typeof name === 'string' ? [[name, typeof weight === 'number' ? weight : 1] as const] : [],
    ),
  );
}

/** Returns the TCP ports of a Service, each with the kind of its route. */
export function routedPorts(
  apex: Service,
  wanted: RouteKind | undefined,
): readonly { readonly port: number; readonly kind: RouteKind }[] {
  return (apex.spec?.ports ?? [])
    .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
    .map((port) => ({ port: port.port, kind: wanted ?? (isOpaque(apex, port) ? 'TCPRoute' : 'HTTPRoute') }));
}

/** Reports whether a Service has a TCP port of this number. */
export const hasPort = (service: Service, port: number): boolean =>
  (service.spec?.ports ?? []).some((each) => each.port === port && (each.protocol ?? 'TCP') === 'TCP');

/**
 * Returns a route that keeps our route for a port from having effect; undefined if there is none. Such a route belongs
 * to somebody else or to another ServiceFailover, and is older or of a kind that Linkerd prefers. If our route does not
 * exist yet, every other route counts as older.
 */
export function conflictOf(
  { settings, others }: Pick<ObservedFailover, 'settings' | 'others'>,
  port: number,
  kind: RouteKind,
  own: Route | undefined,
): Route | undefined {
  const rank = (of: RouteKind): number => ROUTE_KINDS.indexOf(of);
  return others.find((other) => {
    const isForPort = parentsOf(other).some(
      (parent) => parent.name === settings.service && (parent.port === undefined || parent.port === port),
    );
    if (!isForPort || rank(other.kind) > rank(kind)) return false;
    return rank(other.kind) < rank(kind) || own === undefined || isOlder(other, own);
  });
}

/** Reports whether a route comes before another in Linkerd's order: by creation time, then by name. */
const isOlder = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean => {
  const [createdA = '', createdB = ''] = [a.creationTimestamp, b.creationTimestamp];
  return createdA === createdB ? a.name < b.name : createdA < createdB;
};

/** Renders the route of one port. */
export function renderRoute(
  { settings }: Pick<ObservedFailover, 'settings'>,
  port: number,
  kind: RouteKind,
  backends: readonly { readonly service: string; readonly weight: number }[],
): ApiJson {
  const { name, namespace, service } = settings;
  const [rendered] = renderOf(ServiceRoute, {
    name: routeNameOf(name, port),
    namespace,
    service,
    port,
    kind,
    labels: { [Label.serviceFailover]: name },
    backends,
  });
  if (rendered === undefined) throw new TypeError('a route must be rendered');
  return rendered;
}

/** Returns the objects of a value that should be a list of objects, but may be anything. */
const asArray = <T>(value: readonly T[] | null | undefined): readonly T[] =>
  Array.isArray(value)
    ? (value as readonly T[]).filter((each: unknown) => typeof each === 'object' && each !== null)
    : [];

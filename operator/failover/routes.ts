/**
 * The routes of one ServiceFailover: which ports have one, of which kind, whose they are, and what is in their way.
 * Pure.
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

/** Returns the Services of its own namespace that a route has as parents: all their ports, or one. */
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

/** Returns the ports of the Service that routes can be for, each with the kind of its route. */
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
 * Returns the route of somebody else, or for another ServiceFailover, that keeps ours for a port from having effect:
 * one that is older, or of a kind that Linkerd prefers. A route that is not there yet is younger than any other.
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

/** By creation, then by name, as Linkerd orders routes. */
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

/** What should be a list of objects, and may be anything. */
const asArray = <T>(value: readonly T[] | null | undefined): readonly T[] =>
  Array.isArray(value)
    ? (value as readonly T[]).filter((each: unknown) => typeof each === 'object' && each !== null)
    : [];

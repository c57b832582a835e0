/** What users do with ServiceFailovers and routes: their own, and those that are not theirs to change. */
import { failoverCrd } from '../../crds/index.ts';
import { FailoverApi, RouteApi } from '../../crds/wire.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { Content, HistoryCluster } from './cluster.ts';
import type { Command, OfSource, RouteKind } from './command.ts';
import { at } from './hostile.ts';
import { policyRouteCrd, POLICY_ROUTE, routeCrds } from './route-crds.ts';

type Of<T extends Command['do']> = Omit<Extract<Command, { do: T }>, 'do'>;

/** What a source cluster needs to have ServiceFailovers. */
export const failoverCrds: readonly object[] = [failoverCrd, ...routeCrds, policyRouteCrd];

export const FAILOVER = { apiVersion: FailoverApi.apiVersion, kind: FailoverApi.kind } as const;
const OWNER = 'linkspan.dev/service-failover';

/** The kinds of routes that are ever ours. */
export const OUR_ROUTES = [
  [RouteApi.HTTPRoute, 'HTTPRoute'],
  [RouteApi.GRPCRoute, 'GRPCRoute'],
  [RouteApi.TCPRoute, 'TCPRoute'],
] as const;

export interface BackendRef {
  readonly name: string;
  readonly namespace?: string;
  readonly port?: number;
  readonly weight?: number;
}

interface RouteSpec {
  readonly parentRefs?: readonly object[];
  readonly rules?: readonly { readonly backendRefs?: readonly BackendRef[] }[];
}

export const failoversIn = (east: Pick<Content, 'list'>): readonly KubeObject[] =>
  east.list(FAILOVER.apiVersion, FAILOVER.kind);

export const backendsOf = (route: KubeObject): readonly BackendRef[] =>
  ((route.spec ?? {}) as RouteSpec).rules?.flatMap(({ backendRefs = [] }) => backendRefs) ?? [];

/** The ServiceFailover that a route is made for: it is labelled with it, and called after it and a port (J1). */
export function failoverOf({ metadata: { name, labels = {} } }: KubeObject): string | undefined {
  const failover = labels[OWNER];
  return failover !== undefined && name.replace(/-[1-9][0-9]{0,4}$/, '') === failover && name !== failover
    ? failover
    : undefined;
}

/** All routes that Linkerd looks at. */
export const routesIn = (east: Pick<Content, 'list'>): readonly KubeObject[] =>
  [...OUR_ROUTES, [POLICY_ROUTE, 'HTTPRoute'] as const].flatMap(([apiVersion, kind]) => east.list(apiVersion, kind));

/** Those that are ours. */
export const ourRoutesIn = (east: Pick<Content, 'list'>): readonly KubeObject[] =>
  routesIn(east).filter((route) => route['apiVersion'] !== POLICY_ROUTE && failoverOf(route) !== undefined);

const isLive = (east: HistoryCluster, namespace: string): boolean => {
  const home = east.get('v1', 'Namespace', undefined, namespace);
  return home !== undefined && home.metadata.deletionTimestamp === undefined;
};

export function putFailover(east: HistoryCluster, { namespace, name, spec, raw = false }: Of<'put failover'>): void {
  if (!isLive(east, namespace)) return;
  const there = east.get(FAILOVER.apiVersion, FAILOVER.kind, namespace, name);
  const isOdd = there !== undefined && !isValid(there);
  // Nobody can say of an object that the CRD refuses anything but all of it.
  if (isOdd && !raw) east.remove(FAILOVER.apiVersion, FAILOVER.kind, namespace, name);
  if (!isOdd || !raw) east.put({ ...FAILOVER, metadata: { namespace, name }, spec: raw ? PLAIN : spec });
  const stored = east.get(FAILOVER.apiVersion, FAILOVER.kind, namespace, name);
  if (!raw || stored === undefined) return;
  const generation = (stored.metadata.generation ?? 0) + 1;
  east.putRaw({ ...stored, metadata: { ...stored.metadata, generation }, spec });
}

const PLAIN = { service: 'web', backends: [{ service: 'web' }] };

export const removeFailover = (east: HistoryCluster, { namespace, name }: OfSource): void =>
  east.remove(FAILOVER.apiVersion, FAILOVER.kind, namespace, name);

interface Spec {
  readonly backends: readonly { readonly service: string; readonly weight?: number }[];
}

/** Whether the rules let a ServiceFailover say what it says: each Service once, and a weight on all or on none (J1). */
export function isValid({ spec }: KubeObject): boolean {
  const { backends } = spec as Spec;
  const weighed = backends.filter(({ weight }) => weight !== undefined).length;
  return (
    new Set(backends.map(({ service }) => service)).size === backends.length && [0, backends.length].includes(weighed)
  );
}

/** What others may write as the status of a ServiceFailover. */
const STATUSES: readonly object[] = [
  {},
  { active: 'ghost', conditions: [] },
  { operator: 'gone' },
  { operator: 'shop' },
  {
    active: 'web',
    backends: [{ service: 'web', ready: false, lastTransitionTime: '2020-01-01T00:00:00Z', weight: 7 }],
  },
];
export const HOSTILE_STATUSES = STATUSES.length;
/** The first of them say nothing of another operator, nor since when what is ready. */
export const HARMLESS_STATUSES = 2;

export function writeStatusOf(east: HistoryCluster, { namespace, name, index }: Of<'write failover status'>): void {
  const there = east.get(FAILOVER.apiVersion, FAILOVER.kind, namespace, name);
  if (there === undefined) return;
  const { operator } = (there['status'] ?? {}) as { readonly operator?: string };
  east.putRaw({
    ...there,
    metadata: { ...there.metadata },
    status: { ...(operator !== undefined && { operator }), ...at(STATUSES, index) },
  });
}

/** Whoever says that an operator serves a ServiceFailover which is none takes that back. */
export function mendStatuses(east: HistoryCluster): void {
  for (const there of failoversIn(east)) {
    const { operator, ...status } = (there['status'] ?? {}) as { readonly operator?: string };
    if (operator === 'shop') east.putRaw({ ...there, metadata: { ...there.metadata }, status });
  }
}

const kindOf = (kind: RouteKind) =>
  kind === 'policy'
    ? ({ apiVersion: POLICY_ROUTE, kind: 'HTTPRoute' } as const)
    : ({ apiVersion: RouteApi[kind], kind } as const);

export function putRoute(east: HistoryCluster, { namespace, name, kind, parent }: Of<'put route'>): void {
  const of = kindOf(kind);
  const there = east.get(of.apiVersion, of.kind, namespace, name);
  if (!isLive(east, namespace) || there !== undefined) return;
  east.put({
    ...of,
    metadata: { namespace, name },
    spec: {
      parentRefs: [{ group: 'core', kind: 'Service', namespace, name: parent }],
      rules: [{ backendRefs: [{ name: parent, port: 80 }] }],
    },
  });
}

/** Only those of others: ours are edited. */
export function removeRoute(east: HistoryCluster, { namespace, name, kind }: Of<'remove route'>): void {
  const of = kindOf(kind);
  const there = east.get(of.apiVersion, of.kind, namespace, name);
  if (there !== undefined && (kind === 'policy' || failoverOf(there) === undefined))
    east.remove(of.apiVersion, of.kind, namespace, name);
}

export function editRoute(east: HistoryCluster, { index, how }: Of<'edit route'>): void {
  const ours = ourRoutesIn(east);
  const route = ours[index % Math.max(1, ours.length)];
  if (route === undefined) return;
  const { namespace, name, labels = {} } = route.metadata;
  const spec = route.spec as RouteSpec;
  const refs = backendsOf(route);
  const put = (change: object): void => east.put({ ...route, ...change });
  const putRefs = (backendRefs: readonly BackendRef[]): void => put({ spec: { ...spec, rules: [{ backendRefs }] } });
  switch (how) {
    case 'delete':
      east.remove(route['apiVersion'], route['kind'], namespace, name);
      break;
    case 'weights':
      putRefs(refs.map((ref, position) => ({ ...ref, weight: position + 2 })));
      break;
    case 'no weights':
      putRefs(refs.map((ref) => ({ ...ref, weight: 0 })));
      break;
    case 'backend':
      putRefs([...refs, { name: 'ghost', port: 80, weight: 5 }]);
      break;
    case 'parent':
      put({ spec: { ...spec, parentRefs: [{ group: 'core', kind: 'Service', name: 'foo', port: 80 }] } });
      break;
    case 'disown': {
      const { [OWNER]: _, ...others } = labels;
      put({ metadata: { ...route.metadata, labels: others } });
    }
  }
}

/**
 * What routes and statuses of ServiceFailovers must be once all is quiet: rules J1 to J4 of docs/behaviour.md and
 * docs/failover.md restated, without any code of the operator. Where the past decides, whatever it may have left is right.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import { backendsOf, failoverOf, isValid } from '../failover-users.ts';
import { POLICY_ROUTE } from '../route-crds.ts';
import {
  type Backend,
  type Counts,
  isEnough,
  isOpaque,
  specOf,
  type Status,
  statusOf,
  tcpPortsOf,
} from './failover-fields.ts';

/** What there is. */
export interface View {
  service(namespace: string, name: string): KubeObject | undefined;
  /** Of a Service, as the operator that serves the ServiceFailover knows them; undefined: it cannot know. */
  countsOf(service: KubeObject): Counts | undefined;
  /** Whether a Service may have to prove itself before requests go back to it (J2). */
  mayBeHeld(failover: KubeObject, service: string): boolean;
  /** Those that Linkerd looks at, whoever has made them. */
  readonly routes: readonly KubeObject[];
}

type Kind = 'GRPCRoute' | 'HTTPRoute' | 'TCPRoute';

/** In the order in which Linkerd prefers them. */
const PREFERENCE: readonly Kind[] = ['GRPCRoute', 'HTTPRoute', 'TCPRoute'];

const rankOf = (route: KubeObject): number => PREFERENCE.indexOf(route['kind'] as Kind);

/** Whether a Service can be the parent of routes. */
function canBeParent({ spec }: KubeObject): boolean {
  const { type, clusterIP } = spec as { readonly type?: string; readonly clusterIP?: string };
  return type !== 'ExternalName' && clusterIP !== 'None';
}

/** Each backend, and whether it is ready. */
interface Judged {
  readonly backend: Backend;
  readonly live: KubeObject | undefined;
  readonly counts: Counts | undefined;
  readonly isReady: boolean;
}

/** One port of the Service, and the routes that are called after it. */
interface Port {
  readonly port: number;
  readonly kind: Kind;
  readonly candidates: readonly Judged[];
  readonly own: KubeObject | undefined;
  /** Ours of other kinds. */
  readonly others: readonly KubeObject[];
  readonly isBlocked: boolean;
  /** Whether a route of somebody else has the name. */
  readonly isTaken: boolean;
}

/** @returns what is wrong with a ServiceFailover, with its routes, and with its status */
export function failoverProblems(failover: KubeObject, view: View): readonly string[] {
  const { namespace = '', name, generation } = failover.metadata;
  const problems: string[] = [];
  const wrong = (what: string): void => void problems.push(`ServiceFailover ${namespace}/${name}: ${what}`);
  const status = statusOf(failover);
  const { conditions = [] } = status;
  const expectCondition = (type: string, is: 'True' | 'False', reason: string): void => {
    const have = conditions.find((each) => each.type === type);
    if (have?.status !== is || have.reason !== reason)
      wrong(`condition ${type} is ${have?.status} ${have?.reason}, not ${is} ${reason}`);
  };
  if (status.observedGeneration !== generation) wrong(`its status is that of generation ${status.observedGeneration}`);
  if (!isValid(failover)) {
    expectCondition('Accepted', 'False', 'Invalid');
    expectCondition('Ready', 'False', 'Invalid');
    return problems;
  }
  const spec = specOf(failover);
  const backends = spec.backends.map((backend): Judged => {
    const live = view.service(namespace, backend.service);
    const counts = live && view.countsOf(live);
    const before = status.backends?.find(({ service }) => service === backend.service)?.ready ?? false;
    return { backend, live, counts, isReady: live !== undefined && (counts ? isEnough(counts, backend) : before) };
  });
  const apex = view.service(namespace, spec.service);
  const ports = apex === undefined || !canBeParent(apex) ? [] : portsOf(failover, apex, backends, view);
  for (const port of ports) for (const problem of portProblems(failover, port, view)) wrong(problem);
  for (const { metadata, kind } of ownRoutes(failover, view)) {
    const of = ports.find(({ port }) => metadata.name === `${name}-${port}`);
    const stays = apex === undefined || (of !== undefined && (of.candidates.length === 0 || of.kind === kind));
    if (!stays && !(of?.isBlocked === true || of?.isTaken === true))
      wrong(`${kind} ${metadata.name} should not be there`);
  }
  const verdicts = [
    ['Accepted', true, 'Accepted'],
    ['RoutesApplied', ...routesVerdict(apex, ports)],
    ['BackendsFound', ...foundVerdict(backends, ports)],
    backends.some(({ isReady }) => isReady)
      ? ['BackendReady', true, 'BackendReady']
      : ['BackendReady', false, 'NoBackendReady'],
  ] as readonly (readonly [string, boolean, string])[];
  for (const [type, isTrue, reason] of verdicts) expectCondition(type, isTrue ? 'True' : 'False', reason);
  const [, isReady, reason] = verdicts.find(([, isTrue]) => !isTrue) ?? ['', true, 'Ready'];
  expectCondition('Ready', isReady ? 'True' : 'False', reason);
  // The status follows the route within a second or two.
  const isMoving = backends.some(({ backend, isReady }) => isReady && view.mayBeHeld(failover, backend.service));
  for (const problem of statusProblems(status, backends, isMoving ? [] : ports)) wrong(problem);
  return problems;
}

function portsOf(failover: KubeObject, apex: KubeObject, backends: readonly Judged[], view: View): readonly Port[] {
  const { namespace, name } = failover.metadata;
  return tcpPortsOf(apex).map((port) => {
    const kind = specOf(failover).routeKind ?? (isOpaque(apex, port) ? 'TCPRoute' : 'HTTPRoute');
    const named = view.routes.find(
      (route) =>
        route['kind'] === kind &&
        route['apiVersion'] !== POLICY_ROUTE &&
        route.metadata.namespace === namespace &&
        route.metadata.name === `${name}-${port}`,
    );
    const isOwn = named !== undefined && failoverOf(named) === name;
    const own = isOwn ? named : undefined;
    const others = ownRoutes(failover, view).filter(
      (route) => route['kind'] !== kind && route.metadata.name === `${name}-${port}`,
    );
    return {
      ...{ port, kind, own, isTaken: named !== undefined && !isOwn },
      others: others.toSorted((a, b) => rankOf(a) - rankOf(b)),
      candidates: backends.filter(({ live }) => tcpPortsOf(live).includes(port)),
      isBlocked: view.routes.some((route) => isPreferred(route, { failover, port, kind, own })),
    };
  });
}

/** Whether Linkerd prefers the route of somebody else, or of another ServiceFailover, to ours, or would (J4). */
function isPreferred(
  route: KubeObject,
  {
    failover,
    port,
    kind,
    own,
  }: {
    readonly failover: KubeObject;
    readonly port: number;
    readonly kind: Kind;
    readonly own: KubeObject | undefined;
  },
): boolean {
  const { namespace, name } = failover.metadata;
  if (route.metadata.namespace !== namespace) return false;
  if (route['apiVersion'] !== POLICY_ROUTE && failoverOf(route) === name) return false;
  const { parentRefs = [] } = route.spec as {
    readonly parentRefs?: readonly { readonly name: string; readonly port?: number }[];
  };
  if (!parentRefs.some((parent) => parent.name === specOf(failover).service && (parent.port ?? port) === port))
    return false;
  const [theirs, ours] = [rankOf(route), PREFERENCE.indexOf(kind)];
  if (theirs !== ours) return theirs < ours;
  if (own === undefined) return true;
  const age = ({ metadata }: KubeObject): string => `${metadata.creationTimestamp} ${metadata.name}`;
  return age(route) < age(own);
}

/** What is wrong with the routes of one port. */
function portProblems(failover: KubeObject, port: Port, view: View): readonly string[] {
  const { kind, candidates, own, others, isBlocked, isTaken } = port;
  if (candidates.length === 0) return [];
  if (own !== undefined) return routeProblems(failover, port, own, view);
  // Beside a route that Linkerd prefers none is made, and one that is there goes on, be it of another kind.
  const missing = isBlocked || isTaken ? [] : [`${kind} ${failover.metadata.name}-${port.port} is missing`];
  return [...missing, ...others.flatMap((route) => routeProblems(failover, port, route, view))];
}

/** What is wrong with one route of a port. */
function routeProblems(failover: KubeObject, { port, candidates }: Port, own: KubeObject, view: View): string[] {
  const { namespace } = failover.metadata;
  const what = `${own['kind']} ${own.metadata.name}`;
  const parentRefs = [{ group: 'core', kind: 'Service', namespace, name: specOf(failover).service, port }];
  const problems: string[] = [];
  if (!isDeepStrictEqual((own.spec as { readonly parentRefs?: unknown }).parentRefs, parentRefs))
    problems.push(
      `${what} has the parents ${JSON.stringify((own.spec as { readonly parentRefs?: unknown }).parentRefs)}`,
    );
  const refs = backendsOf(own);
  const listed = candidates.map(({ backend }) => ({ name: backend.service, namespace, port }));
  if (
    !isDeepStrictEqual(
      refs.map(({ weight: _, ...ref }) => sorted(ref)),
      listed.map(sorted),
    )
  )
    problems.push(`${what} leads to ${JSON.stringify(refs)}, not to ${listed.map((each) => each.name).join(', ')}`);
  else if (
    !areRight(
      failover,
      candidates,
      refs.map(({ weight = 1 }) => weight),
      view,
    )
  ) {
    const ready = candidates.filter(({ isReady }) => isReady).map(({ backend }) => backend.service);
    problems.push(
      `${what} has ${refs.map((each) => `${each.name} ${each.weight}`).join(', ')}; ready: ${ready.join(', ')}`,
    );
  }
  return problems;
}

const sorted = (object: object): readonly (readonly [string, unknown])[] =>
  Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));

/** Whether a route may have these weights (J2). */
function areRight(
  failover: KubeObject,
  candidates: readonly Judged[],
  weights: readonly number[],
  view: View,
): boolean {
  if (weights.every((weight) => weight === 0)) return false;
  const ready = candidates.filter(({ isReady }) => isReady);
  // Nothing changes: whatever was.
  if (ready.length === 0) return true;
  const isHeld = ({ backend }: Judged): boolean => view.mayBeHeld(failover, backend.service);
  if (candidates[0]?.backend.weight !== undefined) {
    return candidates.every((each, at) => {
      const weight = each.backend.weight ?? 1;
      if (!each.isReady) return weights[at] === 0;
      return weights[at] === weight || (isHeld(each) && weights[at] === 0);
    });
  }
  const first = ready.findIndex((each) => !isHeld(each));
  const allowed = first < 0 ? ready : ready.slice(0, first + 1);
  return allowed.some((chosen) => candidates.every((each, at) => weights[at] === (each === chosen ? 1 : 0)));
}

const ownRoutes = ({ metadata }: KubeObject, { routes }: View): readonly KubeObject[] =>
  routes.filter(
    (route) =>
      route['apiVersion'] !== POLICY_ROUTE &&
      route.metadata.namespace === metadata.namespace &&
      failoverOf(route) === metadata.name,
  );

function routesVerdict(apex: KubeObject | undefined, ports: readonly Port[]): readonly [boolean, string] {
  if (apex === undefined) return [false, 'ServiceNotFound'];
  if (!canBeParent(apex)) return [false, 'ServiceHasNoClusterIP'];
  if (ports.length === 0) return [false, 'NoPorts'];
  if (ports.some((port) => port.isTaken && isTried(port))) return [false, 'NameConflict'];
  return ports.some(({ isBlocked }) => isBlocked) ? [false, 'RouteConflict'] : [true, 'Applied'];
}

/** Whether a route is to be there. */
const isTried = ({ candidates, own, isBlocked }: Port): boolean =>
  candidates.length > 0 && (own !== undefined || !isBlocked);

function foundVerdict(backends: readonly Judged[], ports: readonly Port[]): readonly [boolean, string] {
  if (backends.some(({ live }) => live === undefined)) return [false, 'BackendNotFound'];
  const isLacking = ports.some(({ candidates }) => candidates.length < backends.length);
  return isLacking ? [false, 'PortMismatch'] : [true, 'Found'];
}

/** What the status says of backends: as they are, and where requests go. */
function statusProblems(status: Status, backends: readonly Judged[], ports: readonly Port[]): readonly string[] {
  const { backends: have = [], active } = status;
  const names = have.map(({ service }) => service);
  const wanted = backends.map(({ backend }) => backend.service);
  if (!isDeepStrictEqual(names, wanted)) return [`its status has the backends ${names.join(', ')}`];
  return backends.flatMap(({ backend: { service }, counts, isReady }, at) => {
    const { ready, weight, readyEndpoints, endpoints } = have[at]!;
    const problems: string[] = [];
    if (ready !== isReady) problems.push(`its status says that ${service} is ${ready ? '' : 'not '}ready`);
    if (counts !== undefined && (readyEndpoints !== counts.ready || endpoints !== counts.total))
      problems.push(`its status says of ${service} ${readyEndpoints} of ${endpoints}, not ${JSON.stringify(counts)}`);
    const first = ports.find(
      (port) =>
        (isTried(port) || port.others.length > 0) && port.candidates.some((each) => each.backend.service === service),
    );
    const route = first?.own ?? first?.others[0];
    const routed = route && backendsOf(route).find(({ name }) => name === service)?.weight;
    if (routed !== undefined && routed !== weight)
      problems.push(`its status gives ${service} ${weight}, its route ${routed}`);
    const isActive = (active ?? '').split(',').includes(service);
    if (isActive !== (weight ?? 0) > 0) problems.push(`its status says that requests go to ${active}`);
    return problems;
  });
}

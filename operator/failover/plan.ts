/**
 * Decides about one ServiceFailover: from the observed value to its routes, and to the findings for its status. Pure.
 */
import type { RouteKind } from '../../constructs/rendered/index.ts';
import { keyOf, type Service } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { type Candidate, type Readiness, readinessOf, sharesOf } from './decide.ts';
import type { ObservedFailover, Route } from './observed.ts';
import { conflictOf, failoverOf, hasPort, renderRoute, routedPorts, routeNameOf, ROUTES, weightsIn } from './routes.ts';

/** Something that keeps a ServiceFailover from working, or from working in full. */
export interface Finding {
  readonly reason: string;
  readonly message: string;
}

export interface Decision {
  /** The routes that must exist. */
  readonly routes: readonly Desired[];
  /** Our routes that stay although they are not among `routes`. */
  readonly kept: readonly Route[];
  /** Whether some routes are to go later, once the routes that replace them exist. */
  readonly isPartial: boolean;
  /** Readiness of each backend, in the order of the settings. */
  readonly readiness: readonly Readiness[];
  /** The weight of each backend in the first route that has this backend, in the order of the settings. */
  readonly weights: readonly (number | undefined)[];
  /** Problem of the backends; undefined if there is none. */
  readonly ofBackends: Finding | undefined;
  /** Problem that keeps routes from existing or from having effect; undefined if there is none. */
  readonly ofRoutes: Finding | undefined;
  /** Time until the next hold-down ends, in milliseconds; undefined if there is none. */
  readonly requeueAfterMs: number | undefined;
}

/** Decides about one ServiceFailover. */
export function decideFailover(observed: ObservedFailover, nowMs: number): Decision {
  const { settings, apex, backends, owned, before } = observed;
  const current = owned.map(weightsIn);
  const readiness = settings.backends.map(({ service, minReady }, at) => {
    const { live, endpoints } = backends[at] ?? { live: undefined, endpoints: undefined };
    const isActive = current.some((weights) => (weights?.get(service) ?? 0) > 0);
    return readinessOf({ exists: live !== undefined, endpoints, isActive }, minReady, before.get(service), nowMs);
  });
  const all = settings.backends.flatMap(({ service, weight }, at) => {
    const live = backends[at]?.live;
    const state = readiness[at];
    return live === undefined || state === undefined ? [] : [{ candidate: { service, weight, ...state }, live }];
  });
  const ports = apex === undefined || !canBeParent(apex) ? [] : routedPorts(apex, settings.routeKind);
  const plans = ports.map(({ port, kind }) => {
    const candidates = all.filter(({ live }) => hasPort(live, port)).map(({ candidate }) => candidate);
    return planPort(observed, port, kind, candidates, nowMs);
  });
  const weights = settings.backends.map(({ service }) =>
    plans.map((each) => each.weights?.get(service)).find((weight) => weight !== undefined),
  );
  const due = plans.flatMap(({ dueMs }) => (dueMs === undefined ? [] : [dueMs]));
  return {
    routes: plans.flatMap(({ desired }) => desired),
    kept: owned.filter((each) => isKept(observed, each, plans)),
    isPartial: plans.some(({ isReplacing }) => isReplacing),
    readiness,
    weights,
    ofBackends: backendFinding(observed, ports),
    ofRoutes: routeFinding(observed, ports, plans),
    requeueAfterMs: due.length === 0 ? undefined : Math.max(1, Math.min(...due) - nowMs),
  };
}

interface PortPlan {
  readonly port: number;
  readonly kind: RouteKind;
  /** The route of this kind if it is possible, and routes of other kinds until the route of this kind exists. */
  readonly desired: readonly Desired[];
  /** Whether the route of this kind exists and may be written, so that routes of other kinds go. */
  readonly isReplaced: boolean;
  /** Whether the route of this kind is to be created in place of routes of other kinds. */
  readonly isReplacing: boolean;
  /** Weights of the first route in `desired`, by Service. */
  readonly weights: ReadonlyMap<string, number> | undefined;
  readonly dueMs: number | undefined;
  readonly conflict: Route | undefined;
}

function planPort(
  observed: ObservedFailover,
  port: number,
  kind: RouteKind,
  candidates: readonly Candidate[],
  nowMs: number,
): PortPlan {
  const { settings, owned, kinds } = observed;
  const name = routeNameOf(settings.name, port);
  const ofPort = owned.filter(({ metadata }) => metadata.name === name);
  const own = ofPort.find((each) => each.kind === kind);
  const conflict = conflictOf(observed, port, kind, own);
  const isPossible =
    kinds[kind] === 'readable' && candidates.length > 0 && (conflict === undefined || own !== undefined);
  const isReplaced = isPossible && own !== undefined;
  const isKnown = (each: Route): boolean => kinds[each.kind] === 'readable' && candidates.length > 0;
  // Requests follow routes of other kinds until the route of the right kind exists, which can take long if something
  // prevents it.
  const others = isReplaced ? [] : ofPort.filter((each) => each.kind !== kind && isKnown(each));
  const plan = (of: RouteKind, from: Route | undefined): PlannedRoute => {
    const { weights, dueMs } = sharesOf(candidates, from && weightsIn(from), settings.holdDownMs, nowMs);
    const listed = candidates.map(({ service }, at) => ({ service, weight: weights[at] ?? 0 }));
    const object = renderRoute(observed, port, of, listed);
    return {
      desired: { of: ROUTES[of], object, comparison: { extraMetadata: 'ignored' } },
      weights: new Map(listed.map(({ service, weight }) => [service, weight])),
      dueMs,
    };
  };
  // If the kind changes, the weights of the new route are decided from the present weights of the old one.
  const planned = [
    ...(isPossible ? [plan(kind, own ?? ofPort[0])] : []),
    ...others.map((each) => plan(each.kind, each)),
  ];
  const due = planned.flatMap(({ dueMs }) => (dueMs === undefined ? [] : [dueMs]));
  return {
    ...{ port, kind, conflict, isReplaced },
    desired: planned.map(({ desired }) => desired),
    isReplacing: isPossible && others.length > 0,
    weights: planned[0]?.weights,
    dueMs: due.length === 0 ? undefined : Math.min(...due),
  };
}

interface PlannedRoute extends Pick<PortPlan, 'dueMs'> {
  readonly desired: Desired;
  readonly weights: ReadonlyMap<string, number>;
}

/**
 * Reports whether a Service can be the parent of a route. Linkerd does not accept a Service without a ClusterIP as a
 * parent.
 */
const canBeParent = ({ spec }: Service): boolean => spec?.type !== 'ExternalName' && spec?.clusterIP !== 'None';

/**
 * Reports whether a route of ours stays even if it is not desired. It stays while the Service or all its backends are
 * missing, or while the route that replaces it does not exist yet.
 */
function isKept({ apex }: ObservedFailover, { kind, metadata }: Route, plans: readonly PortPlan[]): boolean {
  if (apex === undefined) return true;
  const plan = plans.find(({ port }) => metadata.name.endsWith(`-${port}`));
  return plan !== undefined && (!plan.isReplaced || plan.kind === kind);
}

function backendFinding(
  { settings, backends }: ObservedFailover,
  ports: readonly { readonly port: number }[],
): Finding | undefined {
  const missing = settings.backends.filter((_, at) => backends[at]?.live === undefined).map(({ service }) => service);
  if (missing.length > 0) {
    const plural = missing.length === 1 ? 'Service' : 'Services';
    return {
      reason: 'BackendNotFound',
      message: `${plural} ${missing.join(', ')} not found in namespace ${settings.namespace}; requests never go there`,
    };
  }
  const lacking = settings.backends.flatMap(({ service }, at) => {
    const live = backends[at]?.live;
    const lacks = live === undefined ? [] : ports.filter(({ port }) => !hasPort(live, port)).map(({ port }) => port);
    return lacks.length === 0 ? [] : [`Service ${service} has no TCP port ${lacks.join(', ')}`];
  });
  if (lacking.length === 0) return undefined;
  return { reason: 'PortMismatch', message: `${lacking.join('; ')}; requests to these ports never go there` };
}

function routeFinding(
  { settings, apex, kinds, hasProfile }: ObservedFailover,
  ports: readonly unknown[],
  plans: readonly PortPlan[],
): Finding | undefined {
  const { service, namespace } = settings;
  if (apex === undefined) {
    return { reason: 'ServiceNotFound', message: `Service ${service} not found in namespace ${namespace}` };
  }
  if (!canBeParent(apex)) {
    const what = apex.spec?.type === 'ExternalName' ? 'is of type ExternalName' : 'is headless';
    return {
      reason: 'ServiceHasNoClusterIP',
      message: `Service ${service} ${what}: no route can have it as its parent`,
    };
  }
  if (ports.length === 0) return { reason: 'NoPorts', message: `Service ${service} has no TCP port` };
  for (const { port, kind, conflict } of plans) {
    const of = ROUTES[kind];
    switch (kinds[kind]) {
      case 'missing':
        return {
          reason: 'RouteKindMissing',
          message: `the CRD ${of.plural}.${of.group} is not installed, and port ${port} needs a ${kind}: install the Gateway API, then restart Linkerd's policy controller`,
        };
      case 'forbidden':
        return {
          reason: 'Forbidden',
          message: `the operator has no right to list and watch ${of.plural}: apply the roles that it is deployed with`,
        };
      case 'unknown':
        return { reason: 'Pending', message: `${of.plural} have not been read yet` };
      case 'readable':
    }
    if (conflict !== undefined) {
      const owner = failoverOf(conflict);
      return {
        reason: 'RouteConflict',
        message: `${conflict.kind} ${keyOf(conflict)} has Service ${service} as its parent too, and Linkerd prefers it for port ${port}: delete ${owner === undefined ? 'it' : `ServiceFailover ${owner}`}, or this ServiceFailover`,
      };
    }
  }
  if (hasProfile) {
    return {
      reason: 'ServiceProfileExists',
      message: `Service ${service} has a ServiceProfile, for which Linkerd's proxies ignore routes: delete it`,
    };
  }
  return undefined;
}

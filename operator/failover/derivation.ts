/**
 * Derives the routes and the status of each ServiceFailover from what is known about it (rules J1 to J4). Routes are
 * updated in place.
 */
import type { FieldError } from '../../crds/field-error.ts';
import { servedVerbs } from '../kube/discovery.ts';
import { describe, isConflict, unlessNotFound } from '../kube/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { keyOf, type KubeObject, splitKey } from '../kube/objects.ts';
import type { Absence } from '../runtime/absence.ts';
import type { Derivation, Why } from '../runtime/derivation.ts';
import type { Logger } from '../runtime/logger.ts';
import { merged, type Outcome } from '../runtime/outcome.ts';
import type { Goal } from '../runtime/pass.ts';
import type { Pass, PassTexts } from '../runtime/tally.ts';
import type { Action, OwnedKind } from '../runtime/plan.ts';
import { isCertainlyGone } from '../source/namespaces.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Readiness } from './decide.ts';
import type { ServiceEndpoints } from './endpoints.ts';
import type { ObservedFailover, Route } from './observed.ts';
import { type Decision, decideFailover, type Finding } from './plan.ts';
import { type FailoverKinds, type FailoverObject, othersFor, routesFor, SERVICE_FAILOVERS } from './kinds.ts';
import { type FailoverReport, STATUS_PERIOD_MS } from './report.ts';
import { ROUTE_KINDS, routedPorts, ROUTES } from './routes.ts';
import { anotherOf, readStatus } from './status.ts';

export interface FailoverDerivationOptions {
  /** Namespace of the operator. */
  readonly namespace: string;
  /** The only namespaces that are served. @default all */
  readonly namespaces: readonly string[] | undefined;
  readonly source: Pick<SourceStores, 'services' | 'namespaces'>;
  readonly watched: FailoverKinds;
  readonly endpoints: Pick<ServiceEndpoints, 'of'>;
  readonly report: Pick<FailoverReport, 'claim' | 'report' | 'leave' | 'forget'>;
  /**
   * How to make certain that a ServiceFailover that no longer exists was meant to be deleted. @default - it is certain
   * at once
   */
  readonly gone?: Gone;
  readonly log: Logger;
  /** Called when a route was written or deleted. */
  readonly routeWritten: (action: Action) => void;
  /** Time between two writes of one status, in milliseconds. @default 1000 */
  readonly statusPeriodMs?: number | undefined;
  /** @default Date.now */
  readonly now?: () => number;
}

interface Gone {
  readonly client: KubeClient;
  /**
   * Remembers when ServiceFailovers could not exist, or a list showed none at all. In both cases, perhaps nobody asked
   * for their deletion.
   */
  readonly absence: Absence;
}

/** What is known of one key. */
export type ObservedKey =
  /** ServiceFailovers of this namespace cannot be read, so it is not known whether this one exists. */
  | { readonly is: 'unread' }
  /** The ServiceFailover does not exist. `owned` are the routes that it has left. */
  | { readonly is: 'gone'; readonly owned: readonly Route[] }
  | { readonly is: 'anothers'; readonly object: FailoverObject; readonly operator: string }
  | { readonly is: 'invalid'; readonly object: FailoverObject; readonly errors: readonly FieldError[] }
  /**
   * Something that the ServiceFailover depends on has not been read yet. Once it has been read, all keys are reconciled
   * again.
   */
  | { readonly is: 'awaited' }
  | { readonly is: 'served'; readonly object: FailoverObject; readonly observed: ObservedFailover };

/**
 * Time until a key is reconciled again after a failure, or while it is not certain that its ServiceFailover is gone.
 */
const RETRY_MS = 10_000;

export class FailoverDerivation implements Derivation<ObservedKey, Decision | undefined, Finding> {
  readonly texts = TEXTS;
  readonly #options: FailoverDerivationOptions;
  /** Readiness as it was last decided, by key. The status may be written later. */
  readonly #readiness = new Map<string, ReadonlyMap<string, Readiness>>();

  constructor(options: FailoverDerivationOptions) {
    this.#options = options;
  }

  keys(): ReadonlySet<string> {
    const { failovers, routes } = this.#options.watched;
    const left = ROUTE_KINDS.flatMap((kind) => [...routes[kind].store.indexed('failover')]);
    return new Set([...[...failovers.store.values()].map(keyOf), ...left]);
  }

  why(key: string): Why {
    return {
      create: `ServiceFailover ${key} leads requests by it`,
      delete: `ServiceFailover ${key} needs it no longer`,
    };
  }

  observe(key: string): ObservedKey {
    const { watched, source, namespace: own, namespaces } = this.#options;
    const { namespace } = splitKey(key);
    if (watched.failovers.stateIn(namespace) !== 'readable') return { is: 'unread' };
    const object = watched.failovers.store.get(key);
    if (object === undefined) return { is: 'gone', owned: routesFor(watched, key) };
    const operator = anotherOf(object.status, own);
    if (operator !== undefined && !isCertainlyGone(source.namespaces, namespaces, operator))
      return { is: 'anothers', object, operator };
    if (!object.read.ok) return { is: 'invalid', object, errors: object.read.errors };
    const observed = this.#observe(key, object, object.read.value);
    return this.#isAwaited(namespace, observed) ? { is: 'awaited' } : { is: 'served', object, observed };
  }

  decide(of: ObservedKey): Decision | undefined {
    const { now = Date.now } = this.#options;
    return of.is === 'served' ? decideFailover(of.observed, now()) : undefined;
  }

  async prepare(
    key: string,
    of: ObservedKey,
    decision: Decision | undefined,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    const { report, gone } = this.#options;
    switch (of.is) {
      case 'unread':
      case 'awaited':
        return {};
      case 'gone':
        this.#readiness.delete(key);
        report.forget(key);
        return of.owned.length === 0 ? {} : gone && whileAbsent(key, gone, signal);
      case 'anothers':
        this.#readiness.delete(key);
        return report.leave(key, of.object, of.operator);
      case 'invalid':
        return report.report(key, of.object, { invalid: of.errors }, signal);
      case 'served': {
        // An operator writes no route before the status names it, because another operator may be about to serve the
        // ServiceFailover.
        const claimed = await report.claim(key, of.object, signal);
        if (claimed === undefined && decision !== undefined) this.#remember(key, of.observed, decision);
        return claimed;
      }
    }
  }

  goal(of: ObservedKey, decision: Decision | undefined): Goal {
    if (of.is === 'gone') return { steps: [{ desired: [], owned: ownedRoutes(of.owned) }], ...WHOLE };
    if (of.is !== 'served' || decision === undefined) return { steps: [], ...WHOLE };
    const retain = (_: unknown, object: KubeObject): boolean => decision.kept.includes(object as Route);
    const { routes, isPartial } = decision;
    const owned = ownedRoutes(of.observed.owned);
    return { steps: [{ desired: routes, owned }], isPartial, isBlocked: false, retain };
  }

  wrote(_: string, __: ObservedKey, ___: Decision | undefined, { done }: Pass<Finding>): void {
    const { log, routeWritten } = this.#options;
    for (const action of done) {
      const route = `${action.of.kind} ${keyOf(action.object)}`;
      log.info({ route, op: action.op }, 'the route of a ServiceFailover was written');
      routeWritten(action);
    }
  }

  async settled(
    key: string,
    of: ObservedKey,
    decision: Decision | undefined,
    { done, errors, refusals }: Pass<Finding>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { report, log, statusPeriodMs = STATUS_PERIOD_MS } = this.#options;
    const failure = refusals[0] ?? failureOf(errors);
    if (of.is !== 'served' || decision === undefined) {
      // No ServiceFailover is left whose status could report the failure.
      if (failure !== undefined) log.warn({ failover: key, error: failure.message }, 'a route cannot be deleted');
      return {};
    }
    // After a write of routes, the status waits: when a gateway dies, the routes of all ServiceFailovers come before
    // the first status.
    if (done.length > 0 && errors.length === 0) return { requeueAfterMs: statusPeriodMs };
    const { object, observed } = of;
    const reported = await report.report(key, object, { observed, decision, failure }, signal);
    const { requeueAfterMs } = decision;
    return merged([reported, { requeueAfterMs }, { requeueAfterMs: failure && RETRY_MS }]);
  }

  #remember(key: string, { settings }: ObservedFailover, { readiness }: Decision): void {
    const states = settings.backends.map(({ service }, at) => [service, readiness[at] as Readiness] as const);
    this.#readiness.set(key, new Map(states));
  }

  /**
   * Reports whether objects that a ServiceFailover depends on have still to be read. Slices, and the routes of the
   * kinds that it needs, must have been read, unless the API server refuses or does not serve the kind. For all other
   * kinds, any answer of the API server is enough, even an error.
   */
  #isAwaited(namespace: string, { apex, settings }: ObservedFailover): boolean {
    const { slices, profiles, policyRoutes, routes } = this.#options.watched;
    const ports = apex === undefined ? [] : routedPorts(apex, settings.routeKind);
    const needed = [slices, ...ports.map(({ kind }) => routes[kind])];
    if (needed.some((each) => each.stateIn(namespace) === 'unknown')) return true;
    return [profiles, policyRoutes, ...ROUTE_KINDS.map((kind) => routes[kind])].some((each) =>
      each.isAwaitedIn(namespace),
    );
  }

  #observe(key: string, object: FailoverObject, settings: ObservedFailover['settings']): ObservedFailover {
    const { source, watched } = this.#options;
    const { services } = source;
    const { routes } = watched;
    const { namespace } = splitKey(key);
    const service = `${namespace}/${settings.service}`;
    return {
      settings,
      apex: services.get(service),
      backends: settings.backends.map((backend) => {
        const live = services.get(`${namespace}/${backend.service}`);
        return { live, endpoints: live && this.#options.endpoints.of(live) };
      }),
      owned: routesFor(watched, key),
      others: othersFor(watched, service, key),
      kinds: {
        GRPCRoute: routes.GRPCRoute.stateIn(namespace),
        HTTPRoute: routes.HTTPRoute.stateIn(namespace),
        TCPRoute: routes.TCPRoute.stateIn(namespace),
      },
      hasProfile: watched.profiles.store.by('service', service).length > 0,
      before: this.#readiness.get(key) ?? readStatus(object.status).readiness,
    };
  }
}

/**
 * Returns when to check again whether the routes of a ServiceFailover that is gone may be deleted; undefined if they
 * may be deleted now. All ServiceFailovers may have vanished with their CRD, and a list without any does not show the
 * reason. Also, a watch may be out of date.
 */
async function whileAbsent(key: string, { client, absence }: Gone, signal: AbortSignal): Promise<Outcome | undefined> {
  if (!(await servedVerbs(client, SERVICE_FAILOVERS, signal)).includes('create')) absence.noticed();
  const waitMs = absence.leftMs(key);
  if (waitMs > 0) return { requeueAfterMs: Math.min(waitMs, RETRY_MS) };
  const { namespace, name } = splitKey(key);
  // The ServiceFailover may have been created again.
  const there = await client.read(SERVICE_FAILOVERS, namespace, name, signal).catch(unlessNotFound);
  return there === undefined ? undefined : { requeueAfterMs: RETRY_MS };
}

/** Fields of a complete goal: nothing is left for later, and no object of others is in the way. */
const WHOLE = { isPartial: false, isBlocked: false } as const;

const ownedRoutes = (routes: readonly Route[]): readonly OwnedKind[] =>
  [...Map.groupBy(routes, ({ kind }) => ROUTES[kind])].map(([of, objects]) => ({ of, objects }));

/**
 * Returns the first error as a finding. A conflict does not count, because it only shows that the observed state was
 * out of date.
 */
function failureOf(errors: readonly unknown[]): Finding | undefined {
  const error = errors.find((each) => !isConflict(each));
  return error === undefined ? undefined : { reason: 'Error', message: describe(error) };
}

const TEXTS: PassTexts<Finding> = {
  foreign: (kind, name) => ({ reason: 'NameConflict', message: `${kind} ${name} is not ours: delete or rename it` }),
  contested: (route) => ({ reason: 'RouteContested', message: `somebody keeps changing ${route}` }),
  vanished: (namespace) => ({ reason: 'Error', message: `namespace ${namespace} is gone, or about to go` }),
  refusedName: (kind, name) => ({ reason: 'Error', message: `the API server refuses the name of ${kind} ${name}` }),
  added: (object, keys) => `somebody keeps adding ${keys.join(', ')} to ${object}; it is removed less and less often`,
};

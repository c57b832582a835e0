/**
 * The controller of ServiceFailovers (rules J1 to J4): a reconcile observes one of them, decides, brings its routes from
 * what they are to what they must be, in place, and reports.
 */
import { federatedName } from '../../crds/wire.ts';
import { RETRY_BACKOFF, type BackoffPolicy } from '../kube/backoff.ts';
import { servedVerbs } from '../kube/discovery.ts';
import { describe, isConflict, unlessNotFound } from '../kube/errors.ts';
import { keyOf, type KubeObject, splitKey } from '../kube/objects.ts';
import { type Pass, type PassTexts, takeStep } from '../runtime/pass.ts';
import { Absence } from '../runtime/absence.ts';
import { Applier } from '../runtime/applier.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import type { OptionalKindOptions } from '../runtime/optional-kind.ts';
import type { Action } from '../runtime/plan.ts';
import { isCertainlyGone } from '../source/namespaces.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Readiness } from './decide.ts';
import { type EndpointsOptions, ServiceEndpoints } from './endpoints.ts';
import type { ObservedFailover, Route } from './observed.ts';
import { type Decision, decideFailover, type Finding } from './plan.ts';
import { FailoverReport, type ReportOptions, STATUS_PERIOD_MS } from './report.ts';
import { failoverOf, ROUTE_KINDS, routedPorts, ROUTES } from './routes.ts';
import { Splits } from './splits.ts';
import { anotherOf, readStatus } from './status.ts';
import { type FailoverObject, parentsChanged, SERVICE_FAILOVERS, Watched } from './watched.ts';

export interface FailoversOptions
  extends
    Pick<OptionalKindOptions, 'timings' | 'interruptions'>,
    Omit<ReportOptions, 'store'>,
    Omit<EndpointsOptions, 'services' | 'slices'> {
  readonly source: Pick<SourceStores, 'services' | 'subscribeServices' | 'namespaces'>;
  /** The only namespaces that are served. @default all */
  readonly namespaces: readonly string[] | undefined;
  readonly concurrency: number;
  /** Waits for the turn of a write, and makes it. */
  readonly turn: <T>(signal: AbortSignal, execute: () => Promise<T>) => Promise<T>;
  readonly backoff?: BackoffPolicy | undefined;
  /** Time for which routes stay once there can be ServiceFailovers again, in milliseconds. @default 600000 */
  readonly returnGraceMs?: number | undefined;
}

/** Time until a name that a foreign object has is tried again, and until it is asked again what the API server serves. */
const RETRY_MS = 10_000;

export class Failovers {
  readonly #options: FailoversOptions;
  readonly #watched: Watched;
  readonly #controller: Controller;
  readonly #splits: Splits;
  readonly #applier: Applier;
  readonly #endpoints: ServiceEndpoints;
  readonly #report: FailoverReport;
  /** Readiness as it was last decided: the status may be written later. */
  readonly #readiness = new Map<string, ReadonlyMap<string, Readiness>>();
  /** There was no place for ServiceFailovers, or a list showed none at all: nobody may have asked for that. */
  readonly #absence: Absence;
  #signal: AbortSignal | undefined;

  constructor(options: FailoversOptions) {
    const { client, metrics, log, concurrency, mayWrite, turn } = options;
    this.#options = options;
    this.#absence = new Absence({ graceMs: options.returnGraceMs });
    this.#watched = new Watched(
      { ...options, partitions: options.namespaces ?? [undefined] },
      {
        failover: (key) => this.#failoverChanged(key),
        split: (key) => this.#splitChanged(key),
        service: (key) => this.#serviceChanged(key),
        noneLeft: () => this.#absence.noticed(),
        all: () => this.addAll(),
      },
    );
    this.#controller = new Controller({
      name: 'failover',
      reconcile: (key, signal) => this.#reconcile(key, signal),
      concurrency,
      metrics,
      log,
      backoff: options.backoff ?? RETRY_BACKOFF,
    });
    this.#endpoints = new ServiceEndpoints({
      ...options,
      services: options.source.services,
      slices: this.#watched.slices,
    });
    this.#report = new FailoverReport({ ...options, store: this.#watched.failovers.store });
    this.#splits = new Splits({
      ...options,
      store: this.#watched.splits.store,
      isReady: (key) => this.#endpoints.isReady(key),
      isKnown: (namespace) => this.#watched.slices.stateIn(namespace) === 'readable',
    });
    const stores = ROUTE_KINDS.map((kind) => [ROUTES[kind].plural, this.#watched.routes[kind].store] as const);
    this.#applier = new Applier({
      client,
      turn,
      stores: Object.fromEntries(stores),
      isOurs: (object) => failoverOf(object) !== undefined,
      namespaceUid: (name) => this.#options.source.namespaces.uidOf(name),
      mayWrite,
    });
  }

  /** Reconciles until the signal aborts and the reconciles under way have ended. Routes stay. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const unsubscribe = this.#options.source.subscribeServices((key) => this.#serviceChanged(key));
    this.addAll();
    await Promise.all([this.#watched.run(signal), this.#controller.run(signal), this.#splits.run(signal)]);
    unsubscribe();
    await this.#controller.forget();
  }

  /** Reconciles all ServiceFailovers, and what is left of others: what can be read has changed. */
  addAll(): void {
    const { failovers, routes } = this.#watched;
    if (failovers.isMissing) this.#absence.noticed();
    for (const object of failovers.store.values()) this.#failoverChanged(keyOf(object));
    for (const object of this.#watched.splits.store.values()) this.#splitChanged(keyOf(object));
    for (const kind of ROUTE_KINDS) for (const key of routes[kind].store.indexed('failover')) this.#controller.add(key);
  }

  /** Handles that more or less is known of a Service of a target cluster, at first hand: its mirror has that name. */
  mirrorChanged(key: string): void {
    this.#serviceChanged(key);
  }

  /** Resolves when no key waits for a worker or is being reconciled. */
  idle(): Promise<void> {
    return this.#controller.idle();
  }

  #failoverChanged(key: string): void {
    const { failovers } = this.#watched;
    if (failovers.stateIn(splitKey(key).namespace) === 'readable' && failovers.store.get(key) !== undefined)
      this.#absence.saw(key);
    if (this.#signal !== undefined) void this.#watched.runRest(this.#signal);
    this.#controller.add(key);
  }

  #splitChanged(key: string): void {
    if (this.#signal !== undefined) void this.#watched.runRest(this.#signal);
    this.#splits.add(key);
  }

  #serviceChanged(key: string): void {
    const { failovers, splits } = this.#watched;
    // A flat federated Service has no slices here but those of its local member.
    for (const service of [key, federatedName(key)]) {
      for (const object of failovers.store.by('service', service)) this.#controller.add(keyOf(object));
      for (const object of splits.store.by('service', service)) this.#splits.add(keyOf(object));
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { failovers } = this.#watched;
    const { namespace } = splitKey(key);
    if (failovers.stateIn(namespace) !== 'readable') return {};
    const object = failovers.store.get(key);
    if (object === undefined) return this.#remove(key, signal);
    const another = anotherOf(object.status, this.#options.namespace);
    const { source, namespaces } = this.#options;
    if (another !== undefined && !isCertainlyGone(source.namespaces, namespaces, another)) {
      this.#readiness.delete(key);
      return this.#report.leave(key, object, another);
    }
    if (!object.read.ok) return this.#report.report(key, object, { invalid: object.read.errors }, signal);
    const { now = Date.now } = this.#options;
    const observed = this.#observe(key, object, object.read.value);
    // What has not been read yet is read soon, and then all keys come again.
    if (this.#isAwaited(namespace, observed)) return {};
    // Who has not said that it serves the ServiceFailover writes no route for it: another may be about to.
    const claimed = await this.#report.claim(key, object, signal);
    if (claimed !== undefined) return claimed;
    const decision = decideFailover(observed, now());
    this.#readiness.set(
      key,
      new Map(observed.settings.backends.map(({ service }, at) => [service, decision.readiness[at] as Readiness])),
    );
    const { refusals, errors, done, again } = await this.#apply(observed, decision, signal);
    for (const action of done) this.#wrote(action);
    if (again) return { again };
    // Where a gateway is dead, the routes of all others come before the first status.
    const { statusPeriodMs = STATUS_PERIOD_MS } = this.#options;
    if (done.length > 0 && errors.length === 0) return { requeueAfterMs: statusPeriodMs };
    const failure = refusals[0] ?? failureOf(errors);
    const reported = await this.#report.report(key, object, { observed, decision, failure }, signal);
    const waits = [decision.requeueAfterMs, reported.requeueAfterMs, failure && RETRY_MS].filter(
      (ms) => ms !== undefined,
    );
    return {
      errors: [...errors, ...(reported.errors ?? [])],
      requeueAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
    };
  }

  /**
   * Whether what decides about a ServiceFailover is still to be read. What it does without is only awaited until the
   * API server has answered, be it with an error.
   */
  #isAwaited(namespace: string, { apex, settings }: ObservedFailover): boolean {
    const { slices, profiles, policyRoutes, routes } = this.#watched;
    const ports = apex === undefined ? [] : routedPorts(apex, settings.routeKind);
    const needed = [slices, ...ports.map(({ kind }) => routes[kind])];
    if (needed.some((each) => each.stateIn(namespace) === 'unknown')) return true;
    return [profiles, policyRoutes, ...ROUTE_KINDS.map((kind) => routes[kind])].some((each) =>
      each.isAwaitedIn(namespace),
    );
  }

  #observe(key: string, object: FailoverObject, settings: ObservedFailover['settings']): ObservedFailover {
    const { services } = this.#options.source;
    const { routes } = this.#watched;
    const { namespace } = splitKey(key);
    const service = `${namespace}/${settings.service}`;
    return {
      settings,
      apex: services.get(service),
      backends: settings.backends.map((backend) => {
        const live = services.get(`${namespace}/${backend.service}`);
        return { live, endpoints: live && this.#endpoints.of(live) };
      }),
      owned: this.#watched.ownedBy(key),
      others: this.#watched.othersFor(service, key),
      kinds: {
        GRPCRoute: routes.GRPCRoute.stateIn(namespace),
        HTTPRoute: routes.HTTPRoute.stateIn(namespace),
        TCPRoute: routes.TCPRoute.stateIn(namespace),
      },
      hasProfile: this.#watched.profiles.store.by('service', service).length > 0,
      before: this.#readiness.get(key) ?? readStatus(object.status).readiness,
    };
  }

  #apply(observed: ObservedFailover, decision: Decision, signal: AbortSignal): Promise<Pass<Finding>> {
    const owned = observed.owned.map((object) => ({ of: ROUTES[object.kind], object }));
    const retain = (_: unknown, object: KubeObject): boolean => decision.kept.includes(object as Route);
    const { routes, isPartial } = decision;
    const goal = { steps: [{ desired: routes, owned }], isPartial, isBlocked: false, retain };
    return takeStep(goal, { applier: this.#applier, conflictRetryMs: RETRY_MS, texts: TEXTS }, signal);
  }

  #wrote(action: Action): void {
    const route = `${action.of.kind} ${keyOf(action.object)}`;
    this.#options.log.info({ route, op: action.op }, 'the route of a ServiceFailover was written');
    for (const service of parentsChanged(action)) this.#serviceChanged(service);
  }

  /**
   * Deletes the routes of a ServiceFailover that is gone, unless all of them are gone with their CRD, or may be: a list
   * that shows none does not tell.
   */
  async #remove(key: string, signal: AbortSignal): Promise<Outcome> {
    const { client } = this.#options;
    this.#readiness.delete(key);
    this.#report.forget(key);
    const owned = this.#watched.ownedBy(key);
    if (owned.length === 0) return {};
    if (!(await servedVerbs(client, SERVICE_FAILOVERS, signal)).includes('create')) this.#absence.noticed();
    const waitMs = this.#absence.leftMs(key);
    if (waitMs > 0) return { requeueAfterMs: Math.min(waitMs, RETRY_MS) };
    const { namespace, name } = splitKey(key);
    // A watch may be behind: it may have been made anew.
    const there = await client.read(SERVICE_FAILOVERS, namespace, name, signal).catch(unlessNotFound);
    if (there !== undefined) return { requeueAfterMs: RETRY_MS };
    for (const object of owned) {
      const action = { op: 'delete', of: ROUTES[object.kind], object } as const;
      const outcome = await this.#applier.execute(action, signal);
      if (outcome.result === 'deferred') return { requeueAfterMs: outcome.afterMs };
      this.#wrote(action);
    }
    return {};
  }
}

/** What failed; a conflict says no more than that the view was old. */
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

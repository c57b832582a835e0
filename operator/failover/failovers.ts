/**
 * The controller of ServiceFailovers (rules J1 to J4): a reconcile observes one of them, decides, brings its routes from
 * what they are to what they must be, in place, and reports.
 */
import { isDeepStrictEqual } from 'node:util';
import type { MirrorMode } from '../../constructs/mirror/index.ts';
import type { FailoverStatus } from '../../crds/failover/types.gen.ts';
import { Annotation, FailoverApi, federatedName, Label } from '../../crds/wire.ts';
import { RETRY_BACKOFF, type BackoffPolicy } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { servedVerbs } from '../kube/discovery.ts';
import { describe, isConflict, isNotFound } from '../kube/errors.ts';
import { keyOf, type Service, splitKey } from '../kube/objects.ts';
import type { Metrics } from '../metrics.ts';
import { Applier } from '../runtime/applier.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import type { EventRecorder } from '../runtime/events.ts';
import { fenced, type MayWrite } from '../runtime/fence.ts';
import type { Logger } from '../runtime/logger.ts';
import type { OptionalKindOptions } from '../runtime/optional-kind.ts';
import { type Action, plan } from '../runtime/plan.ts';
import { isFederated, isFlat, ownerOf } from '../source/owner.ts';
import type { SourceStores } from '../source/stores.ts';
import type { Readiness } from './decide.ts';
import type { ObservedFailover, Route } from './observed.ts';
import { type Decision, decideFailover, type Finding } from './plan.ts';
import { type EndpointCounts, reachable, readyMembers, sumCounts, type TargetKnowledge } from './readiness.ts';
import { failoverOf, ROUTE_KINDS, routedPorts, ROUTES } from './routes.ts';
import { failoverStatus, type FailoverFindings, readStatus } from './status.ts';
import { Splits } from './splits.ts';
import { type FailoverObject, parentKeysOf, SERVICE_FAILOVERS, Watched } from './watched.ts';

export interface FailoversOptions extends Pick<OptionalKindOptions, 'timings' | 'interruptions'> {
  /** The source cluster. */
  readonly client: KubeClient;
  readonly source: Pick<SourceStores, 'services' | 'subscribeServices'>;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** The only namespaces that are served. @default all */
  readonly namespaces: readonly string[] | undefined;
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly log: Logger;
  readonly mayWrite: MayWrite;
  readonly concurrency: number;
  /** Waits for the turn of a write, and makes it. */
  readonly turn: <T>(signal: AbortSignal, execute: () => Promise<T>) => Promise<T>;
  /** Returns what is known first hand of a Service of a target cluster; undefined if no Link names that cluster. */
  readonly knowledge: (cluster: string, key: string) => TargetKnowledge | undefined;
  /** Returns whether a member in a target cluster is ready; undefined while that is not known. */
  readonly isMemberReady: (cluster: string, key: string) => boolean | undefined;
  readonly backoff?: BackoffPolicy | undefined;
  /** Time between two writes of one status, in milliseconds. @default 1000 */
  readonly statusPeriodMs?: number | undefined;
  /** Time for which routes stay once there can be ServiceFailovers again, in milliseconds. @default 600000 */
  readonly returnGraceMs?: number | undefined;
  /** @default Date.now */
  readonly now?: () => number;
}

/** Time until a name that a foreign object has is tried again, and until it is asked again what the API server serves. */
const RETRY_MS = 10_000;
const STATUS_PERIOD_MS = 1_000;
const RETURN_GRACE_MS = 600_000;

export class Failovers {
  readonly #options: FailoversOptions;
  readonly #watched: Watched;
  readonly #controller: Controller;
  readonly #splits: Splits;
  readonly #applier: Applier;
  /** Readiness as it was last decided: the status may be written later. */
  readonly #readiness = new Map<string, ReadonlyMap<string, Readiness>>();
  /** When each status was last written, on the monotonic clock. */
  readonly #writtenMs = new Map<string, number>();
  /** When there was last found to be no place for ServiceFailovers, on the monotonic clock. */
  #absentMs = -Infinity;
  /** When a list last showed none at all, on the monotonic clock: nobody may have asked for that. */
  #noneLeftMs = -Infinity;
  /** Keys of those that were there since then: what of them vanishes was deleted by itself. */
  readonly #seen = new Set<string>();
  #signal: AbortSignal | undefined;

  constructor(options: FailoversOptions) {
    const { client, metrics, log, concurrency, mayWrite, turn } = options;
    this.#options = options;
    this.#watched = new Watched(
      { ...options, partitions: options.namespaces ?? [undefined] },
      {
        failover: (key) => this.#failoverChanged(key),
        split: (key) => this.#splitChanged(key),
        service: (key) => this.#serviceChanged(key),
        noneLeft: () => this.#noneLeft(),
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
    this.#splits = new Splits({
      ...options,
      store: this.#watched.splits.store,
      isReady: (key) => this.#isReady(key),
      isKnown: (namespace) => this.#watched.slices.stateIn(namespace) === 'readable',
    });
    const stores = ROUTE_KINDS.map((kind) => [ROUTES[kind].plural, this.#watched.routes[kind].store] as const);
    this.#applier = new Applier({
      client,
      turn,
      stores: Object.fromEntries(stores),
      isOurs: (object) => failoverOf(object) !== undefined,
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
    if (failovers.isMissing) this.#absentMs = performance.now();
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

  #noneLeft(): void {
    this.#noneLeftMs = performance.now();
    this.#seen.clear();
  }

  #failoverChanged(key: string): void {
    if (this.#watched.failovers.store.get(key) !== undefined) this.#seen.add(key);
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
    if (!object.read.ok) return this.#report(key, object, { invalid: object.read.errors }, signal);
    const { now = Date.now } = this.#options;
    const observed = this.#observe(key, object, object.read.value);
    // What has not been read yet is read soon, and then all keys come again.
    if (this.#isAwaited(namespace, observed)) return {};
    const decision = decideFailover(observed, now());
    this.#readiness.set(
      key,
      new Map(observed.settings.backends.map(({ service }, at) => [service, decision.readiness[at] as Readiness])),
    );
    const { failure, errors, wrote } = await this.#apply(observed, decision, signal);
    // Where a gateway is dead, the routes of all others come before the first status.
    const { statusPeriodMs = STATUS_PERIOD_MS } = this.#options;
    if (wrote && errors.length === 0) return { requeueAfterMs: statusPeriodMs };
    const reported = await this.#report(key, object, { observed, decision, failure }, signal);
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
    const { slices, profiles, routes } = this.#watched;
    const ports = apex === undefined ? [] : routedPorts(apex, settings.routeKind);
    const needed = [slices, ...ports.map(({ kind }) => routes[kind])];
    if (needed.some((each) => each.stateIn(namespace) === 'unknown')) return true;
    return [profiles, ...ROUTE_KINDS.map((kind) => routes[kind])].some((each) => each.isAwaitedIn(namespace));
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
        return { live, endpoints: live && this.#endpointsOf(live) };
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

  /** Whether any endpoint of a Service is ready; undefined while that is not known. */
  #isReady(key: string): boolean | undefined {
    const live = this.#options.source.services.get(key);
    if (live === undefined) return false;
    const counts = this.#endpointsOf(live);
    return counts && counts.ready > 0;
  }

  /** What is known of the endpoints of a Service: of a mirror at first hand, of others by its slices in this cluster. */
  #endpointsOf(live: Service): EndpointCounts | undefined {
    const { namespace, knowledge } = this.#options;
    const owner = ownerOf(live, namespace);
    const known = owner && knowledge(owner.cluster, owner.key);
    if (known !== undefined) return reachable(known, modeOf(live));
    // Those that lead through gateways have slices.
    if (isFederated(live) && isFlat(live)) return readyMembers(this.#membersOf(live));
    return this.#localEndpoints(keyOf(live));
  }

  #localEndpoints(service: string): EndpointCounts | undefined {
    const { slices } = this.#watched;
    if (slices.stateIn(splitKey(service).namespace) !== 'readable') return undefined;
    return sumCounts(slices.store.by('service', service).map(({ counts }) => counts));
  }

  /** Whether each member of a federated Service on a flat network is ready. */
  #membersOf({ metadata: { namespace = '', annotations = {} } }: Service): readonly (boolean | undefined)[] {
    const entries = (annotations[Annotation.remoteDiscovery] ?? '').split(',').filter((each) => each.includes('@'));
    const remote = entries.map((each) => {
      const at = each.lastIndexOf('@');
      return this.#options.isMemberReady(each.slice(at + 1), `${namespace}/${each.slice(0, at)}`);
    });
    const local = annotations[Annotation.localDiscovery];
    if (local === undefined || local === '') return remote;
    const counts = this.#localEndpoints(`${namespace}/${local}`);
    return [...remote, counts && counts.ready > 0];
  }

  async #apply(
    observed: ObservedFailover,
    decision: Decision,
    signal: AbortSignal,
  ): Promise<{ readonly failure: Finding | undefined; readonly errors: readonly unknown[]; readonly wrote: boolean }> {
    const owned = observed.owned.map((object) => ({ of: ROUTES[object.kind], object }));
    const actions = plan(decision.routes, owned).filter(
      ({ op, object }) => op !== 'delete' || !decision.kept.includes(object as Route),
    );
    const errors: unknown[] = [];
    let failure: Finding | undefined;
    let wrote = false;
    for (const action of actions) {
      try {
        const outcome = await this.#execute(action, signal);
        wrote ||= outcome === 'written';
        if (typeof outcome === 'object') failure = outcome;
      } catch (error) {
        if (isConflict(error)) return { failure, errors: [error], wrote };
        errors.push(error);
        failure = { reason: 'Error', message: describe(error) };
      }
    }
    return { failure, errors, wrote };
  }

  /** @returns why it could not be executed, if it could not */
  async #execute(action: Action, signal: AbortSignal): Promise<'written' | 'unchanged' | Finding> {
    const { result } = await this.#applier.execute(action, signal);
    const route = `${action.of.kind} ${keyOf(action.object)}`;
    switch (result) {
      case 'written':
      case 'deleted':
        this.#options.log.info({ route, op: action.op }, 'the route of a ServiceFailover was written');
        for (const service of parentsLeft(action)) this.#serviceChanged(service);
        return 'written';
      case 'unchanged':
        return result;
      case 'foreign':
        return { reason: 'NameConflict', message: `${route} is not ours: delete or rename it` };
      case 'deferred':
        return { reason: 'RouteContested', message: `somebody keeps changing ${route}` };
    }
  }

  /**
   * Deletes the routes of a ServiceFailover that is gone, unless all of them are gone with their CRD, or may be: a list
   * that shows none does not tell.
   */
  async #remove(key: string, signal: AbortSignal): Promise<Outcome> {
    const { client, metrics, returnGraceMs = RETURN_GRACE_MS } = this.#options;
    this.#readiness.delete(key);
    this.#writtenMs.delete(key);
    metrics.forgetFailover(key);
    const owned = this.#watched.ownedBy(key);
    if (owned.length === 0) {
      this.#seen.delete(key);
      return {};
    }
    if (!(await servedVerbs(client, SERVICE_FAILOVERS, signal)).includes('create')) this.#absentMs = performance.now();
    const sinceMs = this.#seen.has(key) ? this.#absentMs : Math.max(this.#absentMs, this.#noneLeftMs);
    const waitMs = sinceMs + returnGraceMs - performance.now();
    if (waitMs > 0) return { requeueAfterMs: Math.min(waitMs, RETRY_MS) };
    for (const object of owned) await this.#execute({ op: 'delete', of: ROUTES[object.kind], object }, signal);
    this.#seen.delete(key);
    return {};
  }

  async #report(
    key: string,
    object: FailoverObject,
    findings: Omit<FailoverFindings, 'generation'>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { client, mayWrite, log, metrics, statusPeriodMs = STATUS_PERIOD_MS, now = Date.now } = this.#options;
    const { generation = 0 } = object.metadata;
    const status = failoverStatus({ ...findings, generation }, object.status, new Date(now()));
    metrics.setFailover(key, status.backends ?? []);
    if (isDeepStrictEqual(status, object.status)) return {};
    const waitMs = (this.#writtenMs.get(key) ?? -Infinity) + statusPeriodMs - performance.now();
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    this.#writtenMs.set(key, performance.now());
    try {
      const target = { ...splitKey(key), subresource: 'status' };
      const written = await fenced(client, mayWrite).patch<FailoverObject>(
        SERVICE_FAILOVERS,
        target,
        { status },
        signal,
      );
      this.#watched.failovers.store.wrote(written, object);
    } catch (error) {
      if (isNotFound(error) || signal.aborted) return {};
      log.warn({ failover: key, error: describe(error) }, 'the status of a ServiceFailover cannot be written');
      return { errors: [error] };
    }
    this.#record(key, object, status);
    return {};
  }

  /** Reports what has changed as Events, and where requests go in the log. */
  #record(key: string, object: FailoverObject, status: FailoverStatus): void {
    const { log, metrics } = this.#options;
    const before = readStatus(object.status);
    const event = (type: 'Normal' | 'Warning', reason: string, message: string): void => {
      const { apiVersion, kind } = FailoverApi;
      const { uid = '' } = object.metadata;
      this.#options.events.record({ apiVersion, kind, ...splitKey(key), uid }, type, reason, message);
    };
    const { active = '' } = status;
    if (before.active !== undefined && before.active !== active) {
      const message = `requests go to ${active}; they went to ${before.active}`;
      metrics.failoverSwitches.inc({ failover: key });
      log.info({ failover: key, active, before: before.active }, 'requests go to another backend');
      event('Normal', 'FailedOver', message);
    }
    for (const { type, status: now, reason, message } of status.conditions ?? []) {
      if (type === 'Ready' || now === 'Unknown') continue;
      const was = before.conditions.find((each) => each.type === type);
      const isNews = was?.status !== now || (now === 'False' && was.reason !== reason);
      if (now === 'False' && isNews) event('Warning', reason, message);
    }
  }
}

/** The Services that a route has no longer as its parent: what another ServiceFailover may wait for. Stores report no writes of ours. */
function parentsLeft(action: Action): readonly string[] {
  if (action.op === 'create') return [];
  if (action.op === 'delete') return parentKeysOf(action.object as Route);
  const parents = parentKeysOf(action.object as Route);
  return parentKeysOf(action.live as Route).filter((each) => !parents.includes(each));
}

/** How the endpoints of a mirror are reached. */
const modeOf = ({ metadata: { labels = {} } }: Service): MirrorMode =>
  Label.remoteDiscovery in labels ? 'remote-discovery' : 'gateway';

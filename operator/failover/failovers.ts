/**
 * Runs failover: watches everything that ServiceFailovers and TrafficSplits depend on, and reconciles the routes of
 * ServiceFailovers and the weights of TrafficSplits.
 */
import { federatedName } from '../../crds/wire.ts';
import { RETRY_BACKOFF, type BackoffPolicy } from '../kube/backoff.ts';
import { keyOf, splitKey } from '../kube/objects.ts';
import { headlessMirrorOf } from '../mirror/endpoint-mirrors.ts';
import { Absence } from '../runtime/absence.ts';
import { Applier } from '../runtime/applier.ts';
import { DerivationController } from '../runtime/derivation.ts';
import type { OptionalKindOptions } from '../runtime/optional-kind.ts';
import type { SourceStores } from '../source/stores.ts';
import type { MirrorListener } from '../served/environment.ts';
import { type EndpointsOptions, ServiceEndpoints } from './endpoints.ts';
import { FailoverDerivation, type ObservedKey } from './derivation.ts';
import type { Decision, Finding } from './plan.ts';
import { FailoverReport, type ReportOptions } from './report.ts';
import { failoverOf, ROUTE_KINDS, ROUTES } from './routes.ts';
import { Splits } from './splits.ts';
import { parentsChanged, Watched } from './watched.ts';

export interface FailoversOptions
  extends
    Pick<OptionalKindOptions, 'timings' | 'interruptions'>,
    Omit<ReportOptions, 'store'>,
    Omit<EndpointsOptions, 'services' | 'slices'> {
  readonly source: Pick<SourceStores, 'services' | 'subscribeServices' | 'namespaces'>;
  /** The only namespaces that are served. @default all */
  readonly namespaces: readonly string[] | undefined;
  readonly concurrency: number;
  /** Waits for the turn of a write, and then makes the write. */
  readonly turn: <T>(signal: AbortSignal, execute: () => Promise<T>) => Promise<T>;
  readonly backoff?: BackoffPolicy | undefined;
  /** Time for which routes stay after ServiceFailovers can exist again, in milliseconds. @default 600000 */
  readonly returnGraceMs?: number | undefined;
}

/** Time until the operator tries again to use a name that a foreign object has. */
const RETRY_MS = 10_000;

export class Failovers implements MirrorListener {
  readonly #options: FailoversOptions;
  readonly #watched: Watched;
  readonly #controller: DerivationController<ObservedKey, Decision | undefined, Finding>;
  readonly #derivation: FailoverDerivation;
  readonly #splits: Splits;
  readonly #endpoints: ServiceEndpoints;
  /**
   * Remembers when ServiceFailovers could not exist, or a list showed none at all. In both cases, perhaps nobody asked
   * for their deletion.
   */
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
    this.#endpoints = new ServiceEndpoints({
      ...options,
      services: options.source.services,
      slices: this.#watched.slices,
    });
    this.#splits = new Splits({
      ...options,
      store: this.#watched.splits.store,
      isReady: (key) => this.#endpoints.isReady(key),
      isKnown: (namespace) => this.#watched.slices.stateIn(namespace) === 'readable',
    });
    this.#derivation = new FailoverDerivation({
      ...options,
      watched: this.#watched,
      endpoints: this.#endpoints,
      report: new FailoverReport({ ...options, store: this.#watched.failovers.store }),
      gone: { client, absence: this.#absence },
      routeWritten: (action) => {
        for (const service of parentsChanged(action)) this.#serviceChanged(service);
      },
    });
    const stores = ROUTE_KINDS.map((kind) => [ROUTES[kind].plural, this.#watched.routes[kind].store] as const);
    this.#controller = new DerivationController({
      name: 'failover',
      concurrency,
      metrics,
      log,
      backoff: options.backoff ?? RETRY_BACKOFF,
      conflictRetryMs: RETRY_MS,
      applier: new Applier({
        client,
        turn,
        stores: Object.fromEntries(stores),
        isOurs: (object) => failoverOf(object) !== undefined,
        namespaceUid: (name) => options.source.namespaces.uidOf(name),
        mayWrite,
      }),
      derivation: this.#derivation,
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

  /**
   * Enqueues all ServiceFailovers, all TrafficSplits, and the routes that deleted ServiceFailovers have left. Called
   * when other objects can be read than before.
   */
  addAll(): void {
    const { failovers } = this.#watched;
    if (failovers.isMissing) this.#absence.noticed();
    for (const object of failovers.store.values()) this.#failoverChanged(keyOf(object));
    for (const object of this.#watched.splits.store.values()) this.#splitChanged(keyOf(object));
    this.#controller.addAll();
  }

  mirrorChanged(key: string): void {
    this.#serviceChanged(key);
    // Backends are few, and pods may be many: so the backends are searched for endpoint mirrors of this mirror.
    const { services } = this.#options.source;
    for (const backend of this.#watched.services()) {
      if (headlessMirrorOf(services.get(backend)) === key) this.#serviceChanged(backend);
    }
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
    // A federated Service on a flat network has no slices of its own here, but depends on the slices of its local
    // member.
    for (const service of [key, federatedName(key)]) {
      for (const object of failovers.store.by('service', service)) this.#controller.add(keyOf(object));
      for (const object of splits.store.by('service', service)) this.#splits.add(keyOf(object));
    }
  }
}

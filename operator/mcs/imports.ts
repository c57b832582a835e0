/**
 * The controller of ServiceImports (rules K1 to K5). One reconcile for each namespace and name covers all clusters. The
 * local cluster and the sessions of Links take part as parties, and report what is known of their exports. The
 * controller needs no Lease of a Link, because Linkerd's controllers do not write these objects.
 */
import { splitKey } from '../kube/objects.ts';
import { type KubeObject } from '../kube/objects.ts';
import type { Refusal } from '../mirror/reasons.ts';
import { importOf } from '../source/owner.ts';
import { isOfImport } from './membership.ts';
import { targetOf } from './observed.ts';
import { type ImportListener, WatchedImports } from './watched.ts';
import { DerivationController } from '../runtime/derivation.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import { deriving, type DerivingEnvironment } from '../served/deriving.ts';
import { type SharedEnvironment, turnOf } from '../served/environment.ts';
import { ImportParties, type ImportPartiesOptions } from './parties.ts';
import type { ImportDecision } from './decide.ts';
import { ImportDerivation, type ObservedKey } from './derivation.ts';
import { ImportReport } from './report.ts';
import type { ImportParty, ServiceImports } from './party.ts';

const TURN = turnOf('mcs');

export interface ImportsOptions extends Omit<ImportPartiesOptions, 'settleMs' | 'podGraceMs' | 'returnGraceMs'> {
  readonly env: DerivingEnvironment & Pick<SharedEnvironment, 'families' | 'interruptions'>;
  readonly events: Pick<EventRecorder, 'record'>;
  /** @default - nobody is notified */
  readonly listener?: ReadableListener;
}

/** Listener for the moment when ServiceImports of more namespaces can be read. */
export interface ReadableListener {
  /**
   * Called when more ServiceImports may have become readable. Objects that were kept because their ServiceImports could
   * not be read can then be removed.
   */
  moreReadable(): void;
}

export class Imports implements ServiceImports, ImportListener {
  readonly #options: ImportsOptions;
  readonly #derivation: ImportDerivation;
  readonly #controller: DerivationController<ObservedKey, ImportDecision, Refusal>;
  readonly #watched: WatchedImports;
  readonly #report: ImportReport;
  readonly #parties: ImportParties;
  #isMissingReported = false;

  constructor(options: ImportsOptions) {
    const { env, events } = options;
    const { client, config, tuning, log } = env;
    const turn = <T>(signal: AbortSignal, execute: () => Promise<T>): Promise<T> =>
      env.writes.run(TURN, signal, execute);
    this.#options = options;
    this.#parties = new ImportParties({
      ...options,
      settleMs: tuning.importSettleMs,
      podGraceMs: config.endpointMirrorGraceMs,
      returnGraceMs: tuning.returnGraceMs,
    });
    this.#watched = new WatchedImports({
      client,
      partitions: config.mirrorNamespaces ?? [undefined],
      timings: tuning.sourceTimings,
      interruptions: env.interruptions,
      log,
      listener: this,
    });
    const { store } = this.#watched.kind;
    this.#report = new ImportReport({
      env,
      events,
      turn,
      wrote: (written, before) => store.wroteStatus(written, before),
    });
    this.#derivation = new ImportDerivation({
      env,
      watched: this.#watched.kind,
      parties: this.#parties,
      report: this.#report,
    });
    const isOurs = (object: KubeObject): boolean => importOf(object) !== undefined;
    this.#controller = new DerivationController({
      ...deriving(env, { name: 'imports', turn: TURN, isOurs, stores: { serviceimports: store } }),
      derivation: this.#derivation,
      gathering: { quietMs: tuning.importGatherMs },
    });
  }

  join(party: ImportParty): void {
    this.#parties.join(party);
    this.addAll();
  }

  async leave(cluster: string): Promise<void> {
    if (!this.#parties.leave(cluster)) return;
    this.#parties.identify();
    await this.#controller.interrupt(new Error('a cluster takes part no longer'));
  }

  add(key: string): void {
    this.#controller.add(key);
  }

  addAll(): void {
    this.#parties.identify();
    this.#controller.addAll();
  }

  /** Reconciles the ServiceImports that a cluster is part of. */
  addOf(cluster: string): void {
    for (const key of this.partsOf(cluster)) this.add(key);
  }

  partsOf(cluster: string): ReadonlySet<string> {
    return this.#derivation.partsOf(cluster);
  }

  underWayOf(cluster: string): readonly string[] {
    return this.#controller.underWay(({ sources = [] }) =>
      sources.some(({ exporter }) => targetOf(exporter)?.link.cluster === cluster),
    );
  }

  endingOf(cluster: string): readonly string[] {
    return [...this.partsOf(cluster)].filter((key) => {
      const { namespace, name } = splitKey(key);
      const live = this.#watched.kind.store.get(key);
      return !this.#watched.isRefusedIn(namespace) && (live === undefined || isOfImport(name, live));
    });
  }

  keptOf(cluster: string): readonly string[] {
    return [...this.partsOf(cluster)].filter((key) => this.#watched.isRefusedIn(splitKey(key).namespace));
  }

  /**
   * Reconciles the keys of a namespace in the source cluster. Called when the namespace was created or deleted, or when
   * the right to read it has changed. Does nothing if the namespace is missing now.
   */
  namespaceChanged(namespace: string, state: SourceNamespaceState): void {
    if (state === 'missing') return;
    for (const key of this.#controller.keys()) if (splitKey(key).namespace === namespace) this.add(key);
  }

  /** Reconciles until the signal aborts. Resolves when the reconciles under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe = this.#options.env.source.subscribeImports((key) => this.add(key));
    await Promise.all([this.#watched.kind.run(signal), this.#controller.run(signal)]);
    unsubscribe();
    this.#report.forget();
    await this.#controller.forget();
  }

  /**
   * Resolves when no key waits for a worker or is being reconciled. If a request to reconcile all keys is still held
   * back to be merged with later ones (runtime/gathering.ts), that request is carried out at once.
   */
  idle(): Promise<void> {
    return this.#controller.idle();
  }

  stateChanged(): void {
    const { env } = this.#options;
    if (this.#watched.kind.isMissing && !this.#isMissingReported) {
      this.#isMissingReported = true;
      const message =
        'ServiceImports are not served here, so that the MCS API is left alone; `linkspan crds --mcs` prints its CRDs';
      env.log.info({ controller: 'imports' }, message);
    }
    if (this.#watched.isReadable) {
      this.#parties.read();
      env.source.watchDerived();
      this.#options.listener?.moreReadable();
    }
    this.addAll();
  }
}

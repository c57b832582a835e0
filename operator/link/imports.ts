/**
 * The controller of ServiceImports (rules K1 to K5): one reconcile for each namespace and name covers all clusters. The
 * cluster itself and the sessions of Links take part, and say what is known of their exports. Nobody else writes here, so
 * that no Lease of a Link is needed.
 */
import { derivedName } from '../../crds/mcs/derived-name.ts';
import { Default, Label } from '../../crds/wire.ts';
import { RETRY_BACKOFF } from '../kube/backoff.ts';
import { describe, isInvalid } from '../kube/errors.ts';
import { ENDPOINT_SLICES, keyOf, SERVICES, splitKey } from '../kube/objects.ts';
import { decideImport, type ImportDecision } from '../mcs/decide.ts';
import { isMember, isOfImport, type Standing } from '../mcs/membership.ts';
import { SERVICE_IMPORTS } from '../mcs/objects.ts';
import {
  type Exporter,
  type LocalExporter,
  type ObservedImport,
  targetOf,
  type TargetExporter,
} from '../mcs/observed.ts';
import { WatchedImports } from '../mcs/watched.ts';
import { type Pass, type Step, takeStep } from '../mirror/pass.ts';
import type { Refusal } from '../mirror/reasons.ts';
import { Applier } from '../runtime/applier.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import { importedClusters, importOf } from '../source/owner.ts';
import type { SharedEnvironment } from './environment.ts';
import { importIds, type ImportIds } from './import-ids.ts';
import { ImportReport, merged } from './import-report.ts';
import { namespaceStateOf } from './namespaces.ts';
import type { Exporting, ImportParty, ServiceImports } from './participants.ts';

/** Time until a name that a foreign object has is tried again. */
const CONFLICT_RETRY_MS = 30_000;

/**
 * Time for which a cluster that has just begun to be read is about to be known: what is said of all clusters is not written
 * anew for its sake.
 */
const SETTLE_MS = 10_000;

/** The writes of ServiceImports take turns with those of the mirrors of each cluster, under a name of no cluster. */
const TURN = '!mcs';

/** Most pods of one headless Service that get Services: rendering them must not hold up what others wait for (rule E10). */
const MAX_PODS = 500;

export interface ImportsOptions {
  readonly env: SharedEnvironment;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly local: Exporting<LocalExporter>;
  /** Whether a Link names a cluster, or it is not known yet that none does: what there is of it stays. */
  readonly mayHaveLink: (cluster: string) => boolean;
  /** Clusters whose exports count, by their Links, with a session or without. */
  readonly exporting: () => Iterable<string>;
}

export class Imports implements ServiceImports {
  readonly #options: ImportsOptions;
  readonly #controller: Controller;
  readonly #applier: Applier;
  readonly #watched: WatchedImports;
  readonly #report: ImportReport;
  readonly #parties = new Map<string, ImportParty>();
  /** Keys of which the API server refused the former addresses for the derived Service: others have them. */
  readonly #taken = new Set<string>();
  readonly #beganMs = performance.now();
  #ids: ImportIds | undefined;
  /** Whether exports are read: ServiceImports can be, or could at some time since the start. */
  #isOpen = false;
  #isMissingReported = false;
  /** Ends the reconciles; undefined before they begin. */
  #stop: AbortSignal | undefined;

  constructor(options: ImportsOptions) {
    const { env, events } = options;
    const { source, client, config, tuning, log } = env;
    const turn = <T>(signal: AbortSignal, execute: () => Promise<T>): Promise<T> =>
      env.writes.run(TURN, signal, execute);
    this.#options = options;
    this.#watched = new WatchedImports({
      client,
      partitions: config.mirrorNamespaces ?? [undefined],
      timings: tuning.sourceTimings,
      interruptions: env.interruptions,
      log,
      onChange: (key) => this.add(key),
      onState: () => this.#stateChanged(),
    });
    const { store } = this.#watched.kind;
    this.#report = new ImportReport({ env, events, turn, wrote: (written, before) => store.wrote(written, before) });
    this.#controller = new Controller({
      name: 'imports',
      reconcile: (key, signal) => this.#reconcile(key, signal),
      concurrency: config.concurrency,
      metrics: env.metrics,
      log,
      backoff: tuning.retryBackoff ?? RETRY_BACKOFF,
    });
    this.#applier = new Applier({
      client,
      turn,
      stores: {
        services: source.services,
        endpointslices: source.slices,
        serviceimports: store,
      },
      isOurs: (object) => importOf(object) !== undefined,
      mayWrite: env.mayWrite,
    });
  }

  join(party: ImportParty): void {
    if (this.#parties.has(party.cluster)) throw new Error(`cluster ${party.cluster} already takes part in imports`);
    this.#parties.set(party.cluster, party);
    if (this.#isOpen) party.read();
    this.addAll();
  }

  leave(cluster: string): void {
    if (this.#parties.delete(cluster)) this.addAll();
  }

  add(key: string): void {
    this.#controller.add(key);
  }

  addAll(): void {
    this.#ids = undefined;
    // Nothing is reconciled any more.
    if (this.#stop?.aborted === true) return;
    for (const key of this.#keys()) this.add(key);
  }

  partsOf(cluster: string): ReadonlySet<string> {
    const id = this.#identity.targets.get(cluster) ?? cluster;
    return new Set([...this.#options.env.source.importsFrom(cluster), ...this.#watched.namedBy(id)]);
  }

  endingOf(cluster: string): readonly string[] {
    return [...this.partsOf(cluster)].filter((key) => this.#watched.isReadableIn(splitKey(key).namespace));
  }

  /** Handles a namespace of the source cluster that was created or deleted, or whose access changed. */
  namespaceChanged(namespace: string, state: SourceNamespaceState): void {
    if (state === 'missing') return;
    for (const key of this.#keys()) if (splitKey(key).namespace === namespace) this.add(key);
  }

  /** Reconciles until the signal aborts and the reconciles under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stop = signal;
    const unsubscribe = this.#options.env.source.subscribeImports((key) => this.add(key));
    await Promise.all([this.#watched.kind.run(signal), this.#controller.run(signal)]);
    unsubscribe();
    this.#report.forget();
    await this.#controller.forget();
  }

  /** Resolves when no key waits for a worker or is being reconciled. */
  idle(): Promise<void> {
    return this.#controller.idle();
  }

  get #identity(): ImportIds {
    const { local, exporting } = this.#options;
    const silent = [...exporting()].filter((cluster) => !this.#parties.has(cluster));
    return (this.#ids ??= importIds(local.claimedId, [...this.#parties.values()], silent));
  }

  /** Returns all keys that may need work. */
  #keys(): ReadonlySet<string> {
    const { env, local } = this.#options;
    const exporters = [local, ...this.#parties.values()];
    const imports = [...this.#watched.kind.store.values()].map(keyOf);
    return new Set([...imports, ...env.source.imports(), ...exporters.flatMap((each) => [...each.keys()])]);
  }

  /** ServiceImports were listed anew, or can be read, or not any more. */
  #stateChanged(): void {
    const { env, local } = this.#options;
    if (this.#watched.kind.isMissing && !this.#isMissingReported) {
      this.#isMissingReported = true;
      const message =
        'ServiceImports are not served here, so that the MCS API is left alone; `linkspan crds --mcs` prints its CRDs';
      env.log.info({ controller: 'imports' }, message);
    }
    if (!this.#isOpen && this.#watched.isReadable) {
      this.#isOpen = true;
      for (const each of [local, ...this.#parties.values()]) each.read();
    }
    this.addAll();
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { env } = this.#options;
    const { conflictRetryMs = CONFLICT_RETRY_MS } = env.tuning;
    const observed = this.#observe(key);
    const decision = decideImport(observed);
    const { isPartial, isBlocked } = decision.manifests;
    const steps = stepsOf(observed, decision);
    const context = { applier: this.#applier, conflictRetryMs, foreignObject };
    const pass = await takeStep({ steps, isPartial, isBlocked }, context, signal);
    if (pass.namespaceInDoubt) env.source.recheck(observed.namespace);
    this.#report.wrote(key, pass.done);
    for (const { of, object } of pass.done) if (of === SERVICES) env.mirrorChanged?.(keyOf(object));
    if (signal.aborted) return { again: true };
    if (this.#isAddressRefused(key, observed, pass)) return { again: true };
    if (pass.again) return pass;
    const reported = await this.#reportOn(key, observed, decision, pass, signal);
    this.#forgetAnswers(key, observed);
    return merged([pass, reported]);
  }

  /** What there is of a ServiceImport. */
  #standing(key: string): Standing {
    const { source } = this.#options.env;
    const { namespace, name } = splitKey(key);
    const { services, slices } = source.import(key);
    return {
      name,
      live: this.#watched.kind.store.get(key),
      derived: source.services.get(`${namespace}/${derivedName(name)}`),
      podServices: services.filter(({ metadata }) => metadata.labels?.[Label.importedPod] !== undefined),
      imported: slices,
    };
  }

  #observe(key: string): ObservedImport {
    const { env, local } = this.#options;
    const { source, config } = env;
    const { namespace, name } = splitKey(key);
    const ids = this.#identity;
    const standing = this.#standing(key);
    const { derived, podServices, imported } = standing;
    if (derived !== undefined && isOfImport(name, derived)) this.#taken.delete(key);
    const common = {
      ...standing,
      namespace,
      namespaceState: namespaceStateOf(namespace, env),
      families: [...env.families],
      isReadable: this.#watched.isReadableIn(namespace),
      isForeign: (service: string) => {
        const object = source.services.get(`${namespace}/${service}`);
        return object !== undefined && importOf(object) !== key;
      },
      maxPods: Math.min(config.maxEndpointMirrors, MAX_PODS),
      isAddressTaken: this.#taken.has(key),
    };
    const certain = <P extends Exporter>(exporter: P, from: Exporting<LocalExporter>): P => {
      const isLeaving = hasLeft(exporter) && isMember(standing, exporter);
      return isLeaving && !from.confirmsNoExport(key) ? { ...exporter, isKnown: false } : exporter;
    };
    const targets = [...this.#parties.values()].map((party) =>
      certain<TargetExporter>({ ...party.observe(key), id: ids.targets.get(party.cluster) }, party),
    );
    const objects = [...(derived === undefined ? [] : [derived]), ...podServices, ...imported];
    const having = objects.flatMap(importedClusters);
    return {
      ...common,
      local: certain<LocalExporter>({ ...local.observe(key), id: ids.local }, local),
      targets: [...targets, ...this.#silent(having).map(silentExporter)],
    };
  }

  /** Clusters that have a Link, or, of those that have a part, may have one, and no session. */
  #silent(having: readonly string[]): readonly string[] {
    const { mayHaveLink, exporting } = this.#options;
    return [...new Set([...having.filter(mayHaveLink), ...exporting()])].filter(
      (cluster) => !this.#parties.has(cluster),
    );
  }

  /** Forgets the answers by which parts have ended: the next that ends needs another. */
  #forgetAnswers(key: string, { local, targets }: ObservedImport): void {
    const standing = this.#standing(key);
    for (const each of [local, ...targets].filter(hasLeft))
      if (!isMember(standing, each)) this.#exporting(each)?.forgetAnswer(key);
  }

  /** Who says what a cluster exports; undefined if it has no session. */
  #exporting(exporter: Exporter): Exporting<LocalExporter> | undefined {
    const target = targetOf(exporter);
    return target === undefined ? this.#options.local : this.#parties.get(target.link.cluster);
  }

  /** Notes that the API server gives the addresses of a ServiceImport to no other derived Service. */
  #isAddressRefused(key: string, { isAddressTaken, live }: ObservedImport, { errors }: Pass): boolean {
    const isRefused = errors.some((error) => isInvalid(error) && error.message.includes('spec.clusterIP'));
    if (!isRefused || isAddressTaken || live?.spec?.ips === undefined) return false;
    this.#options.env.log.warn(
      { controller: 'imports', service: key, addresses: live.spec.ips, error: describe(errors[0]) },
      'the addresses of a ServiceImport are taken; it gets others',
    );
    this.#taken.add(key);
    return true;
  }

  #reportOn(
    key: string,
    observed: ObservedImport,
    decision: ImportDecision,
    { refusals: [refusal], errors: [error] }: Pass,
    signal: AbortSignal,
  ): Promise<Outcome> | Outcome {
    const { name, namespace, local, live: before } = observed;
    const foreign = before === undefined || isOfImport(name, before) ? undefined : before;
    if (foreign !== undefined && decision.manifests.isBlocked) {
      const text = `ServiceImport ${namespace}/${name} is not ours: it has no label ${Label.serviceImport}, and is left alone. Delete it to have the Service imported`;
      this.#report.say(key, text, { ...foreign, kind: SERVICE_IMPORTS.kind });
    } else {
      const object = local.serviceExport && { ...local.serviceExport, kind: 'ServiceExport' };
      this.#report.say(key, refusal?.message ?? (error === undefined ? undefined : describe(error)), object);
    }
    if (error !== undefined) return {};
    const now = this.#watched.kind.store.get(key);
    const live = now !== undefined && isOfImport(name, now) ? now : undefined;
    const awaited = this.#awaited(observed);
    const waitMs = Math.max(0, ...[...awaited.values()]);
    const waits = {
      ofExport: waitMs > 0,
      ofImport: (decision.sources ?? []).some(({ exporter }) => (awaited.get(exporter) ?? 0) > 0),
    };
    const reported = this.#report.report(key, { decision, live, serviceExport: local.serviceExport, waits }, signal);
    return reported.then((outcome) => merged([outcome, waitMs > 0 ? { requeueAfterMs: waitMs } : {}]));
  }

  /** How long each cluster that is not known is given to be known, in milliseconds. */
  #awaited({ local, targets }: ObservedImport): ReadonlyMap<Exporter, number> {
    const { env } = this.#options;
    const settleMs = env.tuning.importSettleMs ?? SETTLE_MS;
    const leftMs = (sinceMs: number): number => sinceMs + settleMs - performance.now();
    const unknown = [local, ...targets].filter(({ id, isKnown }) => id === undefined || !isKnown);
    return new Map(unknown.map((each) => [each, leftMs(this.#exporting(each)?.sinceMs ?? this.#beganMs)]));
  }
}

/** The objects of a ServiceImport, in the order in which they are written: it is there once it can be reached. */
function stepsOf(observed: ObservedImport, { manifests }: ImportDecision): readonly Step[] {
  const { name, live, derived, podServices, imported } = observed;
  const own = <T extends Parameters<typeof isOfImport>[1]>(object: T | undefined): readonly T[] =>
    object !== undefined && isOfImport(name, object) ? [object] : [];
  return [
    {
      desired: manifests.services,
      owned: [...own(derived), ...podServices].map((object) => ({ of: SERVICES, object })),
    },
    { desired: manifests.endpoints, owned: imported.map((object) => ({ of: ENDPOINT_SLICES, object })) },
    { desired: manifests.imports, owned: own(live).map((object) => ({ of: SERVICE_IMPORTS, object })) },
  ];
}

/** Whether a cluster is known to have no export. */
const hasLeft = ({ isKnown, serviceExport }: Exporter): boolean => isKnown && serviceExport === undefined;

/** A cluster that has a Link, or may have one, and no session that takes part. */
export const silentExporter = (cluster: string): TargetExporter => ({
  id: undefined,
  isKnown: false,
  slices: undefined,
  link: { cluster, clusterDomain: Default.clusterDomain },
  mode: 'gateway',
  anyReady: undefined,
  isAdmitted: true,
});

const foreignObject = (kind: string, name: string): Refusal => ({
  reason: 'NameConflict',
  message: `${kind} ${name} exists and is not derived from a ServiceImport; it is left alone. Rename or delete it`,
});

/**
 * The controller of ServiceImports (rules K1 to K5): one reconcile for each namespace and name covers all clusters. The
 * cluster itself and the sessions of Links take part, and say what is known of their exports. Nobody else writes here, so
 * that no Lease of a Link is needed.
 */
import { derivedName } from '../../crds/mcs/derived-name.ts';
import { Label } from '../../crds/wire.ts';
import { RETRY_BACKOFF } from '../kube/backoff.ts';
import { describe, isConflict, isInvalid } from '../kube/errors.ts';
import { ENDPOINT_SLICES, keyOf, SERVICES, splitKey } from '../kube/objects.ts';
import { decideImport, type ImportDecision } from '../mcs/decide.ts';
import { derivedAddresses, isOfImport, type Standing } from '../mcs/membership.ts';
import { SERVICE_IMPORTS } from '../mcs/objects.ts';
import type { ObservedImport } from '../mcs/observed.ts';
import { WatchedImports } from '../mcs/watched.ts';
import { type Pass, type PassTexts, type Step, takeStep } from '../mirror/pass.ts';
import { contestedObject, type Refusal } from '../mirror/reasons.ts';
import { Applier } from '../runtime/applier.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import { UnderWay } from '../runtime/under-way.ts';
import { importOf } from '../source/owner.ts';
import { SERVICE_EXPORTS } from '../target/mcs-objects.ts';
import type { SharedEnvironment } from './environment.ts';
import { ImportParties, type ImportPartiesOptions, type ObservedExports } from './import-parties.ts';
import { ImportReport, merged } from './import-report.ts';
import { namespaceStateOf } from './namespaces.ts';
import type { ImportParty, ServiceImports } from './participants.ts';

/** Time until a name that a foreign object has is tried again. */
const CONFLICT_RETRY_MS = 30_000;

/** The writes of ServiceImports take turns with those of the mirrors of each cluster, under a name of no cluster. */
const TURN = '!mcs';

/** Most pods of one headless Service that get Services: rendering them must not hold up what others wait for (rule E10). */
const MAX_PODS = 500;

export interface ImportsOptions extends Omit<ImportPartiesOptions, 'settleMs'> {
  readonly env: SharedEnvironment;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Called when more ServiceImports may be readable than before: what stayed for want of that may go. */
  readonly onReadable?: () => void;
}

export class Imports implements ServiceImports {
  readonly #options: ImportsOptions;
  readonly #controller: Controller;
  readonly #applier: Applier;
  readonly #watched: WatchedImports;
  readonly #report: ImportReport;
  readonly #parties: ImportParties;
  /** Keys of which the API server refused the former addresses for the derived Service: others have them. */
  readonly #taken = new Set<string>();
  /** The reconciles: what was decided while a cluster took part that has left is ended. */
  readonly #underWay = new UnderWay();
  #isMissingReported = false;
  /** Ends the reconciles; undefined before they begin. */
  #stop: AbortSignal | undefined;

  constructor(options: ImportsOptions) {
    const { env, events } = options;
    const { source, client, config, tuning, log } = env;
    const turn = <T>(signal: AbortSignal, execute: () => Promise<T>): Promise<T> =>
      env.writes.run(TURN, signal, execute);
    this.#options = options;
    this.#parties = new ImportParties({ ...options, settleMs: tuning.importSettleMs });
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
      reconcile: (key, signal) => this.#underWay.run((interrupted) => this.#reconcile(key, signal, interrupted)),
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
    this.#parties.join(party);
    this.addAll();
  }

  async leave(cluster: string): Promise<void> {
    if (!this.#parties.leave(cluster)) return;
    const ended = this.#underWay.interrupt(new Error('a cluster takes part no longer'));
    this.addAll();
    await ended;
  }

  add(key: string): void {
    this.#controller.add(key);
  }

  addAll(): void {
    this.#parties.identify();
    // Nothing is reconciled any more.
    if (this.#stop?.aborted === true) return;
    for (const key of this.#keys()) this.add(key);
  }

  partsOf(cluster: string): ReadonlySet<string> {
    const named = this.#watched.namedBy(this.#parties.idOf(cluster));
    return new Set([...this.#options.env.source.importsFrom(cluster), ...named]);
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

  /** Returns all keys that may need work. */
  #keys(): ReadonlySet<string> {
    const imports = [...this.#watched.kind.store.values()].map(keyOf);
    return new Set([...imports, ...this.#options.env.source.imports(), ...this.#parties.keys()]);
  }

  /** ServiceImports were listed anew, or can be read, or not any more. */
  #stateChanged(): void {
    const { env } = this.#options;
    if (this.#watched.kind.isMissing && !this.#isMissingReported) {
      this.#isMissingReported = true;
      const message =
        'ServiceImports are not served here, so that the MCS API is left alone; `linkspan crds --mcs` prints its CRDs';
      env.log.info({ controller: 'imports' }, message);
    }
    if (this.#watched.isReadable) {
      this.#parties.read();
      this.#options.onReadable?.();
    }
    this.addAll();
  }

  async #reconcile(key: string, stop: AbortSignal, interrupted: AbortSignal): Promise<Outcome> {
    const signal = AbortSignal.any([stop, interrupted]);
    const { env } = this.#options;
    const { conflictRetryMs = CONFLICT_RETRY_MS } = env.tuning;
    const standing = this.#standing(key);
    const exports = this.#parties.observe(key, standing);
    const observed = this.#observe(key, standing, exports);
    const decision = decideImport(observed);
    const { isPartial, isBlocked } = decision.manifests;
    const steps = stepsOf(observed, decision);
    const context = { applier: this.#applier, conflictRetryMs, texts: TEXTS };
    const pass = await takeStep({ steps, isPartial, isBlocked }, context, signal);
    if (pass.namespaceInDoubt) env.source.recheck(observed.namespace);
    this.#report.wrote(key, pass.done);
    for (const { of, object } of pass.done) if (of === SERVICES) env.mirrorChanged?.(keyOf(object));
    if (signal.aborted) return { again: true };
    if (this.#isAddressRefused(key, observed, pass)) return { again: true };
    if (pass.again) return pass;
    const reported = await this.#reportOn(key, exports, decision, pass, signal);
    this.#parties.forgetAnswers(key, exports, this.#standing(key));
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

  #observe(key: string, standing: Standing, { local, targets }: ObservedExports): ObservedImport {
    const { env } = this.#options;
    const { source, config } = env;
    const { namespace } = splitKey(key);
    if (derivedAddresses(standing).length > 0) this.#taken.delete(key);
    return {
      ...standing,
      namespace,
      namespaceState: namespaceStateOf(namespace, env),
      families: [...env.families],
      local,
      targets,
      isReadable: this.#watched.isReadableIn(namespace),
      isForeign: (service: string) => {
        const object = source.services.get(`${namespace}/${service}`);
        return object !== undefined && importOf(object) !== key;
      },
      maxPods: Math.min(config.maxEndpointMirrors, MAX_PODS),
      isAddressTaken: this.#taken.has(key),
    };
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

  /** Says what is in the way; if nothing failed, writes the statuses. */
  async #reportOn(
    key: string,
    exports: ObservedExports,
    decision: ImportDecision,
    { refusals, errors }: Pass,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { serviceExport } = exports.local;
    const live = this.#watched.kind.store.get(key);
    const isForeign = live !== undefined && !isOfImport(live.metadata.name, live);
    // A conflict says no more than that the view was old.
    const error = errors.find((each) => !isConflict(each));
    const failure = error === undefined ? undefined : ({ reason: 'Error', message: describe(error) } as const);
    if (isForeign && decision.manifests.isBlocked) {
      this.#report.say(key, foreignImport(key), { ...live, kind: SERVICE_IMPORTS.kind });
    } else {
      const object = serviceExport && { ...serviceExport, kind: SERVICE_EXPORTS.kind };
      this.#report.say(key, refusals[0] ?? failure, object);
    }
    if (errors.length > 0) return {};
    const awaited = this.#parties.awaited(exports);
    const waitMs = Math.max(0, ...awaited.values());
    const waits = {
      conflict: waitMs > 0 || exports.isUnconfirmed,
      ofImport: (decision.sources ?? []).some(({ exporter }) => (awaited.get(exporter) ?? 0) > 0),
    };
    const findings = { decision, live: isForeign ? undefined : live, serviceExport, waits };
    const reported = await this.#report.report(key, findings, signal);
    return merged([reported, waitMs > 0 ? { requeueAfterMs: waitMs } : {}]);
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

const foreignImport = (key: string): Refusal => ({
  reason: 'NameConflict',
  message: `ServiceImport ${key} is not ours: it has no label ${Label.serviceImport}, and is left alone. Delete it to have the Service imported`,
});

const TEXTS: PassTexts<Refusal> = {
  foreign: (kind, name) => ({
    reason: 'NameConflict',
    message: `${kind} ${name} exists and is not derived from a ServiceImport; it is left alone. Rename or delete it`,
  }),
  contested: contestedObject,
  vanished: (namespace) => ({
    reason: 'MissingNamespace',
    message: `namespace ${namespace} does not exist in this cluster, or is being deleted`,
  }),
};

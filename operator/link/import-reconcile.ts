/**
 * One reconcile of a ServiceImport (rules K1 to K5): what there is of it and what all clusters export is observed once, one
 * step is taken towards what it must be, and what came of it is reported.
 */
import { derivedName } from '../../crds/mcs/derived-name.ts';
import { Label } from '../../crds/wire.ts';
import { describe, isConflict, isInvalid } from '../kube/errors.ts';
import { ENDPOINT_SLICES, keyOf, SERVICES, splitKey } from '../kube/objects.ts';
import { decideImport, type ImportDecision } from '../mcs/decide.ts';
import { derivedAddresses, isOfImport, type Standing } from '../mcs/membership.ts';
import { SERVICE_IMPORTS } from '../mcs/objects.ts';
import type { ObservedImport } from '../mcs/observed.ts';
import type { WatchedImports } from '../mcs/watched.ts';
import { type Pass, type PassTexts, type Step, takeStep } from '../mirror/pass.ts';
import { contestedObject, type Refusal } from '../mirror/reasons.ts';
import { Applier } from '../runtime/applier.ts';
import type { Outcome } from '../runtime/controller.ts';
import { importOf } from '../source/owner.ts';
import { SERVICE_EXPORTS } from '../target/mcs-objects.ts';
import type { SharedEnvironment } from './environment.ts';
import type { ImportParties, ObservedExports } from './import-parties.ts';
import { type ImportReport, merged } from './import-report.ts';
import { namespaceStateOf } from './namespaces.ts';

/** Time until a name that a foreign object has is tried again. */
const CONFLICT_RETRY_MS = 30_000;

/** Longest time for which the addresses of a Service that is gone are still taken, in milliseconds. */
const RELEASE_MS = 2_000;
/** Time until they are asked for again, in milliseconds. */
const RELEASE_RETRY_MS = 100;

/** Most pods of one headless Service that get Services: rendering them must not hold up what others wait for (rule E10). */
const MAX_PODS = 500;

export interface ImportReconcileOptions {
  readonly env: SharedEnvironment;
  readonly watched: WatchedImports;
  readonly parties: ImportParties;
  readonly report: ImportReport;
  /** Waits for the turn of a write, and makes it. */
  readonly turn: <T>(signal: AbortSignal, execute: () => Promise<T>) => Promise<T>;
}

export class ImportReconcile {
  readonly #options: ImportReconcileOptions;
  readonly #applier: Applier;
  /** Keys of which the API server refused the former addresses for the derived Service: others have them. */
  readonly #taken = new Set<string>();
  /** Since when it has refused them; others have them after a while. */
  readonly #refusedMs = new Map<string, number>();

  constructor(options: ImportReconcileOptions) {
    const { env, watched, turn } = options;
    const { source, client } = env;
    this.#options = options;
    this.#applier = new Applier({
      client,
      turn,
      stores: {
        services: source.services,
        endpointslices: source.slices,
        serviceimports: watched.kind.store,
      },
      isOurs: (object) => importOf(object) !== undefined,
      mayWrite: env.mayWrite,
    });
  }

  /** Reconciles one key. */
  async run(key: string, signal: AbortSignal): Promise<Outcome> {
    const { env, parties, report } = this.#options;
    const { conflictRetryMs = CONFLICT_RETRY_MS } = env.tuning;
    const standing = this.#standing(key);
    const exports = parties.observe(key, standing);
    const observed = this.#observe(key, standing, exports);
    const decision = decideImport(observed);
    const { isPartial, isBlocked } = decision.manifests;
    const steps = stepsOf(observed, decision);
    const context = { applier: this.#applier, conflictRetryMs, texts: TEXTS };
    const pass = await takeStep({ steps, isPartial, isBlocked }, context, signal);
    if (pass.namespaceInDoubt) env.source.recheck(observed.namespace);
    report.wrote(key, pass.done);
    for (const { of, object } of pass.done) if (of === SERVICES) env.mirrorChanged?.(keyOf(object));
    if (signal.aborted) return { again: true };
    const refused = this.#whenRefused(key, observed, pass);
    if (refused !== undefined) return refused;
    if (pass.again) return pass;
    const reported = await this.#reportOn(key, exports, decision, pass, signal);
    parties.forgetAnswers(key, exports, this.#standing(key));
    const departures = exports.targets.flatMap(({ departed }) => [...departed.values()]);
    return merged([pass, reported, ...departures.map((requeueAfterMs) => ({ requeueAfterMs }))]);
  }

  /** What there is of a ServiceImport. */
  #standing(key: string): Standing {
    const { env, watched } = this.#options;
    const { source } = env;
    const { namespace, name } = splitKey(key);
    const { services, slices } = source.import(key);
    return {
      name,
      live: watched.kind.store.get(key),
      derived: source.services.get(`${namespace}/${derivedName(name)}`),
      podServices: services.filter(({ metadata }) => metadata.labels?.[Label.importedPod] !== undefined),
      imported: slices,
    };
  }

  #observe(key: string, standing: Standing, { local, targets }: ObservedExports): ObservedImport {
    const { env, watched } = this.#options;
    const { source, config } = env;
    const { namespace } = splitKey(key);
    if (derivedAddresses(standing).length > 0) {
      this.#taken.delete(key);
      this.#refusedMs.delete(key);
    }
    return {
      ...standing,
      namespace,
      namespaceState: namespaceStateOf(namespace, env),
      families: [...env.families],
      local,
      targets,
      isReadable: watched.isReadableIn(namespace),
      isForeign: (service: string) => {
        const object = source.services.get(`${namespace}/${service}`);
        return object !== undefined && importOf(object) !== key;
      },
      maxPods: Math.min(config.maxEndpointMirrors, config.maxServicePods, MAX_PODS),
      isAddressTaken: this.#taken.has(key),
    };
  }

  /**
   * What to do if the API server refuses the addresses of a ServiceImport to a derived Service that was deleted: ask for them
   * again, as it gives them back a moment after a watch has told of the deletion; then do without, since another has them.
   */
  #whenRefused(key: string, { isAddressTaken, live }: ObservedImport, { errors }: Pass): Outcome | undefined {
    const isRefused = errors.some((error) => isInvalid(error) && error.message.includes('spec.clusterIP'));
    if (!isRefused || isAddressTaken || live?.spec?.ips === undefined) return undefined;
    const sinceMs = this.#refusedMs.get(key) ?? performance.now();
    this.#refusedMs.set(key, sinceMs);
    if (performance.now() - sinceMs < RELEASE_MS) return { requeueAfterMs: RELEASE_RETRY_MS };
    this.#options.env.log.warn(
      { controller: 'imports', service: key, addresses: live.spec.ips, error: describe(errors[0]) },
      'the addresses of a ServiceImport are taken; it gets others',
    );
    this.#taken.add(key);
    return { again: true };
  }

  /** Says what is in the way; if nothing failed, writes the statuses. */
  async #reportOn(
    key: string,
    exports: ObservedExports,
    decision: ImportDecision,
    { refusals, errors }: Pass,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { watched, parties, report } = this.#options;
    const { serviceExport } = exports.local;
    const live = watched.kind.store.get(key);
    const isForeign = live !== undefined && !isOfImport(live.metadata.name, live);
    // A conflict says no more than that the view was old.
    const error = errors.find((each) => !isConflict(each));
    const failure = error === undefined ? undefined : ({ reason: 'Error', message: describe(error) } as const);
    if (isForeign && decision.manifests.isBlocked) {
      report.say(key, foreignImport(key), { ...live, kind: SERVICE_IMPORTS.kind });
    } else {
      const object = serviceExport && { ...serviceExport, kind: SERVICE_EXPORTS.kind };
      report.say(key, refusals[0] ?? failure, object);
    }
    if (errors.length > 0) return {};
    const awaited = parties.awaited(exports);
    const waitMs = Math.max(0, ...awaited.values());
    const waits = {
      conflict: waitMs > 0 || exports.isUnconfirmed,
      ofImport: (decision.sources ?? []).some(({ exporter }) => (awaited.get(exporter) ?? 0) > 0),
    };
    const findings = { decision, live: isForeign ? undefined : live, serviceExport, waits };
    const reported = await report.report(key, findings, signal);
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

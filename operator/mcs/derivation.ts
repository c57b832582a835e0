/**
 * The derivation of ServiceImports (rules K1 to K5). A key is the `namespace/name` that the exports have in all
 * clusters. The derivation observes the objects of a ServiceImport and the exports of all clusters, and reports the
 * status of the ServiceImport and of the local ServiceExport.
 */
import { derivedName } from '../../crds/mcs/derived-name.ts';
import { Annotation, Label } from '../../crds/wire.ts';
import { ApiError, describe, isConflict, isInvalid, unlessNotFound } from '../kube/errors.ts';
import { ENDPOINT_SLICES, keyOf, SERVICES, splitKey } from '../kube/objects.ts';
import { decideImport, type ImportDecision } from './decide.ts';
import { derivedAddresses, isOfImport, type Standing } from './membership.ts';
import { SERVICE_IMPORTS } from './objects.ts';
import type { ObservedImport } from './observed.ts';
import { isInDoubt, namedOperator, operatorOf } from './operators.ts';
import type { ServiceImport } from './objects.ts';
import type { Goal, Step } from '../runtime/pass.ts';
import type { PassTexts } from '../runtime/tally.ts';
import { addedMetadata, contestedObject, type MirrorPass, refusedName, type Refusal } from '../mirror/reasons.ts';
import type { ForeignSlices } from '../runtime/plan.ts';
import type { ReadKind } from '../runtime/optional-kind.ts';
import type { Derivation, Why } from '../runtime/derivation.ts';
import { merged, type Outcome, soonest } from '../runtime/outcome.ts';
import { importOf } from '../source/owner.ts';
import { SERVICE_EXPORTS } from '../target/read/mcs-objects.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import type { SourceStores } from '../source/stores.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ImportParties, ObservedExports } from './parties.ts';
import type { ImportReport } from './report.ts';
import { namespaceStateOf, operatorsOf } from '../source/write-scope.ts';

/** Time between two checks of whether the namespace of another operator still exists, in milliseconds. */
const LOOK_MS = 60_000;

/**
 * How long the controller waits before it again reconciles a ServiceImport that another operator might have taken over,
 * in milliseconds. By then, the watch should show whether the other operator has taken it over.
 */
const STALE_RETRY_MS = 1_000;

/**
 * How long a derived Service can name a different operator than its ServiceImport does before the API server is asked
 * for the ServiceImport, in milliseconds. If two operators create a ServiceImport at the same time, it should be
 * decided by then which of them serves it.
 */
const DOUBT_MS = 2_000;

/**
 * Age from which the recorded order of exports (precedence.ts) applies to a ServiceImport, in milliseconds: exports
 * that appear later come after the recorded ones. By then, all clusters that can be read should have been read.
 */
const SETTLED_MS = 60_000;

/**
 * Time for which the addresses of a deleted Service are requested again after the first refusal, in milliseconds. An
 * API server should have freed them by then.
 */
const RELEASE_MS = 2_000;
/** Time between two attempts to get the addresses of a deleted Service back, in milliseconds. */
const RELEASE_RETRY_MS = 100;

/**
 * Maximum number of pods of one headless Service that get a Service of their own. More pods would take long to render,
 * and other work would wait meanwhile (rule E10).
 */
const MAX_PODS = 500;

export interface ImportDerivationOptions {
  readonly env: Pick<SharedEnvironment, 'config' | 'tuning' | 'families' | 'log'> & {
    readonly client: Pick<KubeClient, 'read'>;
    readonly source: Pick<SourceStores, 'import' | 'imports' | 'importsFrom' | 'services' | 'namespaces'>;
  };
  /** The ServiceImports of the source cluster. */
  readonly watched: Pick<ReadKind<ServiceImport>, 'store' | 'stateIn'>;
  readonly parties: ImportParties;
  readonly report: Pick<ImportReport, 'wrote' | 'leave' | 'say' | 'report'>;
}

/** Observed state of a key, with the exports of all clusters. */
export interface ObservedKey {
  readonly exports: ObservedExports;
  readonly observed: ObservedImport;
  /** Slices that others have made for Services derived from the ServiceImport. */
  readonly foreign: readonly ForeignSlices[] | undefined;
}

export class ImportDerivation implements Derivation<ObservedKey, ImportDecision, Refusal> {
  readonly texts = TEXTS;
  readonly #options: ImportDerivationOptions;
  /** Keys whose derived Service cannot get its former addresses back, because other Services have them. */
  readonly #taken = new Set<string>();
  /** When the API server first refused a derived Service its former addresses, by key, on the monotonic clock. */
  readonly #refusedMs = new Map<string, number>();
  /**
   * When the derived Service was first seen to name a different operator than the ServiceImport does, by key, on the
   * monotonic clock.
   */
  readonly #doubtedMs = new Map<string, number>();

  constructor(options: ImportDerivationOptions) {
    this.#options = options;
  }

  keys(): ReadonlySet<string> {
    const { env, watched, parties } = this.#options;
    return new Set([...[...watched.store.values()].map(keyOf), ...env.source.imports(), ...parties.keys()]);
  }

  /**
   * Returns the keys of the ServiceImports that a target cluster is part of, except those that another operator serves
   * (rule K7).
   */
  partsOf(cluster: string): ReadonlySet<string> {
    const { env, watched, parties } = this.#options;
    // The status names clusters by their ids. The recorded order names clusters by the names in their Links, but can
    // also name clusters that no longer take part. It counts only while the id of the cluster is not known.
    const named = watched.store.by('cluster', parties.idOf(cluster)).map(keyOf);
    const recorded = parties.hasId(cluster) ? [] : watched.store.by('recorded', cluster).map(keyOf);
    return new Set([...env.source.importsFrom(cluster), ...named, ...recorded].filter((key) => !this.#isAnothers(key)));
  }

  #isAnothers(key: string): boolean {
    const { env, watched } = this.#options;
    const { namespace, name } = splitKey(key);
    const derived = env.source.services.get(`${namespace}/${derivedName(name)}`);
    const operators = operatorsOf(env);
    const operator = operatorOf({ name, live: watched.store.get(key), derived }, operators);
    return operator !== undefined && operator !== operators.own;
  }

  why(key: string): Why {
    return { create: `${key} is exported by the MCS API`, delete: `it has no part in the import of ${key} any more` };
  }

  observe(key: string): ObservedKey {
    const standing = this.#standing(key);
    const { env, parties } = this.#options;
    const operators = operatorsOf(env);
    const isOurs = operatorOf(standing, operators) === operators.own && !isForeign(standing);
    const exports = parties.observe(key, standing, isOurs);
    const { foreign } = env.source.import(key);
    return { exports, observed: this.#observe(key, standing, exports), foreign };
  }

  decide({ observed }: ObservedKey): ImportDecision {
    return decideImport(observed);
  }

  async prepare(
    key: string,
    of: ObservedKey,
    decision: ImportDecision,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    if (decision.another !== undefined) return this.#leave(key, of, decision, decision.another);
    if (await this.#isTaken(key, of.observed, signal)) return { requeueAfterMs: STALE_RETRY_MS };
    return (await this.#isRevealed(key, of.observed, decision, signal)) ? { again: true } : undefined;
  }

  goal({ observed, foreign }: ObservedKey, decision: ImportDecision): Goal {
    const { isPartial, isBlocked } = decision.manifests;
    const isWritten = observed.namespaceState === 'exists' && !decision.isLeft;
    return { steps: stepsOf(observed, decision), isPartial, isBlocked, foreign: isWritten ? foreign : undefined };
  }

  wrote(key: string, _: ObservedKey, __: ImportDecision, { done }: MirrorPass): void {
    this.#options.report.wrote(key, done);
  }

  async settled(
    key: string,
    { exports, observed }: ObservedKey,
    decision: ImportDecision,
    pass: MirrorPass,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const refused = this.#whenRefused(key, observed, pass);
    if (refused !== undefined) return refused;
    const reported = await this.#reportOn(key, exports, decision, pass, signal);
    const { env, parties } = this.#options;
    parties.forgetAnswers(key, exports, this.#standing(key));
    const asked = await parties.ask(key, exports, env.log, signal);
    const departures = exports.targets.flatMap(({ departed }) => [...departed.values()]);
    // If the target has yet to confirm that a pod is gone, the objects of the pod have not been removed yet. The key
    // then keeps the backoff of its earlier failures.
    const isPending = departures.includes(Infinity);
    return merged([reported, asked, { isPending, requeueAfterMs: soonest(departures) }]);
  }

  /**
   * Reports whether another operator has taken over, or might have taken over, a ServiceImport that names this operator
   * in the store. A takeover is assumed while the derived Service names another operator. If that lasts for
   * {@link DOUBT_MS}, the API server is asked for the ServiceImport, and a takeover is assumed unless the ServiceImport
   * in the answer names this operator.
   */
  async #isTaken(key: string, observed: ObservedImport, signal: AbortSignal): Promise<boolean> {
    const { name, namespace, namespaceState, isReadable, operators } = observed;
    if (namespaceState !== 'exists' || !isReadable || !isInDoubt(observed, operators)) {
      this.#doubtedMs.delete(key);
      return false;
    }
    const nowMs = performance.now();
    const sinceMs = this.#doubtedMs.get(key) ?? nowMs;
    this.#doubtedMs.set(key, sinceMs);
    if (nowMs < sinceMs + DOUBT_MS) return true;
    const { client } = this.#options.env;
    const live = await client
      .read(SERVICE_IMPORTS, namespace, name, signal)
      .catch((error: unknown) => (signal.aborted ? undefined : unlessNotFound(error)));
    return live === undefined || namedOperator(live) !== operators.own;
  }

  /**
   * Asks the API server for a ServiceImport that the store does not show, and adds the ServiceImport to the store if it
   * exists. The API server is asked only before Services are created for the ServiceImport. The answer to an earlier
   * creation of the ServiceImport may have been lost, and the derived Service must have the addresses that the
   * ServiceImport lists (rule K3).
   * @returns whether the API server was asked, and the store shows the ServiceImport now
   */
  async #isRevealed(
    key: string,
    { name, namespace, namespaceState, isReadable, live, derived }: ObservedImport,
    { isLeft, manifests }: ImportDecision,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (isLeft || namespaceState !== 'exists' || !isReadable) return false;
    if (live !== undefined || derived !== undefined || manifests.services.length === 0) return false;
    const { env, watched } = this.#options;
    const sentMs = performance.now();
    const hidden = await env.client.read(SERVICE_IMPORTS, namespace, name, signal).catch(unlessNotFound);
    if (hidden !== undefined) watched.store.wrote(hidden, undefined, sentMs);
    return watched.store.get(key) !== undefined;
  }

  /**
   * Handles a ServiceImport that another operator serves (rule K7). Neither objects nor statuses are written. If this
   * operator would import the Service too, that is reported.
   */
  #leave(
    key: string,
    { exports, observed: { name, live, derived } }: ObservedKey,
    { resolution }: ImportDecision,
    operator: string,
  ): Outcome {
    const { env, parties, report } = this.#options;
    parties.forgetAnswers(key, exports, this.#standing(key));
    const { serviceExport } = exports.local;
    const object =
      serviceExport === undefined
        ? live && { ...live, kind: SERVICE_IMPORTS.kind }
        : { ...serviceExport, kind: SERVICE_EXPORTS.kind };
    const own = derived !== undefined && isOfImport(name, derived) ? derived : undefined;
    const marked = [live && `serviceimport/${name}`, own && `service/${own.metadata.name}`];
    report.leave(key);
    report.say(key, resolution && servedByAnother(key, operator, env.config.namespace, marked), object);
    return { requeueAfterMs: LOOK_MS };
  }

  /** Returns the existing objects of a ServiceImport. */
  #standing(key: string): Standing {
    const { env, watched } = this.#options;
    const { source } = env;
    const { namespace, name } = splitKey(key);
    const { services, slices } = source.import(key);
    return {
      name,
      live: watched.store.get(key),
      derived: source.services.get(`${namespace}/${derivedName(name)}`),
      podServices: services.filter(({ metadata }) => metadata.labels?.[Label.importedPod] !== undefined),
      imported: slices,
    };
  }

  #observe(key: string, standing: Standing, { local, targets }: ObservedExports): ObservedImport {
    const { env, watched } = this.#options;
    const { source, config, tuning } = env;
    const { namespace } = splitKey(key);
    const madeMs = Date.parse(standing.live?.metadata.creationTimestamp ?? '');
    if (standing.live === undefined || derivedAddresses(standing).length > 0) {
      this.#taken.delete(key);
      this.#refusedMs.delete(key);
    }
    return {
      ...standing,
      namespace,
      namespaceState: namespaceStateOf(namespace, env),
      operators: operatorsOf(env),
      families: [...env.families],
      local,
      targets,
      isReadable: watched.stateIn(namespace) === 'readable',
      isForeign: (service: string) => {
        const object = source.services.get(`${namespace}/${service}`);
        return object !== undefined && importOf(object) !== key;
      },
      maxPods: Math.min(config.maxEndpointMirrors, config.maxServicePods, MAX_PODS),
      isAddressTaken: this.#taken.has(key),
      isSettled: Date.now() - madeMs >= (tuning.importSettledMs ?? SETTLED_MS),
    };
  }

  /**
   * Handles the case that the API server refuses to give a derived Service the addresses that it had before it was
   * deleted. The API server frees the addresses of a deleted Service a moment after the watch shows the deletion. The
   * addresses are therefore requested again for 2 seconds. If the API server still refuses them after that time,
   * another Service has them, and the derived Service gets other addresses. Returns undefined in all other cases.
   */
  #whenRefused(key: string, { isAddressTaken, live }: ObservedImport, { errors }: MirrorPass): Outcome | undefined {
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

  /**
   * Reports why the ServiceImport cannot be written, and writes the statuses. If the API server refused an object, the
   * status of the ServiceImport has the error, unless the decision has a refusal of its own. The statuses are not
   * written if a request got no answer, if the store was behind, or if another operator has taken the ServiceImport
   * over.
   */
  async #reportOn(
    key: string,
    exports: ObservedExports,
    decision: ImportDecision,
    { refusals, errors }: MirrorPass,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { watched, parties, report } = this.#options;
    const { serviceExport } = exports.local;
    const live = watched.store.get(key);
    const isOthers = isForeign({ live });
    // A conflict only means that the store was behind.
    const error = errors.find((each) => !isConflict(each));
    const failure = error === undefined ? undefined : ({ reason: 'Error', message: describe(error) } as const);
    if (live !== undefined && isOthers && decision.manifests.isBlocked) {
      report.say(key, foreignImport(key), { ...live, kind: SERVICE_IMPORTS.kind });
    } else {
      const object = serviceExport && { ...serviceExport, kind: SERVICE_EXPORTS.kind };
      report.say(key, refusals[0] ?? failure, object);
    }
    // If another operator has taken the ServiceImport over after this decision, that operator writes the statuses.
    if (!errors.every(isRefusal) || this.#isAnothers(key)) return {};
    const awaited = parties.awaited(exports);
    const waitMs = Math.max(0, ...awaited.values());
    const waits = {
      conflict: waitMs > 0 || exports.isUnconfirmed,
      ofImport: (decision.sources ?? []).some(({ exporter }) => (awaited.get(exporter) ?? 0) > 0),
    };
    const refusal = decision.refusal ?? (failure && { reason: 'Pending', message: failure.message });
    const findings = { decision: { ...decision, refusal }, live: isOthers ? undefined : live, serviceExport, waits };
    const reported = await report.report(key, findings, signal);
    return merged([reported, waitMs > 0 ? { requeueAfterMs: waitMs } : {}]);
  }
}

/** Reports whether somebody else's ServiceImport has the name. */
const isForeign = ({ live }: Pick<Standing, 'live'>): boolean =>
  live !== undefined && !isOfImport(live.metadata.name, live);

/** Reports whether the API server has refused a write for another reason than a conflict of versions. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && !isConflict(error);

/**
 * Returns the steps in which the objects of a ServiceImport are written: the ServiceImport itself comes last, when its
 * Services and slices exist.
 */
function stepsOf(observed: ObservedImport, { manifests }: ImportDecision): readonly Step[] {
  const { name, live, derived, podServices, imported } = observed;
  const own = <T extends Parameters<typeof isOfImport>[1]>(object: T | undefined): readonly T[] =>
    object !== undefined && isOfImport(name, object) ? [object] : [];
  return [
    {
      desired: manifests.services,
      owned: [{ of: SERVICES, objects: [...own(derived), ...podServices] }],
    },
    { desired: manifests.endpoints, owned: [{ of: ENDPOINT_SLICES, objects: imported }] },
    { desired: manifests.imports, owned: [{ of: SERVICE_IMPORTS, objects: own(live) }] },
  ];
}

const servedByAnother = (
  key: string,
  operator: string,
  own: string,
  marked: readonly (string | undefined)[],
): Refusal => ({
  reason: 'ServedByAnother',
  message: `the operator in namespace ${operator} serves ServiceImport ${key}, and the one in ${own} leaves it alone. If there is none in ${operator} any more, run: kubectl annotate ${marked.filter((each) => each !== undefined).join(' ')} --namespace ${splitKey(key).namespace} ${Annotation.operator}-`,
});

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
  refusedName,
  added: addedMetadata,
  vanished: (namespace) => ({
    reason: 'MissingNamespace',
    message: `namespace ${namespace} does not exist in this cluster, or is being deleted`,
  }),
};

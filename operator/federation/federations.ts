/**
 * The controller of federated Services: one reconcile for each namespace and name covers all clusters (rule I2). Sessions
 * join as parties, which say what is known of their clusters' Services, and get a status for each.
 */
import { federatedName } from '../../crds/wire.ts';
import { decideFederation, type FederationDecision } from './decide.ts';
import { ownedOf } from './desired.ts';
import { listedClusters, membershipOf } from './membership.ts';
import type { LocalParty, ObservedFederation, TargetParty } from './observed.ts';
import { RETRY_BACKOFF } from '../kube/backoff.ts';
import { describe, isConflict } from '../kube/errors.ts';
import { type KubeObject, SERVICES, splitKey } from '../kube/objects.ts';
import type { MirrorPass } from '../mirror/reasons.ts';
import { reconcile } from '../mirror/reconcile.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import { Applier } from '../runtime/applier.ts';
import { Controller, type Outcome } from '../runtime/controller.ts';
import type { MayWrite } from '../runtime/fence.ts';
import { UnderWay } from '../runtime/under-way.ts';
import type { SourceNamespaceState } from '../source/namespaces.ts';
import { federationOf, isFederated } from '../source/owner.ts';
import { type SharedEnvironment, turnOf } from '../served/environment.ts';
import { namespaceStateOf, operatorsOf } from '../source/write-scope.ts';
import type { Federation, FederationParty, Participant } from './party.ts';

/** Time until a name that a foreign object has is tried again. */
const CONFLICT_RETRY_MS = 30_000;

const TURN = turnOf('federation');

export interface FederationsOptions {
  readonly env: SharedEnvironment;
  readonly local: Participant<LocalParty>;
  /**
   * Whether a Link names a cluster, or it is not known yet that none does. The memberships of such a cluster stay while no
   * session of it takes part (rule I6).
   */
  readonly mayHaveLink: (cluster: string) => boolean;
  /** Target clusters of all Links that select members, with a session or without (rule I6). */
  readonly selecting: () => Iterable<string>;
}

export class Federations implements Federation {
  readonly #options: FederationsOptions;
  readonly #controller: Controller;
  readonly #applier: Applier;
  readonly #parties = new Map<string, FederationParty>();
  /** Every cluster that has taken part: it is one of this operator's. */
  readonly #met = new Set<string>();
  /** The reconciles: what was decided while a Lease was held that was lost meanwhile, or the other way round, is ended. */
  readonly #underWay = new UnderWay();
  /** Ends the reconciles; undefined before they begin. */
  #stop: AbortSignal | undefined;
  /** Keys that were reported with a status. */
  readonly #reported = new Set<string>();
  /** Keys of which every member has joined. */
  readonly #settled = new Set<string>();

  constructor(options: FederationsOptions) {
    const { env } = options;
    const { source } = env;
    this.#options = options;
    this.#controller = new Controller({
      name: 'federation',
      reconcile: (key, signal) => this.#underWay.run((interrupted) => this.#reconcile(key, signal, interrupted)),
      concurrency: env.config.concurrency,
      metrics: env.metrics,
      log: env.log,
      backoff: env.tuning.retryBackoff ?? RETRY_BACKOFF,
      turns: env.tuning.turns,
    });
    this.#applier = new Applier({
      client: env.client,
      turn: (signal, execute) => env.writes.run(TURN, signal, execute),
      stores: source.written,
      isOurs: isOfFederation,
      namespaceUid: (name) => source.namespaces.uidOf(name),
      mayWrite: env.mayWrite,
    });
  }

  join(party: FederationParty): void {
    if (this.#parties.has(party.cluster)) throw new Error(`cluster ${party.cluster} already takes part in federations`);
    this.#parties.set(party.cluster, party);
    this.#met.add(party.cluster);
    for (const key of party.keys()) this.add(key);
  }

  leave(cluster: string): void {
    if (this.#parties.delete(cluster)) void this.interrupt();
  }

  add(key: string): void {
    this.#controller.add(key);
  }

  /** Reconciles all keys: which clusters have Links, or something else that concerns them all, has changed. */
  addAll(): void {
    // Nothing is reconciled any more.
    if (this.#stop?.aborted === true) return;
    for (const key of this.#keys()) this.add(key);
  }

  /** Reconciles the keys that a cluster has a part in: whether it has a Link, or credentials, has changed. */
  addOf(cluster: string): void {
    const { source } = this.#options.env;
    const keys = this.#parties.get(cluster)?.keys() ?? [];
    for (const key of new Set([...source.membershipsOf(cluster), ...keys])) this.add(key);
  }

  /** Returns all keys that may need work. */
  #keys(): ReadonlySet<string> {
    const { env, local } = this.#options;
    const participants = [local, ...this.#parties.values()];
    const keys = participants.flatMap((each) => [...each.keys()]);
    return new Set([...env.source.federations(), ...keys, ...this.#reported]);
  }

  /** Handles a namespace of the source cluster that was created or deleted, or whose access changed. */
  namespaceChanged(namespace: string, state: SourceNamespaceState): void {
    // A namespace that is gone makes room for another.
    const isWaiting = (key: string): boolean => state === 'missing' && !this.#settled.has(key);
    for (const key of this.#keys()) if (splitKey(key).namespace === namespace || isWaiting(key)) this.add(key);
  }

  async interrupt(reason: unknown = new Error('a Lease was acquired or given up')): Promise<void> {
    const ended = this.#underWay.interrupt(reason);
    this.addAll();
    await ended;
  }

  /** Reconciles until the signal aborts and the reconciles under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stop = signal;
    const unsubscribe = this.#options.env.source.subscribeFederations((key) => this.add(key));
    this.addAll();
    await this.#controller.run(signal);
    unsubscribe();
    await this.#controller.forget();
  }

  /** Resolves when no key waits for a worker or is being reconciled. */
  idle(): Promise<void> {
    return this.#controller.idle();
  }

  async #reconcile(key: string, stop: AbortSignal, interrupted: AbortSignal): Promise<Outcome> {
    const signal = AbortSignal.any([stop, interrupted]);
    const { env } = this.#options;
    const { conflictRetryMs = CONFLICT_RETRY_MS } = env.tuning;
    const observed = this.#observe(key);
    const decision = decideFederation(observed);
    const context = { applier: this.#applier.under(this.#fence(observed)), conflictRetryMs };
    // What must stay is desired.
    const owned = decision.isLeft ? { ...ownedOf(observed), foreign: undefined } : ownedOf(observed);
    const pass = await reconcile(decision.manifests, owned, () => false, context, signal);
    if (pass.namespaceInDoubt) env.source.recheck(observed.namespace);
    this.#log(observed, pass, decision.awaited.size > 0);
    if (pass.done.some(({ of }) => of === SERVICES)) {
      env.mirrorChanged?.(`${observed.namespace}/${federatedName(observed.name)}`);
    }
    if (signal.aborted) return { again: true };
    if (!pass.again && pass.errors.length === 0) this.#forgetAnswers(key, observed);
    if (!pass.again && !pass.errors.some(isConflict)) {
      this.#report(key, decision, pass);
    }
    // Whether another holds the Lease of a cluster is found out on the way.
    return decision.awaited.size > 0 ? { ...pass, requeueAfterMs: pass.requeueAfterMs ?? conflictRetryMs } : pass;
  }

  #observe(key: string): ObservedFederation {
    const { env, local, mayHaveLink, selecting } = this.#options;
    const { namespace, name } = splitKey(key);
    const federation = env.source.federation(key);
    const clusters = membershipOf({ name, ...federation })?.clusters ?? new Set();
    const parties = [...this.#parties.values()].map((party): TargetParty => {
      const target = party.observe(key);
      const isLeaving = target.knowledge === 'known' && target.service === undefined && clusters.has(party.cluster);
      return isLeaving && !party.confirmsNoMember(key) ? { ...target, knowledge: 'unknown' } : target;
    });
    const linked = new Set(selecting());
    const listed = [...listedClusters({ name, ...federation })].filter(mayHaveLink);
    const silent = [...new Set([...listed, ...linked])].filter((cluster) => !this.#parties.has(cluster));
    return {
      namespace,
      name,
      namespaceState: namespaceStateOf(namespace, env),
      local: local.observe(key),
      targets: [
        ...parties,
        ...silent.map((each) => ({ ...unknownParty(each), isLinked: linked.has(each) || this.#met.has(each) })),
      ],
      operators: operatorsOf(env),
      ...federation,
    };
  }

  /** Forgets the answers by which memberships have ended: each is good for one attempt. */
  #forgetAnswers(key: string, { targets }: ObservedFederation): void {
    for (const { knowledge, service, link } of targets) {
      if (knowledge === 'known' && service === undefined) this.#parties.get(link.cluster)?.forgetAnswer?.(key);
    }
  }

  /** What the writes of one federated Service need: the Leases of those whose memberships they may change (rule H1). */
  #fence(observed: ObservedFederation): MayWrite {
    const clusters = membershipOf(observed)?.clusters;
    const concerned = observed.targets.flatMap(({ knowledge, service, link: { cluster } }) => {
      const isConcerned = knowledge !== 'anothers' && (service !== undefined || clusters?.has(cluster) === true);
      const party = isConcerned ? this.#parties.get(cluster) : undefined;
      return party === undefined ? [] : [party];
    });
    return () => [this.#options.local, ...concerned].every(({ mayWrite }) => mayWrite());
  }

  #report(
    key: string,
    { statuses, local: ofLocal, awaited }: FederationDecision,
    pass: Pick<MirrorPass, 'refusals' | 'errors'>,
  ): void {
    const after = (status: MirrorStatus | undefined): MirrorStatus | undefined =>
      status?.mirrored === true ? afterPass(status, pass) : status;
    for (const [cluster, party] of this.#parties) {
      party.report(key, after(statuses.get(cluster)), awaited.has(cluster));
    }
    this.#options.local.report(key, after(ofLocal), awaited.has(undefined));
    if (statuses.size > 0 || ofLocal !== undefined) this.#reported.add(key);
    else this.#reported.delete(key);
    const members = [...statuses.values()].map(after);
    if (members.length > 0 && members.every((status) => status?.mirrored === true)) this.#settled.add(key);
    else this.#settled.delete(key);
  }

  #log({ namespace, name }: ObservedFederation, { done }: Pick<MirrorPass, 'done'>, isAwaited: boolean): void {
    const { log } = this.#options.env;
    const service = `${namespace}/${federatedName(name)}`;
    for (const { op, of, object } of done) {
      log.debug({ service, op, object: `${of.kind} ${object.metadata.name}` }, 'written');
      if (of === SERVICES && isAwaited) {
        log.info({ service }, 'federated Service kept without members: not all clusters that may have one are known');
      }
      if (of !== SERVICES || op === 'update') continue;
      log.info(
        { service },
        op === 'delete' ? 'federated Service deleted: it has no member' : 'federated Service created',
      );
    }
  }
}

/** Whether an object that prevents a creation is ours after all: the store was behind. */
export const isOfFederation = (object: KubeObject): boolean =>
  'addressType' in object ? federationOf(object) !== undefined : isFederated(object);

/** A cluster that has a Link, or may have one, and no session that takes part. */
export const unknownParty = (cluster: string): TargetParty => ({
  knowledge: 'unknown',
  link: { cluster, clusterDomain: '', excludedLabels: [], excludedAnnotations: [], createNamespaces: false },
  // Before all others: labels and ports may be those of its member, and stay.
  seniority: { createdAt: '', name: cluster },
  mayHaveMember: true,
  mode: 'remote-discovery',
  isDiscoverable: undefined,
  isAdmitted: true,
  anyReady: undefined,
});

/** The status of a member, if what it asks for could not be written. */
export function afterPass(
  status: MirrorStatus,
  { refusals, errors }: Pick<MirrorPass, 'refusals' | 'errors'>,
): MirrorStatus {
  const [refusal] = refusals;
  if (refusal !== undefined) return { ...status, mirrored: false, ...refusal };
  if (errors.length === 0) return status;
  return { ...status, mirrored: false, reason: 'Error', message: describe(errors[0]) };
}

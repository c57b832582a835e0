/**
 * The target of a Link as a party of federated Services. The party reports what the session of the Link knows of the
 * target's Services, and keeps their statuses. A target that no longer has a Link takes part without Services, so that
 * its memberships are removed together with its mirrors.
 */
import { federatedName } from '../../crds/wire.ts';
import { observeMember } from './observe.ts';
import type { TargetParty } from './observed.ts';
import { operatorOf } from './operators.ts';
import { splitKey } from '../kube/objects.ts';
import type { LinkNow } from '../mirror/observed.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import type { FederationEnvironment } from './party.ts';
import type { LinkReport, SharedEnvironment } from '../served/environment.ts';
import type { ServedTarget } from '../served/served-target.ts';
import { ALWAYS_GONE, type Answers, type Aspect, type AspectListener } from '../target/aspect.ts';
import { type NamespaceBudget, operatorsOf } from '../source/write-scope.ts';
import type { FederationParty } from './party.ts';

/** The Lease under which the memberships of a Link are written. */
export interface MembershipLease {
  readonly isHeld: boolean;
  /** Identity of another holder of the Lease; undefined if none is known. */
  readonly heldBy: string | undefined;
  /** Whether this operator certainly holds the Lease at this moment. Asked right before each write. */
  readonly mayWrite: boolean;
}

export interface SessionPartyOptions {
  readonly cluster: string;
  readonly env: FederationEnvironment & Pick<SharedEnvironment, 'source' | 'config' | 'failovers' | 'log'>;
  readonly report: LinkReport;
  readonly lease: MembershipLease;
  readonly budget: NamespaceBudget;
  /** The target's Services that are selected as members. */
  readonly target: Pick<ServedTarget, 'observeMember'> & {
    readonly members: Answers & Pick<Aspect<unknown>, 'keys' | 'decides'>;
  };
  /** Returns the present settings of the Link, and the present state of its gateway. */
  readonly link: () => LinkNow;
}

export class SessionParty implements FederationParty, AspectListener {
  readonly cluster: string;
  readonly members: Answers;
  readonly budget: NamespaceBudget;
  readonly #options: SessionPartyOptions;
  readonly #statuses = new Map<string, MirrorStatus>();
  /**
   * Keys that still have to be reconciled after the members were last listed or the Lease was last acquired, whichever
   * came later. A key goes through three phases:
   * - Its value is false until a reconcile observes the key.
   * - From then on, its value is true until {@link report} is called for the key.
   * - Then the key is removed.
   *
   * Undefined until the members have been listed with the present selector.
   */
  #unseen: Map<string, boolean> | undefined;
  #hasSeenAll = false;
  /** Keys of federated Services that are kept without members because this cluster might still have a member. */
  readonly #awaiting = new Set<string>();
  /**
   * Keys whose Service was selected when the key was last observed. Because of such a Service, the federated Service
   * names this operator (rule I9), whether or not the Service is a member.
   */
  readonly #observed = new Set<string>();

  constructor(options: SessionPartyOptions) {
    this.#options = options;
    this.cluster = options.cluster;
    this.members = options.target.members;
    this.budget = options.budget;
  }

  /**
   * Status of each selected Service, by key. Undefined while this operator does not hold the Lease. After the Lease was
   * acquired, or the selector has changed, the value is also undefined until all keys have been reconciled. While it is
   * undefined, `status.federatedServices` of the Link keeps its entries.
   */
  get statuses(): ReadonlyMap<string, MirrorStatus> | undefined {
    return this.#options.lease.isHeld && this.#hasSeenAll ? this.#statuses : undefined;
  }

  /**
   * Whether every key has been reconciled since all members were last listed, and since the Lease was last acquired.
   */
  get isCaughtUp(): boolean {
    return this.#unseen?.size === 0;
  }

  /**
   * Number of federated Services that are kept without members because this cluster might still have a member (rule
   * I6).
   */
  get awaiting(): number {
    return this.#awaiting.size;
  }

  /**
   * Returns all keys that might need work:
   * - keys of Services that are selected, were selected when last observed, or have a status;
   * - keys of federated Services that have a membership of this cluster, or are kept without members because of it.
   */
  keys(): ReadonlySet<string> {
    const { target, env } = this.#options;
    const memberships = env.source.membershipsOf(this.cluster);
    const reported = this.#statuses.keys();
    return new Set([...target.members.keys(), ...memberships, ...this.#awaiting, ...this.#observed, ...reported]);
  }

  observe(key: string): TargetParty {
    const { target, env, lease, budget, link } = this.#options;
    if (this.#unseen?.has(key) === true) this.#unseen.set(key, true);
    const { config, source, discovery } = env;
    const member = target.observeMember(key);
    const observed = observeMember(key, member, link(), { config, source, budget, discovery });
    if (observed.service === undefined) this.#observed.delete(key);
    else this.#observed.add(key);
    return {
      ...observed,
      knowledge: lease.isHeld ? observed.knowledge : 'anothers',
      mayHaveMember: observed.mayHaveMember && lease.heldBy === undefined,
    };
  }

  readonly mayWrite = (): boolean => this.#options.lease.mayWrite;

  report(key: string, status: MirrorStatus | undefined, isAwaited: boolean): void {
    const { report } = this.#options;
    if (isAwaited !== this.#awaiting.has(key)) this.#await(key, isAwaited);
    const isLast = this.#unseen?.get(key) === true && this.#unseen.delete(key) && this.#unseen.size === 0;
    this.#hasSeenAll ||= isLast;
    if (this.#isNews(key, status) || isLast) report.statusChanged();
  }

  changed(keys: Iterable<string>): void {
    const { federations, failovers } = this.#options.env;
    for (const key of keys) {
      federations.add(key);
      const { namespace, name } = splitKey(key);
      failovers?.mirrorChanged(`${namespace}/${federatedName(name)}`);
    }
  }

  /**
   * Reconciles the keys of Services that have not joined. Called when the limit on created namespaces might admit
   * another namespace, because one that was about to be created is not created after all.
   */
  changedWaiting(): void {
    this.changed([...this.#statuses].flatMap(([key, { mirrored }]) => (mirrored ? [] : [key])));
  }

  /** Reconciles all keys. Called when the Link, its gateway or its Lease has changed. */
  changedAll(): void {
    this.changed(this.keys());
  }

  listed(): void {
    this.#begin();
  }

  restarted(): void {
    this.#unseen = undefined;
    this.#hasSeenAll = false;
  }

  /**
   * Reconciles all keys. Called when this operator has acquired the Lease, because it decides about the memberships of
   * the cluster, and reports statuses, only while it holds the Lease.
   */
  taken(): void {
    this.#hasSeenAll = false;
    if (this.#unseen === undefined) this.changedAll();
    else this.#begin();
  }

  /**
   * Interrupts the reconciles of federated Services. Called when the Lease was lost or is being released. Resolves when
   * the interrupted reconciles have ended. If the reason is a RevokedError, requests already sent are not awaited.
   */
  lost(reason: unknown): Promise<void> {
    return this.#options.env.federations.interrupt(reason);
  }

  #begin(): void {
    const keys = this.keys();
    this.#unseen = new Map([...keys].map((key) => [key, false]));
    this.#hasSeenAll ||= keys.size === 0;
    this.changed(keys);
  }

  #await(key: string, isAwaited: boolean): void {
    const { report, env } = this.#options;
    if (!isAwaited) this.#awaiting.delete(key);
    else {
      this.#awaiting.add(key);
      // The members might have been listed after the key was observed, so the key is reconciled again.
      if (this.#unseen !== undefined) env.federations.add(key);
    }
    report.statusChanged();
  }

  /**
   * Stores the status of a key, and returns whether the reason or the message has changed. An undefined status is
   * ignored while this operator does not hold the Lease, or does not know whether the Service is selected. If the
   * Service does not join, a changed reason or message is recorded as an Event, and a changed reason is also logged.
   */
  #isNews(key: string, status: MirrorStatus | undefined): boolean {
    const { report, target, lease, env, link } = this.#options;
    const before = this.#statuses.get(key);
    // The last status is kept while this operator does not hold the Lease, or does not know whether the Service is
    // selected.
    if (status === undefined && !(lease.isHeld && target.members.decides(key))) return false;
    if (status === undefined) this.#statuses.delete(key);
    else this.#statuses.set(key, status);
    if (before?.reason === status?.reason && before?.message === status?.message) return false;
    if (status?.mirrored === false) {
      const { reason, message } = status;
      if (before?.reason !== reason) {
        env.log.warn(
          { link: link().settings.name, service: key, reason, error: message },
          'the Service does not join its federated Service',
        );
      }
      report.event('Warning', reason, `Service ${key} does not join ${federatedName(splitKey(key).name)}: ${message}`);
    }
    return true;
  }
}

/**
 * Returns the keys of the federated Services that have a membership of this cluster, except those that name another
 * operator (rule I9). The name of an operator whose namespace is certainly gone does not count ({@link operatorOf}).
 */
export function ownMembershipsOf(
  cluster: string,
  env: Pick<SharedEnvironment, 'source' | 'config'>,
): ReadonlySet<string> {
  const operators = operatorsOf(env);
  const isOwn = (key: string): boolean =>
    [undefined, operators.own].includes(operatorOf(env.source.federation(key).live, operators));
  return new Set([...env.source.membershipsOf(cluster)].filter(isOwn));
}

/**
 * Returns the party of a cluster that no longer has a Link. The party has no selected Services, so the memberships of
 * the cluster are removed while this operator holds the Lease.
 * @param lease Lease of the Link that the cluster had
 */
export const formerParty = (
  cluster: string,
  lease: Omit<MembershipLease, 'heldBy'>,
  env: Pick<SharedEnvironment, 'source' | 'config'>,
): FederationParty => ({
  cluster,
  keys: () => ownMembershipsOf(cluster, env),
  observe: () => ({
    knowledge: lease.isHeld ? 'known' : 'anothers',
    link: { cluster, clusterDomain: '', excludedLabels: [], excludedAnnotations: [], createNamespaces: false },
    seniority: { createdAt: '', name: cluster },
    mayHaveMember: false,
    mode: 'remote-discovery',
    isDiscoverable: undefined,
    isAdmitted: true,
    anyReady: undefined,
  }),
  members: ALWAYS_GONE,
  mayWrite: () => lease.mayWrite,
  report: () => undefined,
});

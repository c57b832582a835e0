/**
 * The parties of federated Services (the clusters that take part), and the interface that the controller
 * (federations.ts) offers them.
 */
import type { MirrorStatus } from '../mirror/status.ts';
import type { MayWrite } from '../runtime/fence.ts';
import type { NamespaceBudget } from '../source/write-scope.ts';
import type { Answers } from '../target/aspect.ts';
import type { LocalParty, TargetParty } from './observed.ts';

/**
 * A cluster that takes part in federated Services. It reports what is known of its Services that are selected as
 * members, and receives their statuses. A key is the `namespace/name` of a selected Service, whether or not the Service
 * joins. The federated Service for this namespace and name has the same key.
 */
export interface Participant<P extends TargetParty | LocalParty> {
  /**
   * Returns the keys of the cluster's selected Services, and the keys of federated Services that might need work
   * because of the cluster.
   */
  keys(): Iterable<string>;
  /**
   * Returns what is observed of the cluster for one key, whether or not the cluster has a selected Service with this
   * key.
   */
  observe(key: string): P;
  /**
   * Reports whether a write is allowed now. Returns false if the cluster's membership was decided under a Lease that
   * might have been lost meanwhile. Called right before each write.
   */
  readonly mayWrite: MayWrite;
  /**
   * Receives the status of the cluster's Service with a key.
   * @param status undefined if the cluster has no selected Service with this key, or if this operator does not decide
   *   about the cluster's membership now
   * @param isAwaited whether the federated Service is kept without members because this cluster might still have a
   *   member (rule I6)
   */
  report(key: string, status: MirrorStatus | undefined, isAwaited: boolean): void;
}

/** A target cluster that takes part through its session, which serves a Link or removes what a Link left. */
export interface FederationParty extends Participant<TargetParty> {
  readonly cluster: string;
  /**
   * Answers of the target about single Services. If the target seems to have no Service that could be a member, its
   * membership is removed only once its answer about the Service agrees with what the watches show.
   */
  readonly members: Answers;
  /**
   * Receives each decision about a key: whether the operator is to create the namespace of the key for this cluster.
   * @default - the decisions are not recorded
   */
  readonly budget?: Pick<NamespaceBudget, 'decided'>;
}

/** The controller of federated Services, as the parties see it. */
export interface Federation {
  /**
   * Returns the keys that are being reconciled and whose latest decision gives a target cluster a membership. The
   * membership might already have been written although the stores do not show it yet.
   */
  underWayOf(cluster: string): readonly string[];
  /**
   * Lets a cluster take part.
   * @throws Error if the cluster already takes part; a cluster never has more than one session (rule E9)
   */
  join(party: FederationParty): void;
  /**
   * Ends the participation of a cluster. Its memberships stay if the cluster has a Link, or might have one. They are
   * removed if the cluster certainly has no Link.
   */
  leave(cluster: string): void;
  /**
   * Reconciles a key. Called when something that decides about the key might have changed, for example a Service that
   * is a member or might become one.
   */
  add(key: string): void;
  /**
   * Interrupts the reconciles under way before their next write, and reconciles all keys again. Resolves when the
   * interrupted reconciles have ended. Called in these cases (rule I7):
   * - The Lease of local memberships was acquired or lost.
   * - The Lease of a Link was lost, or is about to be released or deleted.
   * - A cluster has left.
   * @param reason why the reconciles are interrupted. If the reason is a RevokedError, requests already sent are not
   *   awaited
   */
  interrupt(reason?: unknown): Promise<void>;
}

/** The clusters in which Linkerd's control plane discovers pods, for flat networks. */
export interface DiscoveredClusters {
  /**
   * Reports whether the control plane has credentials of a cluster. Undefined until the Secrets with credentials have
   * been read, or if the operator is not allowed to read them.
   */
  has(cluster: string): boolean | undefined;
}

/** What a session needs to take part in federated Services. */
export interface FederationEnvironment {
  readonly federations: Federation;
  readonly discovery: DiscoveredClusters;
}

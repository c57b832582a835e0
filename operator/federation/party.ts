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
 * members, and receives their statuses. A key is `namespace/name` of such a Service, whether or not the Service joins.
 * A federated Service has the key of its members.
 */
export interface Participant<P extends TargetParty | LocalParty> {
  /**
   * Returns the keys of the cluster's selected Services, and the keys of federated Services that may need work because
   * of the cluster.
   */
  keys(): Iterable<string>;
  /** Returns what is observed of the cluster for one key, whether or not the cluster has a selected Service there. */
  observe(key: string): P;
  /**
   * Reports whether a write may be sent now. Returns false if the cluster's membership was decided under a Lease that
   * may have been lost meanwhile. Called right before each write.
   */
  readonly mayWrite: MayWrite;
  /**
   * Receives the status of the cluster's Service with a key.
   * @param status undefined if the cluster has no selected Service with this key, or if this operator does not decide
   *   about the cluster's membership now
   * @param isAwaited whether the federated Service is kept without members because this cluster may still have a member
   *   (rule I6)
   */
  report(key: string, status: MirrorStatus | undefined, isAwaited: boolean): void;
}

/** A target cluster that takes part through the session of its Link. */
export interface FederationParty extends Participant<TargetParty> {
  readonly cluster: string;
  /**
   * Answers of the target about single Services. A membership is removed only if the target's answer about the Service
   * agrees with what the watches show.
   */
  readonly members: Answers;
  /**
   * Receives, for each key that was decided, whether the namespace of the key is created for this cluster. @default -
   * the decisions are not recorded
   */
  readonly budget?: Pick<NamespaceBudget, 'decided'>;
}

/** The controller of federated Services, as the parties see it. */
export interface Federation {
  /**
   * Returns the keys that are being reconciled and for which a Service of a target cluster was last decided to be a
   * member. The membership may have been written although the stores do not show it yet.
   */
  underWayOf(cluster: string): readonly string[];
  /**
   * Lets a cluster take part.
   * @throws Error if the cluster already takes part; a cluster never has more than one session (rule E9)
   */
  join(party: FederationParty): void;
  /**
   * Ends the participation of a cluster. Its memberships stay if the cluster has a Link, or may have one. Otherwise
   * they are removed.
   */
  leave(cluster: string): void;
  /** Reconciles a key. Called when a Service that is a member, or may become one, has changed. */
  add(key: string): void;
  /**
   * Interrupts the reconciles under way before their next write, and reconciles all keys again. Called when a change of
   * a Lease changes who decides about memberships (rule I7). Resolves when the interrupted reconciles have ended.
   * @param reason why the reconciles are interrupted. If the reason is a RevokedError, requests already sent are not
   *   awaited
   */
  interrupt(reason?: unknown): Promise<void>;
}

/** The clusters in which Linkerd's control plane discovers pods, for flat networks. */
export interface DiscoveredClusters {
  /**
   * Reports whether the control plane has credentials of a cluster. Undefined until the Secrets with credentials have
   * been read, or if the operator may not read them.
   */
  has(cluster: string): boolean | undefined;
}

/** What a session needs to take part in federated Services. */
export interface FederationEnvironment {
  readonly federations: Federation;
  readonly discovery: DiscoveredClusters;
}

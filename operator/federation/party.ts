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
 * A cluster that takes part. It reports what is known of its Services, and receives their status. Keys are
 * `namespace/name` of the Services that join.
 */
export interface Participant<P extends TargetParty | LocalParty> {
  /**
   * Returns the keys of the cluster's selected Services, and of federated Services that may need work because of the
   * cluster.
   */
  keys(): Iterable<string>;
  /** Returns the observed state of the cluster's Service, by its key. */
  observe(key: string): P;
  /**
   * Reports whether a write may be sent now. It may not if the cluster's membership was decided under a Lease that may
   * have been lost since. Called right before each write.
   */
  readonly mayWrite: MayWrite;
  /**
   * Receives the status of the cluster's Service under a key.
   * @param status undefined if no such Service is selected, or if the membership of the cluster is not decided now
   * @param isAwaited whether the federated Service is kept without members because this cluster may still have one
   *   (rule I6)
   */
  report(key: string, status: MirrorStatus | undefined, isAwaited: boolean): void;
}

/** A target cluster that takes part through the session of its Link. */
export interface FederationParty extends Participant<TargetParty> {
  readonly cluster: string;
  /** Answers of the target about one Service. A membership is removed only if they agree with what is seen. */
  readonly members: Answers;
  /** Learns which keys create their namespace for this cluster. @default - none does */
  readonly budget?: Pick<NamespaceBudget, 'decided'>;
}

/** The controller of federated Services, as the parties see it. */
export interface Federation {
  /**
   * Returns the keys of the federated Services of which a membership of a target cluster is being written. That
   * membership may be there and not be known yet.
   */
  underWayOf(cluster: string): readonly string[];
  /**
   * Lets a cluster take part.
   * @throws Error if the cluster already takes part; a cluster never has more than one session (rule E9)
   */
  join(party: FederationParty): void;
  /** Ends the participation of a cluster. Its memberships are removed if it has no Link. */
  leave(cluster: string): void;
  /** Reconciles a key. Called when a Service that is a member, or may become one, has changed. */
  add(key: string): void;
  /**
   * Interrupts the reconciles under way before their next write, and reconciles all keys again. Called when a Lease is
   * acquired or lost, since that changes who decides about memberships (rule I7). Resolves when the interrupted
   * reconciles have ended.
   * @param reason why the reconciles are interrupted. If it is a RevokedError, requests already sent are not awaited
   */
  interrupt(reason?: unknown): Promise<void>;
}

/** The clusters in which Linkerd's control plane discovers pods, for flat networks. */
export interface DiscoveredClusters {
  /**
   * Reports whether the control plane has credentials of a cluster; undefined while that is not known, or if the
   * operator may not read the Secrets.
   */
  has(cluster: string): boolean | undefined;
}

/** What a session needs to take part in federated Services. */
export interface FederationEnvironment {
  readonly federations: Federation;
  readonly discovery: DiscoveredClusters;
}

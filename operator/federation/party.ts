/** Parties of federated Services, and what the controller in federations.ts offers them. */
import type { MirrorStatus } from '../mirror/status.ts';
import type { MayWrite } from '../runtime/fence.ts';
import type { Certainty } from '../target/aspect.ts';
import type { LocalParty, TargetParty } from './observed.ts';

/** A cluster that takes part: tells what it knows of its Services, and takes reports about them. */
export interface Participant<P extends TargetParty | LocalParty> {
  /** Returns the keys of its Services that are selected as members, and of others that may need work because of it. */
  keys(): Iterable<string>;
  /** Returns what is known of one of its Services. */
  observe(key: string): P;
  /**
   * Whether memberships that were decided as ours certainly still are. Asked right before each write, since local
   * memberships may have become another's.
   */
  readonly mayWrite: MayWrite;
  /**
   * Takes the status of one of its Services; undefined if it is not selected, or nothing is known of it now.
   * @param isAwaited whether the federated Service stays without members because this cluster may still have one
   *   (rule I6)
   */
  report(key: string, status: MirrorStatus | undefined, isAwaited: boolean): void;
}

/** A target cluster, by the session of its Link. */
export interface FederationParty extends Participant<TargetParty> {
  readonly cluster: string;
  /** Tells whether a Service has certainly ceased to be a member, so that its membership may be removed. */
  readonly members: Certainty;
}

/** The federated Services, as those who take part see them. */
export interface Federation {
  /**
   * Lets a cluster take part.
   * @throws Error if it already does: it has one session (rule E9)
   */
  join(party: FederationParty): void;
  /** Ends the participation of a cluster. Its memberships are removed if it has no Link. */
  leave(cluster: string): void;
  /** Reconciles a key: a Service that is a member, or could be one, has changed. */
  add(key: string): void;
  /**
   * Ends the reconciles under way before their next write, and begins all of them anew. Called when a Lease was
   * acquired or lost, since that changes who decides (rule I7). Resolves when the old ones have ended.
   * @param reason why they end: after a RevokedError, requests that were sent are not waited for
   */
  interrupt(reason?: unknown): Promise<void>;
}

/** The clusters in which Linkerd's control plane discovers pods, for flat networks. */
export interface DiscoveredClusters {
  /**
   * Reports whether the control plane has credentials of a cluster; undefined if that is not known, or may not be
   * read.
   */
  has(cluster: string): boolean | undefined;
}

/** Where a session takes part. */
export interface FederationEnvironment {
  readonly federations: Federation;
  readonly discovery: DiscoveredClusters;
}

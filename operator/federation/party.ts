/** What takes part in federated Services, and what it is given for that: see federations.ts. */
import type { MirrorStatus } from '../mirror/status.ts';
import type { MayWrite } from '../runtime/fence.ts';
import type { Certainty } from '../target/aspect.ts';
import type { LocalParty, TargetParty } from './observed.ts';

/** What a cluster that takes part says of its Services, and learns of them. */
export interface Participant<P extends TargetParty | LocalParty> {
  /** Returns the keys of its Services that are selected as members, and of others that may need work for its sake. */
  keys(): Iterable<string>;
  /** Returns what is known of its Service of one key. */
  observe(key: string): P;
  /**
   * Whether its memberships, decided as ours, certainly still are at this moment: asked right before each write. Those of
   * the local cluster may not be ours.
   */
  readonly mayWrite: MayWrite;
  /**
   * Takes the status of one of its Services; undefined if it is not selected, or nothing is known of it now.
   * @param isAwaited whether the federated Service stays without members since this cluster may have one (rule I6)
   */
  report(key: string, status: MirrorStatus | undefined, isAwaited: boolean): void;
}

/** The session of a Link. */
export interface FederationParty extends Participant<TargetParty> {
  readonly cluster: string;
  /** Says whether the membership of a Service may go. */
  readonly members: Certainty;
}

/** The federated Services, as those who take part see them. */
export interface Federation {
  /**
   * Lets a cluster take part.
   * @throws Error if it already does: it has one session (rule E9)
   */
  join(party: FederationParty): void;
  /** Ends the part of a cluster. Its memberships go if it has no Link. */
  leave(cluster: string): void;
  /** Reconciles a key: a Service that is a member, or could be one, has changed. */
  add(key: string): void;
  /**
   * Ends the reconciles under way before their next write, and begins all anew. Called when a Lease was acquired or lost:
   * what they have decided may be another's to decide (rule I7). Resolves when they have ended.
   * @param reason for which they end: after a RevokedError, what has been sent is not waited for
   */
  interrupt(reason?: unknown): Promise<void>;
}

/** Which clusters Linkerd's control plane finds pods of on a flat network. */
export interface DiscoveredClusters {
  /** Undefined if that is not known, or may not be known. */
  has(cluster: string): boolean | undefined;
}

/** Where a session takes part. */
export interface FederationEnvironment {
  readonly federations: Federation;
  readonly discovery: DiscoveredClusters;
}

/**
 * The value that decides about one federated Service: the Services of one namespace and name in all clusters, and the
 * existing objects of the federated Service. It is read from stores, without I/O.
 */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { GatewayView, LinkView, NamespaceState, Operators } from '../mirror/observed.ts';
import type { Seniority } from '../mirror/names.ts';
import type { ForeignSlices } from '../runtime/plan.ts';

/**
 * What is known of a cluster's membership.
 * - `known`: whether it has a Service that joins;
 * - `unknown`: it has not been read since the operator started, the deletion of its Service is held, or the target has yet
 *   to confirm that it is gone (rules I6, E6, A2);
 * - `anothers`: somebody else holds its Lease, and its membership is theirs (rule I7).
 *
 * The membership of a cluster that is not `known` stays as it is.
 */
export type Knowledge = 'known' | 'unknown' | 'anothers';

/** A cluster that may have a member. */
interface Party {
  readonly knowledge: Knowledge;
  /** The Service that is selected as a member; absent if there is none, or it is not known. */
  readonly service?: Service | undefined;
}

/** A target cluster that has a Link. */
export interface TargetParty extends Party {
  readonly link: Pick<
    LinkView,
    'cluster' | 'clusterDomain' | 'excludedLabels' | 'excludedAnnotations' | 'createNamespaces'
  >;
  /** Rank among Links; the first decides about labels, annotations and ports (rule I3). */
  readonly seniority: Seniority;
  /**
   * Whether its Link selects members and no other controller holds its Lease, so that it may have a member while it
   * is not known.
   */
  readonly mayHaveMember: boolean;
  /**
   * Whether a Link is known to name the cluster, now or before. If not, it may be a cluster of another operator.
   * @default true
   */
  readonly isLinked?: boolean;
  /** How the Link wants its members to be reached: `spec.federation`. */
  readonly mode: MirrorMode;
  /**
   * Whether Linkerd's destination controller has credentials of the cluster, which flat mode needs (rule I4).
   * Undefined while that is not known, or may not be read.
   */
  readonly isDiscoverable: boolean | undefined;
  /** Whether the limit of the Link for the number of its members admits this one (rule E10). */
  readonly isAdmitted: boolean;
  /** Whether the limit of the Link for the bytes written for it admits this Service (rule E10). @default true */
  readonly isWithinBytes?: boolean;
  /** Absent if the Link has no gateway, or if that is not known. */
  readonly gateway?: GatewayView | undefined;
  /** Whether the Link is known to have no gateway. @default false */
  readonly lacksGateway?: boolean;
  /** Whether an endpoint of the Service is ready; undefined while that is not known. */
  readonly anyReady: boolean | undefined;
}

/** The source cluster, which holds the federated Service. */
export interface LocalParty extends Party {
  /**
   * Whether we hold the Lease of local memberships. If not, the local membership is left to whoever holds it (rule I7).
   * That may be Linkerd's local mirror, which deletes federated Services without annotations of members: those in
   * gateway mode.
   */
  readonly isHeld: boolean;
  /** The slices of the local Service; undefined while they are not known. */
  readonly slices: readonly EndpointSlice[] | undefined;
}

export interface ObservedFederation {
  /** Namespace and name of the Services that join. */
  readonly namespace: string;
  readonly name: string;
  readonly namespaceState: NamespaceState;
  readonly operators: Operators;
  readonly local: LocalParty;
  /** In any order, each cluster once. A cluster that is missing has no Link. */
  readonly targets: readonly TargetParty[];
  /** The Service that has the name of the federated one, whoever owns it; absent if there is none. */
  readonly live: Service | undefined;
  /** Slices whose labels say that they belong to this federated Service. */
  readonly slices: readonly EndpointSlice[];
  /** Slices that others have made for the Service, if it is ours. @default - none */
  readonly foreign?: readonly ForeignSlices[] | undefined;
}

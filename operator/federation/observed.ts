/**
 * One plain value with everything that decides what one federated Service must be: the Services of one namespace and
 * name in all clusters, and what there is of the federated Service. It is read from stores, without I/O.
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
  /** Decides among Links whose labels, annotations and ports count (rule I3). */
  readonly seniority: Seniority;
  /** Whether it may have a member while it is not known: its Link selects some, and nobody else holds its Lease. */
  readonly mayHaveMember: boolean;
  /** Whether it is known that a Link names the cluster, or did. If not, it may be one of another operator. @default true */
  readonly isLinked?: boolean;
  /** How the Link wants its members to be reached: `spec.federation`. */
  readonly mode: MirrorMode;
  /**
   * Whether Linkerd's destination controller has credentials of the cluster, which flat mode needs (rule I4); undefined
   * while that is not known, or may not be known.
   */
  readonly isDiscoverable: boolean | undefined;
  /** Whether the Service is one of those that the limit of the Link allows (rule E10). */
  readonly isAdmitted: boolean;
  /** Whether what is written for the Service is within the bytes that the Link may take (rule E10). @default true */
  readonly isWithinBytes?: boolean;
  /** Absent if the Link has no gateway, or if nothing is known of it. */
  readonly gateway?: GatewayView | undefined;
  /** Whether it is known that the Link has no gateway. @default false */
  readonly lacksGateway?: boolean;
  /** Whether an endpoint of the Service is ready; undefined while that is not known. */
  readonly anyReady: boolean | undefined;
}

/** The cluster of the federated Service itself. */
export interface LocalParty extends Party {
  /**
   * Whether we hold the Lease of local memberships. If not, the local entry is another's (rule I7), and Linkerd's local
   * mirror may be running, which deletes federated Services that have no annotation: those that lead through gateways.
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
  /** In any order; each cluster once. A cluster that is not among them has no Link. */
  readonly targets: readonly TargetParty[];
  /** The Service of the federated Service's name, whoever owns it; absent if there is none. */
  readonly live: Service | undefined;
  /** The slices that are marked as those of this federated Service. */
  readonly slices: readonly EndpointSlice[];
  /** The slices that others gave the Service, if it is ours. @default - none */
  readonly foreign?: readonly ForeignSlices[] | undefined;
}

/**
 * Everything that decides what one federated Service must be, as one value: the Services of one namespace and name in
 * all clusters, and the existing objects of the federated Service. It is read from stores, without I/O.
 */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { GatewayView, LinkView, KnownNamespace, Operators } from '../mirror/observed.ts';
import type { Seniority } from '../mirror/names.ts';
import type { ForeignSlices } from '../runtime/plan.ts';

/**
 * What is known of a cluster's membership.
 * - `known`: it is known which Service of the cluster is selected, if any;
 * - `unknown`: the cluster is a target without a session, or has not been read since the operator started; the deletion
 *   of its Service is held; or the target has yet to confirm that the Service is gone (rules I6, E6, A2);
 * - `anothers`: another operator or controller holds the Lease of the cluster, and decides about its membership (rule
 *   I7).
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

/** A target cluster that has a Link, may have one, or had one. */
export interface TargetParty extends Party {
  readonly link: Pick<
    LinkView,
    'cluster' | 'clusterDomain' | 'excludedLabels' | 'excludedAnnotations' | 'createNamespaces'
  >;
  /**
   * Age and name of the Link, by which members are ordered. The first member decides about labels, annotations and
   * ports (rule I3).
   */
  readonly seniority: Seniority;
  /**
   * Whether the cluster may have a member even while none is known: its Link selects members, and no other controller
   * holds the Link's Lease. Also true if the cluster has no session.
   */
  readonly mayHaveMember: boolean;
  /**
   * Whether the cluster has a session, or, since the operator started, a Link of this operator has named it or a Lease
   * has recorded it. If none of these, the cluster may belong to another operator. @default true
   */
  readonly isLinked?: boolean;
  /** How the Link wants its members to be reached: `spec.federation`. */
  readonly mode: MirrorMode;
  /**
   * Whether Linkerd's destination controller has credentials of the cluster, which flat mode needs (rule I4). Undefined
   * while that is not known, or if the operator may not read the Secrets. Also undefined if the answer is not needed,
   * because there is no Service or the Link does not ask for flat mode.
   */
  readonly isDiscoverable: boolean | undefined;
  /** Whether this member is within the Link's limit on the number of members (rule E10). */
  readonly isAdmitted: boolean;
  /**
   * Whether the Link's limit on namespaces (rule E10) allows a namespace to be created for this member, if one is
   * needed. @default true
   */
  readonly isNamespaceAdmitted?: boolean;
  /** Whether this Service is within the Link's limit on written bytes (rule E10). @default true */
  readonly isWithinBytes?: boolean;
  /** The target's gateway; absent if the Link has none, or if it is not known whether it has one. */
  readonly gateway?: GatewayView | undefined;
  /** Whether the Link is known to have no gateway. @default false */
  readonly lacksGateway?: boolean;
  /** Whether an endpoint of the Service is ready; undefined while that is not known. */
  readonly anyReady: boolean | undefined;
}

/** The source cluster, which holds the federated Service. */
export interface LocalParty extends Party {
  /**
   * Whether this operator holds the Lease of local memberships (rule I7). Without the Lease, a local membership in flat
   * mode is left to the holder, which may be Linkerd's local service mirror. A local membership in gateway mode is
   * written all the same. But no federated Service changes to gateway mode without the Lease: it would lose its
   * membership annotations, and Linkerd's local service mirror deletes federated Services that have none.
   */
  readonly isHeld: boolean;
  /**
   * The slices of the local Service; undefined while they are not known, or if there is no selector for local members.
   */
  readonly slices: readonly EndpointSlice[] | undefined;
}

export interface ObservedFederation {
  /** Namespace and name of the Services that join. */
  readonly namespace: string;
  readonly name: string;
  readonly namespaceState: KnownNamespace;
  readonly operators: Operators;
  readonly local: LocalParty;
  /**
   * The target clusters that have, or may have, a member: in any order, each once. They include every cluster with a
   * Link that selects members, unless that Link is suspended.
   */
  readonly targets: readonly TargetParty[];
  /** The existing Service with the name of the federated Service, whoever owns it; absent if there is none. */
  readonly live: Service | undefined;
  /** Slices whose labels say that they belong to this federated Service. */
  readonly slices: readonly EndpointSlice[];
  /** Slices that others have made for the federated Service, if the Service is ours. @default - none */
  readonly foreign?: readonly ForeignSlices[] | undefined;
}

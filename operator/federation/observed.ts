/**
 * Everything that decides about one federated Service, as one value: the Services of one namespace and name in all
 * clusters, and the existing objects of the federated Service. The value is read from stores, without I/O.
 */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { GatewayView, LinkView, KnownNamespace, Operators } from '../mirror/observed.ts';
import type { Seniority } from '../mirror/names.ts';
import type { ForeignSlices } from '../runtime/plan.ts';

/**
 * What is known of a cluster's membership. A membership is added or removed only if the value is `known`.
 * - `known`: it is known which Service of the cluster is selected, if any.
 * - `unknown`: that is not known (rules I6, E6, A2), in one of these cases:
 *   - No session reads the target.
 *   - Not all Services of the cluster have been listed with the present selectors.
 *   - The Services are being listed anew, because a namespace has lost some.
 *   - The deletion of the Service is held.
 *   - The cluster has a membership, and the target has not confirmed yet that it no longer has a Service that could be
 *     a member.
 * - `anothers`: this operator does not hold the Lease under which the membership is written. If another operator or
 *   controller holds the Lease, that holder decides about the membership (rule I7).
 */
export type Knowledge = 'known' | 'unknown' | 'anothers';

/** A cluster that might have a member. */
interface Party {
  readonly knowledge: Knowledge;
  /** The Service that is selected as a member; absent if there is none, or it is not known. */
  readonly service?: Service | undefined;
}

/** A target cluster that has a Link, might have one, or had one. */
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
   * Whether the cluster might have a member. This counts only while its `knowledge` is not `known`.
   * - True if the cluster does not take part through a session.
   * - True if a session serves a Link that selects members, and nobody else is known to hold the Link's Lease.
   * - False in all other cases.
   */
  readonly mayHaveMember: boolean;
  /**
   * Whether the cluster is known to belong to this operator: it takes part through a session, or a Link of this
   * operator has named it or a Lease has recorded it since the operator started. If false, the cluster might belong to
   * another operator.
   * @default true
   */
  readonly isLinked?: boolean;
  /** How the Link wants its members to be reached: `spec.federation`. */
  readonly mode: MirrorMode;
  /**
   * Whether Linkerd's destination controller has credentials of the cluster, which flat mode needs (rule I4). Undefined
   * while the answer is not known, or if the operator is not allowed to read the Secrets. Also undefined if the answer
   * is not needed, because there is no Service or the Link does not ask for flat mode.
   */
  readonly isDiscoverable: boolean | undefined;
  /** Whether this member is within the Link's limit on the number of members (rule E10). */
  readonly isAdmitted: boolean;
  /**
   * Whether the Link's limit on namespaces (rule E10) allows the namespace to be created for this Service. Also true if
   * it is not to be created: it exists, the Link does not create namespaces, or no Service is selected. @default true
   */
  readonly isNamespaceAdmitted?: boolean;
  /** Whether this Service is within the Link's limit on written bytes (rule E10). @default true */
  readonly isWithinBytes?: boolean;
  /** The target's gateway; absent if the Link has none, or if it is not known whether the Link has one. */
  readonly gateway?: GatewayView | undefined;
  /** Whether the Link is known to have no gateway. @default false */
  readonly lacksGateway?: boolean;
  /**
   * Whether an endpoint of the Service is ready. Undefined if there is no known Service, or while its slices are not
   * known.
   */
  readonly anyReady: boolean | undefined;
}

/** The source cluster, which holds the federated Service. */
export interface LocalParty extends Party {
  /**
   * Whether this operator holds the Lease of local memberships (rule I7). Without the Lease, a local membership in flat
   * mode is left to the holder, which can be Linkerd's local service mirror. A local membership in gateway mode is
   * written even without the Lease. But no federated Service is created in gateway mode, or changed to it, without the
   * Lease: in that mode it has no membership annotations, and Linkerd's local service mirror deletes such federated
   * Services.
   */
  readonly isHeld: boolean;
  /**
   * The slices of the local Service; undefined while they are not known, or if there is no selector for local members.
   */
  readonly slices: readonly EndpointSlice[] | undefined;
}

export interface ObservedFederation {
  /** Namespace and name that the Services, members or not, have in all clusters. */
  readonly namespace: string;
  readonly name: string;
  readonly namespaceState: KnownNamespace;
  readonly operators: Operators;
  readonly local: LocalParty;
  /**
   * The target clusters, in any order, each once:
   * - clusters that take part through a session;
   * - clusters with a membership, or with slices of the federated Service, that have or might have a Link;
   * - clusters without a session whose Link selects members, or might select them (`Participants.selecting`).
   */
  readonly targets: readonly TargetParty[];
  /** The existing Service with the name of the federated Service, whoever owns it; absent if there is none. */
  readonly live: Service | undefined;
  /**
   * Slices that belong to this federated Service according to their labels. If the label that names the Service is
   * missing, the name of the slice counts instead.
   */
  readonly slices: readonly EndpointSlice[];
  /** Slices that others have made for the federated Service, if the Service is ours. @default - none */
  readonly foreign?: readonly ForeignSlices[] | undefined;
}

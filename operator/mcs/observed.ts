/**
 * The value that decides about one ServiceImport: the exports of one namespace and name in all clusters, and the
 * existing objects of the ServiceImport. It is read from stores, without I/O.
 */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import type { EndpointSlice, IpFamily, Service } from '../kube/objects.ts';
import type { GatewayView, LinkView, NamespaceState, Operators } from '../mirror/observed.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { ServiceImport } from './objects.ts';

/** A cluster that may export the Service. */
interface Party {
  /**
   * Id of the cluster, as `clusterIds` returns it: a DNS label that no other cluster has; undefined while it is not
   * known.
   */
  readonly id: string | undefined;
  /**
   * Whether the exports of the cluster are known. They are not while the cluster has not been read since the operator
   * started, while its CRD is missing or of another version (rule K5), and while a deletion is held or unconfirmed
   * (rules E6, A2). Existing objects of such a cluster stay.
   */
  readonly isKnown: boolean;
  /** The ServiceExport; absent if there is none, or it is not known. */
  readonly serviceExport?: ServiceExport | undefined;
  /** The Service of the same name; absent if there is none, or it is not known. */
  readonly service?: Service | undefined;
  /** The slices of that Service, of any type and content; undefined while they are not known. */
  readonly slices: readonly EndpointSlice[] | undefined;
}

/** A target cluster that has a Link. */
export interface TargetExporter extends Party {
  readonly link: Pick<LinkView, 'cluster' | 'clusterDomain'>;
  /** When the Link was created, RFC 3339. */
  readonly linkedAt: string;
  /** How the Link wants the target's Services to be reached: `spec.federation`. */
  readonly mode: MirrorMode;
  /** Absent if the Link has no gateway, or if that is not known. */
  readonly gateway?: GatewayView | undefined;
  /** Whether the Link is known to have no gateway. @default false */
  readonly lacksGateway?: boolean;
  /** Whether an endpoint of the Service is ready; undefined while that is not known. */
  readonly anyReady: boolean | undefined;
  /**
   * Pods that are gone and still have a Service that stands for them: how long they keep it, in milliseconds, by
   * hostname (rules D11, K3). Infinity until the target confirms that the pod is gone (rule D5).
   */
  readonly departed: ReadonlyMap<string, number>;
  /**
   * Whether the cluster has yet to tell what it exports: its Link is about to be served, or the cluster has not been
   * reached since. A target that answers that it does not serve the kind, or may not be read, counts as known.
   * @default false
   */
  readonly mayExport?: boolean;
  /**
   * Whether a Link is known to name the cluster, now or before. If not, it may be a cluster of another operator.
   * @default true
   */
  readonly isLinked?: boolean;
  /** Whether the number of exports is within the limit of the Link with this one (rule E10). */
  readonly isAdmitted: boolean;
  /** Whether the bytes written for the Link are within its limit with this export (rule E10). @default true */
  readonly isWithinBytes?: boolean;
}

/** The cluster of the ServiceImport itself. */
export type LocalExporter = Party;

export interface ObservedImport {
  /** Namespace and name of the exports. */
  readonly namespace: string;
  readonly name: string;
  readonly namespaceState: NamespaceState;
  /** IP families of the local cluster, the preferred one first; at least one. */
  readonly families: readonly IpFamily[];
  readonly operators: Operators;
  readonly local: LocalExporter;
  /** In any order, each cluster once. A cluster that is missing has no Link. */
  readonly targets: readonly TargetExporter[];
  /**
   * Whether the ServiceImport is old enough that exports which appear now count as new. Until then the oldest export
   * decides, in whatever order clusters are read.
   */
  readonly isSettled: boolean;
  /** Whether ServiceImports can be read; if not, nothing is written or deleted (rule K5). */
  readonly isReadable: boolean;
  /** The ServiceImport of that name, whoever owns it; absent if there is none. */
  readonly live: ServiceImport | undefined;
  /** The Service that has the name of the derived one, whoever owns it; absent if there is none. */
  readonly derived: Service | undefined;
  /**
   * The Services derived from this ServiceImport for single pods (label `linkspan.dev/imported-pod`), with all their
   * ClusterIPs. Headless ServiceImports have them for targets that are reached through gateways.
   */
  readonly podServices: readonly Service[];
  /**
   * Reports whether the Service of this name, in {@link namespace}, belongs to somebody else. The derived Service and
   * {@link podServices} do not.
   */
  readonly isForeign: (service: string) => boolean;
  /** Most pods of one target cluster that get such a Service (rule E10). */
  readonly maxPods: number;
  /**
   * Whether the derived Service cannot have the addresses of the ServiceImport, since the API server has given them
   * to another.
   */
  readonly isAddressTaken: boolean;
  /** Slices whose labels say that they belong to this ServiceImport, or to a Service derived from it. */
  readonly imported: readonly EndpointSlice[];
}

/** A target cluster, or the local cluster. */
export type Exporter = LocalExporter | TargetExporter;

export const targetOf = (exporter: Exporter): TargetExporter | undefined => ('link' in exporter ? exporter : undefined);

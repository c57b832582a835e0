/**
 * One plain value with everything that decides what one ServiceImport must be: the exports of one namespace and name in
 * all clusters, and what there is of the ServiceImport. It is read from stores, without I/O.
 */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import type { EndpointSlice, IpFamily, Service } from '../kube/objects.ts';
import type { GatewayView, LinkView, NamespaceState, Operators } from '../mirror/observed.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { ServiceImport } from './objects.ts';

/** A cluster that may export the Service. */
interface Party {
  /**
   * Id of the cluster, as `clusterIds` has it: a DNS label that no other cluster has; undefined while it is not known.
   */
  readonly id: string | undefined;
  /**
   * Whether it is known what the cluster exports. It is not while the cluster has not been read since the operator
   * started, while its CRD is missing or of another version (rule K5), and while a deletion is held or unconfirmed
   * (rules E6, A2). What there is of such a cluster stays.
   */
  readonly isKnown: boolean;
  /** Absent if there is none, or it is not known. */
  readonly serviceExport?: ServiceExport | undefined;
  /** The Service of its name; absent if there is none, or it is not known. */
  readonly service?: Service | undefined;
  /** The slices of that Service, of whatever type and shape; undefined while they are not known. */
  readonly slices: readonly EndpointSlice[] | undefined;
}

/** A target cluster that has a Link. */
export interface TargetExporter extends Party {
  readonly link: Pick<LinkView, 'cluster' | 'clusterDomain'>;
  /** When the Link was created, RFC 3339. */
  readonly linkedAt: string;
  /** How the Link wants Services of the target to be reached: `spec.federation`. */
  readonly mode: MirrorMode;
  /** Absent if the Link has no gateway, or if nothing is known of it. */
  readonly gateway?: GatewayView | undefined;
  /** Whether it is known that the Link has no gateway. @default false */
  readonly lacksGateway?: boolean;
  /** Whether an endpoint of the Service is ready; undefined while that is not known. */
  readonly anyReady: boolean | undefined;
  /**
   * Pods of the Service that are gone, with how long each keeps the Service that stands for it, in milliseconds, by
   * hostname (rules D11, K3). It is Infinity until the target confirms that the pod is gone (rule D5).
   */
  readonly departed: ReadonlyMap<string, number>;
  /**
   * Whether the cluster has yet to say what it exports: its Link is about to be served, or it has not been reached since.
   * A target whose answer was that the kind is not served, or may not be read, counts as known.
   * @default false
   */
  readonly mayExport?: boolean;
  /** Whether it is known that a Link names the cluster, or did. If not, it may be a cluster of another operator. @default true */
  readonly isLinked?: boolean;
  /** Whether the export is one of those that the limit of the Link allows (rule E10). */
  readonly isAdmitted: boolean;
  /** Whether what is written for the export is within the bytes that the Link may take (rule E10). @default true */
  readonly isWithinBytes?: boolean;
}

/** The cluster of the ServiceImport itself. */
export type LocalExporter = Party;

export interface ObservedImport {
  /** Namespace and name of the exports. */
  readonly namespace: string;
  readonly name: string;
  readonly namespaceState: NamespaceState;
  /** IP families of the cluster, the preferred one first; at least one. */
  readonly families: readonly IpFamily[];
  readonly operators: Operators;
  readonly local: LocalExporter;
  /** In any order; each cluster once. A cluster that is not among them has no Link. */
  readonly targets: readonly TargetExporter[];
  /**
   * Whether the ServiceImport has been there for long enough that what comes now is new. Until then the oldest export
   * decides, in whatever order clusters are read.
   */
  readonly isSettled: boolean;
  /** Whether ServiceImports can be read; if not, nothing is written or deleted (rule K5). */
  readonly isReadable: boolean;
  /** The ServiceImport of that name, whoever owns it; absent if there is none. */
  readonly live: ServiceImport | undefined;
  /** The Service of the derived Service's name, whoever owns it; absent if there is none. */
  readonly derived: Service | undefined;
  /**
   * The Services that are marked as derived from this ServiceImport for single pods (label `linkspan.dev/imported-pod`):
   * those of a headless one whose targets are reached through gateways. With all their ClusterIPs.
   */
  readonly podServices: readonly Service[];
  /**
   * Reports whether a Service of this name, in {@link namespace}, belongs to somebody else: it is neither the derived one
   * nor one of {@link podServices}.
   */
  readonly isForeign: (service: string) => boolean;
  /** Most pods of one target cluster that have such a Service (rule E10). */
  readonly maxPods: number;
  /** Whether the API server refused the addresses of the ServiceImport for its derived Service: another has them. */
  readonly isAddressTaken: boolean;
  /** The slices that are marked as those of this ServiceImport, and of the Services that are derived from it. */
  readonly imported: readonly EndpointSlice[];
}

/** A cluster with a Link, or the cluster itself. */
export type Exporter = LocalExporter | TargetExporter;

export const targetOf = (exporter: Exporter): TargetExporter | undefined => ('link' in exporter ? exporter : undefined);

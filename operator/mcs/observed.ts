/**
 * Everything that decides about one ServiceImport, as one value: the exports of one namespace and name in all clusters,
 * and the existing objects of the ServiceImport. The value is read from stores, without I/O.
 */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import type { EndpointSlice, IpFamily, Service } from '../kube/objects.ts';
import type { GatewayView, LinkView, NamespaceState, Operators } from '../mirror/observed.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { ServiceImport } from './objects.ts';

/** A cluster that exports the Service, or might export it. */
interface Party {
  /**
   * Id of the cluster, as `importIds` returns it: a DNS label that no other cluster has. Undefined while the id is not
   * known.
   */
  readonly id: string | undefined;
  /**
   * Whether the exports of the cluster are known. While they are not known, the existing objects of the cluster stay.
   * The exports are not known in these cases:
   * - The cluster is a target without a session, or its session only keeps mirrors for an invalid Link.
   * - The exports of the cluster have not been read since the operator started, or since the credentials of the target
   *   or the settings of what is read last changed.
   * - The CRD of ServiceExports is missing in the cluster or has another version, or the operator is not allowed to
   *   read the ServiceExports of the cluster (rule K5).
   * - A deletion is held or unconfirmed, or losses are still being counted (rules E6, A2).
   */
  readonly isKnown: boolean;
  /** The ServiceExport; absent if there is none, or it is not known. */
  readonly serviceExport?: ServiceExport | undefined;
  /** The Service that the ServiceExport exports; absent if it does not exist, or is not known. */
  readonly service?: Service | undefined;
  /**
   * The slices of {@link service}, of any address type, including those without endpoints; undefined while they are not
   * known.
   */
  readonly slices: readonly EndpointSlice[] | undefined;
}

/** A target cluster that has a Link, might have one, or had one. */
export interface TargetExporter extends Party {
  readonly link: Pick<LinkView, 'cluster' | 'clusterDomain'>;
  /** When the Link was created, RFC 3339; an empty string if no session serves a Link of the cluster. */
  readonly linkedAt: string;
  /**
   * How the Link wants the target's Services to be reached: `spec.federation`. Without that field, the mode is gateway
   * if the Link has a gateway, and flat otherwise. Undefined if the cluster has no session: the existing slices of the
   * cluster then show how the Services are reached.
   */
  readonly mode: MirrorMode | undefined;
  /** The target's gateway; absent if the Link has none, or if it is not known whether it has one. */
  readonly gateway?: GatewayView | undefined;
  /** Whether the Link is known to have no gateway. @default false */
  readonly lacksGateway?: boolean;
  /**
   * Whether Linkerd's destination controller has credentials of the cluster, which a flat network needs (rule I4).
   * Undefined while the operator has not read the Secrets, for example because reading them is forbidden, or if the
   * answer is not needed.
   * @default undefined
   */
  readonly isDiscoverable?: boolean | undefined;
  /**
   * Whether an endpoint of the Service is ready. Undefined if there is no known Service, or while its slices are not
   * known.
   */
  readonly anyReady: boolean | undefined;
  /**
   * The pods that are gone but still keep their Services (rules D11, K3). The key is the hostname of the pod. The value
   * is how much longer the Service is kept, in milliseconds; Infinity if that time is over but the target has yet to
   * confirm that the pod is gone (rule D5).
   */
  readonly departed: ReadonlyMap<string, number>;
  /**
   * Whether the cluster might turn out to export the Service, because its exports have not been read yet. True in these
   * cases:
   * - The cluster has no session, and a session will read its exports, or might read them.
   * - The session of the cluster is to read the exports, but they have not been listed since their reading last began.
   *   False, however, if the cluster answers that ServiceExports do not exist, or that reading them is forbidden.
   * @default false
   */
  readonly mayExport?: boolean;
  /**
   * Whether the cluster has a session, or has been named by a Link of this operator or recorded by a Lease since the
   * operator started. If not, the cluster might belong to another operator. @default true
   */
  readonly isLinked?: boolean;
  /** Whether this export is within the Link's limit on the number of exports (rule E10). */
  readonly isAdmitted: boolean;
  /**
   * Whether this export is within the Link's limit on written bytes (rule E10). `decideImport` treats an export beyond
   * the limit as follows:
   * - As not known, if the cluster is part of the ServiceImport.
   * - As not admitted, if the cluster is not part of the ServiceImport.
   * @default true
   */
  readonly isWithinBytes?: boolean;
}

/** The source cluster, which holds the ServiceImport. */
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
  /**
   * The target clusters, in any order, each once:
   * - Clusters that have a session, unless the session only keeps mirrors for an invalid Link.
   * - Clusters named by a Link that imports ServiceExports (`spec.serviceExports`), even if the Link is suspended, and
   *   clusters named by an invalid Link.
   * - Clusters that the derived Service, a slice or a Service that stands for a pod leads to, if they have a Link or
   *   might have one. While no cluster has a session, the clusters of the recorded order of exports count too.
   *   Strangers (strangers.ts) are left out once their part is allowed to end.
   */
  readonly targets: readonly TargetExporter[];
  /**
   * Whether the ServiceImport is old enough (60 seconds) for the recorded order of exports (precedence.ts) to apply, so
   * that exports that appear now come after the recorded ones. If the ServiceImport is younger, the oldest export
   * decides, in whatever order the clusters are read.
   */
  readonly isSettled: boolean;
  /** Whether ServiceImports of {@link namespace} can be read; if not, nothing is written or deleted (rule K5). */
  readonly isReadable: boolean;
  /**
   * The existing ServiceImport with the namespace and name of the exports, whoever owns it; absent if there is none.
   */
  readonly live: ServiceImport | undefined;
  /** The existing Service with the name of the derived Service, whoever owns it; absent if there is none. */
  readonly derived: Service | undefined;
  /**
   * The Services that are derived from this ServiceImport and stand for one pod each (label
   * `linkspan.dev/imported-pod`). A headless ServiceImport has them for targets that are reached through gateways.
   */
  readonly podServices: readonly Service[];
  /** Reports whether a Service of this name exists in {@link namespace} and is not derived from this ServiceImport. */
  readonly isForeign: (service: string) => boolean;
  /** Maximum number of pods of one target cluster that get a Service of their own ({@link podServices}, rule E10). */
  readonly maxPods: number;
  /**
   * Whether the derived Service cannot get the addresses of the ServiceImport, because the API server has given them to
   * another Service.
   */
  readonly isAddressTaken: boolean;
  /** Slices whose labels say that they belong to this ServiceImport, or to a Service derived from it. */
  readonly imported: readonly EndpointSlice[];
}

/** A target cluster, or the local cluster. */
export type Exporter = LocalExporter | TargetExporter;

export const targetOf = (exporter: Exporter): TargetExporter | undefined => ('link' in exporter ? exporter : undefined);

/** Props of ServiceImport. */
import type { Metadata } from '../mirror/copied-metadata.ts';
import type { CopiedSlice } from '../mirror/copied-slice.ts';
import type { FederatedGateway } from '../federated/members.ts';
import type { MirrorMode } from '../mirror/mirror-service.ts';
import type { EndpointPort } from '../mirror/ports.ts';
import type { StaticEndpointsProps } from '../mirror/static-endpoints.ts';

/** A port of a ServiceImport. */
export interface ImportPort extends EndpointPort {}

/** A pod of a headless Service that is reached through the gateway of its cluster. A Service of its own stands for it. */
export interface ImportedPod {
  /**
   * Hostname of the pod, as its Service publishes it: requests name it, and reach this pod.
   * @default - none: requests name the Service, and the gateway chooses one of its pods
   */
  readonly hostname?: string | undefined;
  /**
   * IP address of the pod in its cluster. DNS calls a pod without hostname by it, with dashes.
   * @default - none: it has a hostname
   */
  readonly address?: string | undefined;
  /**
   * Ports that the pod listens on, by the names of the Service's ports. Clients connect to the same ones; UDP and SCTP
   * ports are left out, and so are those that the ServiceImport does not have.
   */
  readonly ports: readonly EndpointPort[];
  /**
   * Whether the pod takes requests.
   * @default true
   */
  readonly ready?: boolean | undefined;
  /**
   * IP addresses of the pod's Service, one for each family.
   * @maxItems 2
   * @default - the API server chooses one, and until it is known no slices are rendered for the pod
   */
  readonly ips?: readonly string[] | undefined;
}

/** A cluster that exports the Service of a ServiceImport. */
export interface ImportedCluster {
  /** Id of the cluster in its set: a DNS label. */
  readonly id: string;
  /**
   * Name of the target cluster: `spec.targetClusterName` of its Link.
   * @default - the cluster of the ServiceImport itself
   */
  readonly targetCluster?: string | undefined;
  /**
   * DNS domain of the target cluster.
   * @default cluster.local
   */
  readonly targetClusterDomain?: string | undefined;
  /**
   * Ports of the Service in that cluster. Those that the ServiceImport does not have under the same name, number and
   * protocol are left out.
   * @default - those of the ServiceImport
   */
  readonly ports?: readonly EndpointPort[] | undefined;
  /**
   * Gateway of the target cluster, if mode is gateway.
   * @default - none: no slices are rendered for the cluster
   */
  readonly endpoints?: FederatedGateway | undefined;
  /**
   * Pods of the Service in the target cluster, if mode is gateway and type Headless.
   * @default - none
   */
  readonly pods?: readonly ImportedPod[] | undefined;
  /**
   * EndpointSlices of the Service in that cluster, if it is the cluster of the ServiceImport itself, or mode is
   * remote-discovery.
   * @default - none
   */
  readonly slices?: readonly CopiedSlice[] | undefined;
}

/** Whether clients reach a ServiceImport by an IP address of its own, or each of its pods. */
export type ImportType = 'ClusterSetIP' | 'Headless';

/** Properties of {@link ServiceImport}. */
export interface ServiceImportProps extends StaticEndpointsProps {
  /** Name of the exported Services, and so of the ServiceImport. */
  readonly service: string;
  /** Namespace of these Services, and so of the ServiceImport. */
  readonly namespace: string;
  /** Ports of the Service, in the union of all exports. */
  readonly ports: readonly ImportPort[];
  /**
   * Whether clients reach the Service by an IP address of its own, or each of its pods.
   * @default ClusterSetIP
   */
  readonly type?: ImportType | undefined;
  /**
   * Whether the Services of other clusters are reached through their gateways, or pods directly on a flat network.
   * @default gateway
   */
  readonly mode?: MirrorMode | undefined;
  /**
   * IP addresses of the Service, one for each family, if type is ClusterSetIP; the derived Service gets them.
   * @maxItems 2
   * @default - the API server chooses one for the derived Service, and the ServiceImport has none
   */
  readonly ips?: readonly string[] | undefined;
  /**
   * Families of the IP addresses.
   * @default - those that the API server chooses for the derived Service
   */
  readonly ipFamilies?: readonly ('IPv4' | 'IPv6')[] | undefined;
  /**
   * Session affinity of the exported Service.
   * @default - none is stated
   */
  readonly sessionAffinity?: 'ClientIP' | 'None' | undefined;
  /**
   * Time that a session lasts with `ClientIP`, in seconds.
   * @default - none is stated
   */
  readonly sessionAffinitySeconds?: number | undefined;
  /**
   * Whether clients of the exported Service reach endpoints on other nodes. The derived Service does not have it: all
   * endpoints of other clusters are on other nodes.
   * @default - none is stated
   */
  readonly internalTrafficPolicy?: 'Cluster' | 'Local' | undefined;
  /**
   * Endpoints that the exported Service prefers, as in `PreferClose`.
   * @default - none is stated
   */
  readonly trafficDistribution?: string | undefined;
  /**
   * Labels that are exported; those that must not be copied are left out here (rule B2).
   * @default - none
   */
  readonly labels?: Metadata | undefined;
  /**
   * Annotations that are exported; those that must not be copied are left out here (rule B2).
   * @default - none
   */
  readonly annotations?: Metadata | undefined;
  /**
   * Ports that are opaque to Linkerd, as in the annotation `config.linkerd.io/opaque-ports` of the exported Service.
   * @default - none
   */
  readonly opaquePorts?: string | undefined;
  /**
   * Clusters that export the Service, in any order.
   * @default - none: no endpoints are rendered
   */
  readonly clusters?: readonly ImportedCluster[] | undefined;
}

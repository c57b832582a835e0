/** What {@link ClusterSetProps} say: the rules for them and ClusterSet both read them. */
import type { GatewayProps } from '../gateway/gateway.ts';
import type { SecretStoreRef } from '../link/credentials-reference.ts';
import type { MirrorOperatorProps } from '../operator/props.ts';
import type { MulticlusterProps } from './multicluster.ts';
import type { Topology } from './topology.ts';

/** Props that all parts of a cluster share, given by the member or the set. */
type Common = 'namespace' | 'linkerdNamespace' | 'trustDomain';

/** How a cluster's API server is reached from the others. */
export interface ApiServer {
  /** URL; https. */
  readonly url: string;
  /** CA certificates: PEM, in base64, as `certificate-authority-data` of a kubeconfig. */
  readonly caData: string;
  /**
   * Name in the server's certificate, where it is not the host of the URL.
   * @default - the host of the URL
   */
  readonly tlsServerName?: string | undefined;
}

/** One cluster of a {@link ClusterSet}. */
export interface ClusterSetMember {
  /** Name of the cluster: that of the Links to it, and the end of the names of its mirrors. */
  readonly name: string;
  /**
   * DNS domain of the cluster.
   * @default cluster.local
   */
  readonly clusterDomain?: string | undefined;
  /**
   * Identity trust domain of its Linkerd.
   * @default - the cluster domain
   */
  readonly trustDomain?: string | undefined;
  /**
   * IP addresses of its gateway, or host names that it is going to have.
   * @default - none: nothing is mirrored from it but on a flat network
   */
  readonly gatewayAddresses?: readonly string[] | undefined;
  /**
   * Its gateway, where other clusters use it.
   * @default - a LoadBalancer with three replicas
   */
  readonly gateway?: Omit<GatewayProps, Common> | undefined;
  /**
   * Its API server, as other clusters reach it.
   * @default - not known: credentials must be left out
   */
  readonly apiServer?: ApiServer | undefined;
  /**
   * The only namespaces that other clusters may read, and so mirror from: their accounts have a Role in each of them.
   * @default - all; not for a flat network, on which Linkerd's destination controller reads whole clusters
   */
  readonly exportNamespaces?: readonly string[] | undefined;
  /**
   * Networks in CIDR notation that its requests to gateways come from.
   * @default - any, and the gateways that it uses are open to all networks
   */
  readonly networks?: readonly string[] | undefined;
}

/** How the credentials of targets are rendered. */
export interface ClusterCredentials {
  /**
   * `external-secret`: an ExternalSecret that puts the token in; `placeholder`: a Secret without a token, which the
   * operator refuses until it is filled; `left-out`: nothing.
   */
  readonly type: 'external-secret' | 'placeholder' | 'left-out';
  /**
   * The store of tokens, for `external-secret`.
   * @default - none
   */
  readonly store?: SecretStoreRef | undefined;
  /**
   * For `external-secret`: tokens are under `<keyPrefix>/<source>/<target>`.
   * @default linkspan
   */
  readonly keyPrefix?: string | undefined;
}

/** Properties of {@link ClusterSet}. */
export interface ClusterSetProps {
  /** The clusters; each name once. */
  readonly members: readonly ClusterSetMember[];
  /**
   * How they are linked.
   * @default - full mesh
   */
  readonly topology?: Topology | undefined;
  /** The operator, in every cluster that has a target. */
  readonly operator: Omit<MirrorOperatorProps, Common | 'targetClusters'>;
  /**
   * What Prometheus and Grafana get of each operator; it takes the Prometheus Operator's CRDs.
   * @default - none
   */
  readonly monitoring?: MulticlusterProps['monitoring'];
  /**
   * How the credentials of targets are rendered.
   * @default - left out
   */
  readonly credentials?: ClusterCredentials | undefined;
  /**
   * Whether pods reach pods of other clusters directly, for flat and federated mode. If so, accounts may read what
   * Linkerd's destination controller needs, and it gets a copy of the credentials; if not, Links select neither mode.
   * @default false
   */
  readonly flat?: boolean | undefined;
  /**
   * ServiceAccounts, in each cluster, that may read the metrics of the gateway's proxy.
   * @default - `prometheus` in `linkerd-viz`
   */
  readonly scrapers?: MulticlusterProps['scrapers'];
  /**
   * Whether Linkerd's own service mirror controller and `linkerd multicluster check` can use the accounts too, but for
   * those that are limited to namespaces.
   * @default true
   */
  readonly linkerdController?: boolean | undefined;
  /**
   * Labels of every object of every cluster.
   * @default - those of the chart around it, if any
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Namespace of the multicluster extension, in every cluster.
   * @default - that of the chart around it, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Pod Security Standard of that namespace: `restricted` where Linkerd's CNI plugin is installed.
   * @default privileged
   */
  readonly podSecurity?: MulticlusterProps['podSecurity'];
  /**
   * Namespace of Linkerd's control plane, in every cluster.
   * @default linkerd
   */
  readonly linkerdNamespace?: string | undefined;
}

/** Props of ClusterSet. */
import type { GatewayProps } from '../gateway/gateway.ts';
import type { SecretStoreRef } from '../link/credentials-reference.ts';
import type { LinkProps } from '../link/props.ts';
import type { MirrorOperatorProps } from '../operator/props.ts';
import type { MulticlusterProps } from './multicluster.ts';
import type { Topology } from './topology.ts';

/** Props that all parts of a cluster share, given by the member or the set. */
type Common = 'namespace' | 'linkerdNamespace' | 'trustDomain';

/** Connection to the API server of a cluster, from other clusters. */
export interface ApiServer {
  /** URL of the API server; https. */
  readonly url: string;
  /** CA certificates of the API server as base64 of PEM, like `certificate-authority-data` of a kubeconfig. */
  readonly caData: string;
  /**
   * Name in the certificate of the API server.
   * @default - the host of the URL
   */
  readonly tlsServerName?: string | undefined;
}

/** A member of a {@link ClusterSet}: one cluster. */
export interface ClusterSetMember {
  /** Name of the cluster. Links to it have this name, and mirrors of its Services end in it. */
  readonly name: string;
  /**
   * DNS domain of the cluster.
   * @default cluster.local
   */
  readonly clusterDomain?: string | undefined;
  /**
   * Identity trust domain of Linkerd in the cluster.
   * @default - the cluster domain
   */
  readonly trustDomain?: string | undefined;
  /**
   * IP addresses or host names of the gateway; required of a target unless `flat` is true.
   * @default - none
   */
  readonly gatewayAddresses?: readonly string[] | undefined;
  /**
   * The gateway, which is rendered if other clusters use it.
   * @default - a LoadBalancer with three replicas
   */
  readonly gateway?: Omit<GatewayProps, Common> | undefined;
  /**
   * Who may come through the gateway, where this cluster differs from the others: so each can be moved from `open` by itself.
   * @default - that of `operator`
   */
  readonly gatewayAccess?: 'open' | 'exported' | 'clients' | undefined;
  /**
   * Who may open connections through the gateway that Linkerd does not look into, where this cluster differs from the others.
   * @default - that of `operator`
   */
  readonly gatewayTcp?: 'none' | 'meshed' | 'clients' | undefined;
  /**
   * Whether the cluster keeps its operator, with the CRDs, while it has no Links: so that the mirrors of its last Links are
   * removed before the operator is.
   * @default - only while it has Links, or a gateway whose policy the operator keeps
   */
  readonly operator?: true | undefined;
  /**
   * API server of the cluster, as other clusters reach it; required of a target unless credentials are left out.
   * @default - none
   */
  readonly apiServer?: ApiServer | undefined;
  /**
   * The only namespaces that other clusters may read and mirror from, by a Role in each. They exclude `flat`: Linkerd's
   * destination controller reads whole clusters.
   * @default - all
   */
  readonly exportNamespaces?: readonly string[] | undefined;
  /**
   * Networks in CIDR notation that the requests of the cluster to gateways come from. Without them, the gateways that it
   * uses are open to all networks.
   * @default - any
   */
  readonly networks?: readonly string[] | undefined;
}

/** What the Link of one pair has otherwise than the set would give it. */
export interface ClusterSetLink extends Pick<
  LinkProps,
  | 'gatewayAddresses'
  | 'gatewayPort'
  | 'gatewayIdentity'
  | 'probe'
  | 'selector'
  | 'remoteDiscoverySelector'
  | 'federatedServiceSelector'
  | 'federation'
  | 'serviceExports'
  | 'importPolicy'
  | 'excludedLabels'
  | 'excludedAnnotations'
  | 'enableHeadlessServices'
  | 'enableNamespaceCreation'
> {
  /** Name of the cluster that mirrors. */
  readonly source: string;
  /** Name of the cluster that exports. */
  readonly target: string;
}

/** The MCS API in the clusters of a set. */
export interface ClusterSetMcs {
  /**
   * Id of the set: the value of the ClusterProperty `clusterset.k8s.io` of every cluster. It must not change while
   * clusters are in the set. The id of each cluster, `cluster.clusterset.k8s.io`, is its name.
   */
  readonly clusterSet: string;
  /**
   * Whether to render the CRDs of ServiceExport, ServiceImport and ClusterProperty; false where another implementation of
   * the MCS API, or a cloud provider, has installed them.
   * @default true
   */
  readonly crds?: boolean | undefined;
}

/** Credentials of targets, which are rendered without their tokens. */
export interface ClusterCredentials {
  /**
   * What to render. `external-secret`: an ExternalSecret that adds the token; `placeholder`: a Secret without a token,
   * which the operator refuses until the token is added; `left-out`: nothing.
   */
  readonly type: 'external-secret' | 'placeholder' | 'left-out';
  /**
   * Store of the tokens, required for type `external-secret`.
   * @default - none
   */
  readonly store?: SecretStoreRef | undefined;
  /**
   * Prefix of the keys `<keyPrefix>/<source>/<target>` of tokens in the store, for type `external-secret`.
   * @default linkspan
   */
  readonly keyPrefix?: string | undefined;
}

/** Properties of {@link ClusterSet}. */
export interface ClusterSetProps {
  /** The clusters; at least one, each with a unique name. */
  readonly members: readonly ClusterSetMember[];
  /**
   * Topology of the Links between the members.
   * @default - full mesh
   */
  readonly topology?: Topology | undefined;
  /**
   * What single Links have otherwise than the set would give them, such as selectors of their own. Each pair must be in the
   * topology.
   * @default - none
   */
  readonly links?: readonly ClusterSetLink[] | undefined;
  /** The operator of every cluster that has a target, or that is to keep it without. */
  readonly operator: Omit<MirrorOperatorProps, Common | 'targetClusters'>;
  /**
   * Objects for Prometheus and Grafana, for each operator. They need the CRDs of the Prometheus Operator.
   * @default - none
   */
  readonly monitoring?: MulticlusterProps['monitoring'];
  /**
   * Credentials of targets, which are rendered without their tokens.
   * @default - left out
   */
  readonly credentials?: ClusterCredentials | undefined;
  /**
   * Whether pods can connect to pods of other clusters, as flat mode needs. If true, accounts have the rights that Linkerd's
   * destination controller needs, which gets a copy of the credentials; if false, Links select nothing in flat mode.
   * @default false
   */
  readonly flat?: boolean | undefined;
  /**
   * How the members of federated Services are reached: through gateways, or on a flat network.
   * @default - flat if `flat` is true, else gateway
   */
  readonly federation?: 'gateway' | 'flat' | undefined;
  /**
   * Whether clusters import what the ServiceExports of others export. ServiceImports are reached as `federation` says, or, if it
   * is absent, through the gateways that there are.
   * @default true
   */
  readonly serviceExports?: boolean | undefined;
  /**
   * The MCS API in every cluster: its CRDs, and what the clusters are called.
   * @default - none: neither CRDs nor ids are rendered
   */
  readonly mcs?: ClusterSetMcs | undefined;
  /**
   * ServiceAccounts, in each cluster, that may read the metrics of the gateway's proxy.
   * @default - `prometheus` in `linkerd-viz`
   */
  readonly scrapers?: MulticlusterProps['scrapers'];
  /**
   * Whether Linkerd's own controller and `linkerd multicluster check` can use the accounts of source clusters too. They
   * cannot use accounts that are limited to namespaces.
   * @default true
   */
  readonly linkerdController?: boolean | undefined;
  /**
   * Labels of every object of every cluster.
   * @default - those of the chart around it, else none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Namespace of the multicluster extension, in every cluster.
   * @default - that of the chart around it, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Pod Security Standard that the namespace of the extension enforces; `restricted` with Linkerd's CNI plugin.
   * @default privileged
   */
  readonly podSecurity?: MulticlusterProps['podSecurity'];
  /**
   * Namespace of Linkerd's control plane, in every cluster.
   * @default linkerd
   */
  readonly linkerdNamespace?: string | undefined;
}

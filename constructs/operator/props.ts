/** Props of MirrorOperator. */
import type { LabelSelector } from '../../crds/link/types.gen.ts';
import type { PodProps } from '../common/pod-props.ts';
import type { Scrapers } from '../common/scrape-policy.ts';
import type { OperatorSettings } from './settings.ts';

/** A network. */
export interface IpBlock {
  /** Network in CIDR notation. */
  readonly cidr: string;
  /**
   * Parts of the network that may not connect.
   * @default - none
   */
  readonly except?: readonly string[] | undefined;
}

/** Clients that may connect to the pods. */
export interface AllowedPeers {
  /** Peers that may connect; at least one. */
  readonly from: readonly NetworkPolicyPeer[];
}

/** A peer of a NetworkPolicy: pods, or a network. */
export interface NetworkPolicyPeer {
  /**
   * Labels of the pods that may connect.
   * @default - all pods, if there is a namespaceSelector
   */
  readonly podSelector?: LabelSelector | undefined;
  /**
   * Labels of the namespaces of these pods.
   * @default - the namespace of the operator
   */
  readonly namespaceSelector?: LabelSelector | undefined;
  /**
   * Network in CIDR notation that may connect, except for some parts of it.
   * @default - none
   */
  readonly ipBlock?: IpBlock | undefined;
}

/** Properties of {@link MirrorOperator}. */
export interface MirrorOperatorProps extends PodProps, OperatorSettings {
  /** Image of Linkspan, with tag or digest; its entry point is the `linkspan` command. */
  readonly image: string;
  /**
   * When the kubelet pulls the image.
   * @default - Always for tag latest, else IfNotPresent
   */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
  /**
   * Namespace of the operator, the Links and their credentials.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Namespace of Linkerd's control plane.
   * @default linkerd
   */
  readonly linkerdNamespace?: string | undefined;
  /**
   * Whether federated Services and ServiceImports may lead to pods of other clusters, on a flat network. If true, the
   * operator may read the Secrets of the control plane's namespace, or those of `credentialsSecrets` there: only clusters
   * with credentials there are reached.
   * @default - false, and of Multicluster and ClusterSet whether a Link joins or imports on one
   */
  readonly flat?: boolean | undefined;
  /**
   * Whether to grant the right to create namespaces although `enableNamespaceCreation` is not true: to an operator with
   * Links that set it themselves. Other Links get no namespaces by this.
   * @default - false, and of Multicluster and ClusterSet whether a Link has namespaces created
   */
  readonly grantNamespaceCreation?: boolean | undefined;
  /**
   * Target clusters of the Links, first the one that `linkerd multicluster gateways` and `check` must find.
   * @default - none, and these commands do not find the operator
   */
  readonly targetClusters?: readonly string[] | undefined;
  /**
   * Whether the pods are in the mesh. Without Linkerd's proxy, gateways are probed directly and without mTLS.
   * @default true
   */
  readonly meshed?: boolean | undefined;
  /**
   * Port of /healthz, /readyz and /metrics.
   * @default 9999
   */
  readonly adminPort?: number | undefined;
  /**
   * Address that the admin port listens on, `::` for a cluster with IPv6 only.
   * @default 0.0.0.0
   */
  readonly adminHost?: '0.0.0.0' | '::' | undefined;
  /**
   * Clients that may connect to the pods, as peers of a NetworkPolicy; false for no NetworkPolicy.
   * @default - all, to the admin port and the ports of the proxy
   */
  readonly networkPolicy?: false | AllowedPeers | undefined;
  /**
   * Clients that may use the admin port of pods in the mesh: `anybody`, or meshed clients of these ServiceAccounts, as in
   * `{ name: 'prometheus', namespace: 'linkerd-viz' }`. Linkerd always allows the probes of the kubelet.
   * @default anybody
   */
  readonly scrapers?: Scrapers | undefined;
  /**
   * Additional environment variables of the container, such as those for a proxy server. `NODE_OPTIONS` replaces the
   * default of the construct.
   * @default - none
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Number of pods.
   * @default 2
   */
  readonly replicas?: number | undefined;
}

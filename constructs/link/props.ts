/** Props of Link: numbers, durations and arrays where the wire has strings and comma-separated lists. */
import type { LabelSelector } from '../../crds/link/types.gen.ts';
import type { TimeSpan } from '../common/time-span.ts';

/** How the health of a target's gateway is probed. */
export interface LinkProbe {
  /**
   * Path of the health endpoint.
   * @default /ready
   */
  readonly path?: string | undefined;
  /**
   * Port of the health endpoint.
   * @default 4191
   */
  readonly port?: number | undefined;
  /**
   * Time between probes.
   * @default 3s
   */
  readonly period?: TimeSpan | undefined;
  /**
   * Time after which a probe has failed.
   * @default 30s
   */
  readonly timeout?: TimeSpan | undefined;
  /**
   * Consecutive failures that make the gateway not alive.
   * @default 3
   */
  readonly failureThreshold?: number | undefined;
}

/** Properties of {@link Link}. */
export interface LinkProps {
  /** Name of the target cluster; mirrors are called `<service>-<name>`. */
  readonly targetCluster: string;
  /**
   * Name of the Link.
   * @default - that of the target cluster
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the Link.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Labels of the Link.
   * @default - none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Annotations of the Link.
   * @default - none
   */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /**
   * DNS domain of the target cluster.
   * @default cluster.local
   */
  readonly targetClusterDomain?: string | undefined;
  /**
   * Identity trust domain of the target's Linkerd, which the gateway's identity is of.
   * @default - the target's cluster domain
   */
  readonly targetTrustDomain?: string | undefined;
  /**
   * Namespace of Linkerd's control plane in the target cluster.
   * @default linkerd
   */
  readonly targetLinkerdNamespace?: string | undefined;
  /**
   * Name of the Secret with the kubeconfig of the target cluster, in the Link's namespace.
   * @default - `cluster-credentials-<target cluster>`, as LinkCredentials has it
   */
  readonly clusterCredentialsSecret?: string | undefined;
  /**
   * The only namespaces of the target cluster that are read, as its RemoteAccess has them in `exportNamespaces`. Linkerd's own
   * CRD drops this.
   * @default - all
   */
  readonly targetNamespaces?: readonly string[] | undefined;
  /**
   * IP addresses and host names of the target's gateway.
   * @default - no gateway: flat and federated mode only
   */
  readonly gatewayAddresses?: readonly string[] | undefined;
  /**
   * Port of the target's gateway.
   * @default 4143
   */
  readonly gatewayPort?: number | undefined;
  /**
   * TLS identity of the target's gateway.
   * @default - that of `linkerd-gateway` in `linkerd-multicluster`, of the target's trust domain
   */
  readonly gatewayIdentity?: string | undefined;
  /**
   * How the gateway's health is probed.
   * @default - path /ready on port 4191, every 3 s
   */
  readonly probe?: LinkProbe | undefined;
  /**
   * Services to mirror through the gateway; `{}` selects none.
   * @default - with a gateway, those labelled `mirror.linkerd.io/exported: "true"`
   */
  readonly selector?: LabelSelector | undefined;
  /**
   * Services to mirror in flat mode; `{}` selects none.
   * @default - those labelled `mirror.linkerd.io/exported: remote-discovery`
   */
  readonly remoteDiscoverySelector?: LabelSelector | undefined;
  /**
   * Services that join the federated Service of their name; `{}` selects none. For Linkerd's controller: Linkspan's operator
   * does not make federated Services yet.
   * @default - those labelled `mirror.linkerd.io/federated: member`
   */
  readonly federatedServiceSelector?: LabelSelector | undefined;
  /**
   * Labels not to copy to mirrors, beyond those that never are: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedLabels?: readonly string[] | undefined;
  /**
   * Annotations not to copy to mirrors, beyond those that never are: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedAnnotations?: readonly string[] | undefined;
  /**
   * Whether headless Services are mirrored pod by pod.
   * @default - the operator's default
   */
  readonly enableHeadlessServices?: boolean | undefined;
  /**
   * Whether namespaces that mirrors need are created.
   * @default - the operator's default
   */
  readonly enableNamespaceCreation?: boolean | undefined;
}

/** Props of Link: numbers, durations and arrays where the wire has strings and comma-separated lists. */
import type { LabelSelector } from '../../crds/link/types.gen.ts';
import type { TimeSpan } from '../common/time-span.ts';

/** Probes of the health of a target's gateway. */
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
   * Time after which a probe without an answer fails.
   * @default 30s
   */
  readonly timeout?: TimeSpan | undefined;
  /**
   * Number of consecutive failed probes after which the gateway is down.
   * @default 3
   */
  readonly failureThreshold?: number | undefined;
}

/** What is taken of what a target exports. A Service must be admitted by each list that there is. */
export interface LinkImportPolicy {
  /**
   * Namespaces of Services: names, or patterns with `*`.
   * @default - all
   */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Names of Services, or patterns with `*`.
   * @default - all
   */
  readonly names?: readonly string[] | undefined;
  /**
   * Ports of Services: numbers, or ranges such as `8000-8999`. All ports of a Service must be among them.
   * @default - all
   */
  readonly ports?: readonly (number | string)[] | undefined;
  /**
   * Types of Services; `Headless` for those without a ClusterIP.
   * @default - all
   */
  readonly types?: readonly ('ClusterIP' | 'Headless' | 'NodePort' | 'LoadBalancer')[] | undefined;
  /**
   * Whether a Service waits until it is among those approved.
   * @default none
   */
  readonly approval?: 'none' | 'required' | undefined;
  /**
   * Services that are approved, as `namespace/name`, or patterns with `*`. Required if `approval` is: an empty list lets
   * each wait until `linkspan approve` admits it.
   * @default - none
   */
  readonly approved?: readonly string[] | undefined;
}

/** Properties of {@link Link}. */
export interface LinkProps {
  /** Name of the target cluster; mirrors are called `<service>-<name>`. */
  readonly targetCluster: string;
  /**
   * Name of the Link.
   * @default - the name of the target cluster
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
   * Identity trust domain of Linkerd in the target, which is part of the gateway's identity.
   * @default - its cluster domain
   */
  readonly targetTrustDomain?: string | undefined;
  /**
   * Namespace of Linkerd's control plane in the target.
   * @default linkerd
   */
  readonly targetLinkerdNamespace?: string | undefined;
  /**
   * Name of the Secret with the kubeconfig of the target, in the namespace of the Link.
   * @default cluster-credentials-<target cluster>
   */
  readonly clusterCredentialsSecret?: string | undefined;
  /**
   * The only namespaces of the target that are read: `exportNamespaces` of its RemoteAccess. Linkerd's own CRD drops this
   * field.
   * @default - all
   */
  readonly targetNamespaces?: readonly string[] | undefined;
  /**
   * IP addresses and host names of the target's gateway.
   * @default - no gateway, for a flat network only
   */
  readonly gatewayAddresses?: readonly string[] | undefined;
  /**
   * Port of the gateway.
   * @default 4143
   */
  readonly gatewayPort?: number | undefined;
  /**
   * TLS identity of the gateway.
   * @default - that of `linkerd-gateway` in `linkerd-multicluster`
   */
  readonly gatewayIdentity?: string | undefined;
  /**
   * Probes of the gateway's health.
   * @default - /ready on port 4191, every 3s
   */
  readonly probe?: LinkProbe | undefined;
  /**
   * Services to mirror through the gateway; `{}` selects none.
   * @default - those labelled `mirror.linkerd.io/exported: "true"`, if there is a gateway
   */
  readonly selector?: LabelSelector | undefined;
  /**
   * Services to mirror in flat mode; `{}` selects none.
   * @default - those labelled `mirror.linkerd.io/exported: remote-discovery`
   */
  readonly remoteDiscoverySelector?: LabelSelector | undefined;
  /**
   * Services that join the federated Service of their name; `{}` selects none.
   * @default - those labelled `mirror.linkerd.io/federated: member`
   */
  readonly federatedServiceSelector?: LabelSelector | undefined;
  /**
   * How the members of federated Services are reached: through the gateway of the target, or on a flat network, where pods
   * connect to its pods. If any member of a federated Service is reached through a gateway, all are. Linkerd's controller
   * knows flat networks only.
   * @default flat
   */
  readonly federation?: 'gateway' | 'flat' | undefined;
  /**
   * Whether to import what the ServiceExports of the target export. ServiceImports are reached as `federation` says, or, if it
   * is absent, through the gateway, if there is one.
   * @default true
   */
  readonly serviceExports?: boolean | undefined;
  /**
   * What is taken of what the target exports: other Services are not mirrored, joined or imported. Linkerd's own CRD drops this
   * field.
   * @default - all
   */
  readonly importPolicy?: LinkImportPolicy | undefined;
  /**
   * Labels that are not copied to mirrors, beside those that never are: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedLabels?: readonly string[] | undefined;
  /**
   * Annotations that are not copied to mirrors, beside those that never are: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedAnnotations?: readonly string[] | undefined;
  /**
   * Whether to mirror headless Services pod by pod.
   * @default - that of the operator
   */
  readonly enableHeadlessServices?: boolean | undefined;
  /**
   * Whether to create the namespaces that mirrors need.
   * @default - that of the operator
   */
  readonly enableNamespaceCreation?: boolean | undefined;
}

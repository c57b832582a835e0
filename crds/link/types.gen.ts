/**
 * Types of the Link, generated from `schema.ts` by `npm run generate`. Do not edit.
 */

/**
 * Mirrors Services of a target cluster into this one
 */
export interface Link {
  /**
   * API group and version
   */
  readonly apiVersion?: string;
  /**
   * Kind of the object: Link
   */
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
  readonly spec?: LinkSpec;
  readonly status?: LinkStatus;
}
export interface ObjectMeta {
  /**
   * Name
   */
  readonly name?: string;
  /**
   * Namespace
   */
  readonly namespace?: string;
  /**
   * Identity over the object's lifetime
   */
  readonly uid?: string;
  /**
   * Opaque version of the object
   */
  readonly resourceVersion?: string;
  /**
   * Version of the spec
   */
  readonly generation?: number;
  /**
   * When it was created
   */
  readonly creationTimestamp?: string;
  /**
   * When its deletion was asked for
   */
  readonly deletionTimestamp?: string;
  /**
   * Labels
   */
  readonly labels?: {
    readonly [k: string]: string;
  };
  /**
   * Annotations
   */
  readonly annotations?: {
    readonly [k: string]: string;
  };
}
/**
 * The target cluster, how it is reached and what is mirrored from it
 */
export interface LinkSpec {
  /**
   * Name of the target cluster; mirrors are called <service>-<name>
   */
  readonly targetClusterName?: string;
  /**
   * DNS domain of the target cluster; cluster.local when absent
   */
  readonly targetClusterDomain?: string;
  /**
   * Namespace of Linkerd's control plane on the target cluster; linkerd when absent
   */
  readonly targetClusterLinkerdNamespace?: string;
  /**
   * Secret with the kubeconfig of the target cluster, in the namespace of the Link
   */
  readonly clusterCredentialsSecret?: string;
  /**
   * Addresses of the target's gateway: IPs and host names, comma separated; without one there is no gateway
   */
  readonly gatewayAddress?: string;
  /**
   * Port of the target's gateway: a number as a string
   */
  readonly gatewayPort?: string;
  /**
   * TLS identity of the target's gateway; without it proxies send plaintext
   */
  readonly gatewayIdentity?: string;
  readonly probeSpec?: ProbeSpec;
  readonly selector?: LabelSelector;
  readonly remoteDiscoverySelector?: LabelSelector;
  readonly federatedServiceSelector?: LabelSelector;
  /**
   * Linkspan: how these Services are reached, through the gateway of the target or on a flat network; flat when absent
   */
  readonly federation?: 'gateway' | 'flat';
  /**
   * Linkspan: import what the ServiceExports of the target export, reached as federation says, or if that is absent through the gateway, if there is one; true when absent
   */
  readonly serviceExports?: boolean;
  /**
   * Annotations not to copy: exact keys, or prefix/*
   */
  readonly excludedAnnotations?: readonly string[];
  /**
   * Labels not to copy: exact keys, or prefix/*
   */
  readonly excludedLabels?: readonly string[];
  /**
   * Linkspan: the only namespaces of the target cluster that are read, for credentials that are limited to them; all when absent
   */
  readonly targetNamespaces?: readonly string[];
  readonly importPolicy?: ImportPolicySpec;
  /**
   * Linkspan: mirror headless Services pod by pod; the operator's default when absent
   */
  readonly enableHeadlessServices?: boolean;
  /**
   * Linkspan: create namespaces that a mirror needs; the operator's default when absent
   */
  readonly enableNamespaceCreation?: boolean;
}
/**
 * How the health of the gateway is probed; without a path it is not
 */
export interface ProbeSpec {
  /**
   * Path of the gateway's health endpoint, such as /ready
   */
  readonly path?: string;
  /**
   * Port of the gateway's health endpoint: a number as a string
   */
  readonly port?: string;
  /**
   * Time between probes: a Go duration such as 3s
   */
  readonly period?: string;
  /**
   * Time after which a probe has failed: a Go duration
   */
  readonly timeout?: string;
  /**
   * Consecutive failures that make the gateway not alive: a number as a string
   */
  readonly failureThreshold?: string;
}
/**
 * Selects Services by label; all requirements must hold, and an empty selector selects nothing
 */
export interface LabelSelector {
  /**
   * Labels, each with the value it must have
   */
  readonly matchLabels?: {
    readonly [k: string]: string;
  };
  /**
   * Requirements
   */
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}
/**
 * One requirement on a label
 */
export interface LabelSelectorRequirement {
  /**
   * Label key
   */
  readonly key: string;
  /**
   * Relation of the label to the values
   */
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * At least one for In and NotIn, none for Exists and DoesNotExist
   */
  readonly values?: readonly string[];
}
/**
 * Linkspan: what of the exports of the target is mirrored, joined or imported; all of it when absent. Each list that is there must admit a Service
 */
export interface ImportPolicySpec {
  /**
   * Namespaces of Services: names, or patterns with *
   */
  readonly namespaces?: readonly string[];
  /**
   * Names of Services, or patterns with *
   */
  readonly names?: readonly string[];
  /**
   * Ports of Services, each a number or a range such as 8000-8999, as a string; all of its ports must be among them
   */
  readonly ports?: readonly string[];
  /**
   * Types of Services; Headless for those without a ClusterIP
   */
  readonly types?: ('ClusterIP' | 'Headless' | 'NodePort' | 'LoadBalancer')[];
  /**
   * Whether a Service that is not among those approved waits; none when absent
   */
  readonly approval?: 'none' | 'required';
  /**
   * Services that are approved, as namespace/name, or patterns with *; required if approval is
   */
  readonly approved?: readonly string[];
}
/**
 * What the operator has seen and done
 */
export interface LinkStatus {
  /**
   * Mirrored Services, failures first
   */
  readonly mirrorServices?: readonly ServiceStatus[];
  /**
   * Federated Services
   */
  readonly federatedServices?: readonly ServiceStatus[];
  /**
   * Linkspan: conditions of the Link
   */
  readonly conditions?: readonly Condition[];
  readonly mirrors?: MirrorCounts;
  readonly gateway?: GatewayStatus;
  /**
   * Linkspan: metadata.generation that this status describes
   */
  readonly observedGeneration?: number;
}
/**
 * How one Service of the target is doing
 */
export interface ServiceStatus {
  /**
   * Who wrote this entry: domain/path
   */
  readonly controllerName: string;
  readonly remoteRef: ObjectRef;
  /**
   * Its conditions
   */
  readonly conditions?: readonly ServiceCondition[];
}
/**
 * Names an object
 */
export interface ObjectRef {
  /**
   * API group
   */
  readonly group?: string;
  /**
   * Kind
   */
  readonly kind?: string;
  /**
   * Name
   */
  readonly name: string;
  /**
   * Namespace
   */
  readonly namespace: string;
}
/**
 * One aspect of a mirrored or federated Service
 */
export interface ServiceCondition {
  /**
   * CamelCase, or prefixed as example.com/CamelCase
   */
  readonly type: string;
  /**
   * Whether it holds
   */
  readonly status: 'True' | 'False' | 'Unknown';
  /**
   * CamelCase word for why
   */
  readonly reason: string;
  /**
   * For people; may be empty
   */
  readonly message: string;
  /**
   * When status last changed
   */
  readonly lastTransitionTime: string;
  readonly localRef?: ObjectRef;
}
/**
 * One aspect of the Link
 */
export interface Condition {
  /**
   * CamelCase, or prefixed as example.com/CamelCase
   */
  readonly type: string;
  /**
   * Whether it holds
   */
  readonly status: 'True' | 'False' | 'Unknown';
  /**
   * CamelCase word for why
   */
  readonly reason: string;
  /**
   * For people; may be empty
   */
  readonly message: string;
  /**
   * When status last changed
   */
  readonly lastTransitionTime: string;
  /**
   * metadata.generation of the Link that this was seen at
   */
  readonly observedGeneration?: number;
}
/**
 * Linkspan: how many Services are mirrored
 */
export interface MirrorCounts {
  /**
   * Services selected on the target
   */
  readonly total?: number;
  /**
   * Of these, mirrored
   */
  readonly ready?: number;
  /**
   * Of these, not mirrored; mirrorServices says why
   */
  readonly failed?: number;
  /**
   * Services beside these that importPolicy does not admit
   */
  readonly notAdmitted?: number;
  /**
   * Services beside these that wait until they are approved
   */
  readonly waitingForApproval?: number;
}
/**
 * Linkspan: the gateway as it was last seen
 */
export interface GatewayStatus {
  /**
   * Verdict of the probe
   */
  readonly alive?: boolean;
  /**
   * IPs that mirrors point at, sorted
   */
  readonly addresses?: readonly string[];
}

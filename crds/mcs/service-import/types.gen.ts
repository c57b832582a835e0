/**
 * Types of the ServiceImport, generated from `schema.ts` by `npm run generate`. Do not edit.
 */

/**
 * The Service of its namespace and name that clusters of the set export
 */
export interface ServiceImport {
  /**
   * API group and version
   */
  readonly apiVersion?: string;
  /**
   * Kind of the object: ServiceImport
   */
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
  readonly spec?: ServiceImportSpec;
  readonly status?: ServiceImportStatus;
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
 * The Service as its clients in this cluster see it
 */
export interface ServiceImportSpec {
  /**
   * Ports
   */
  readonly ports: readonly ServiceImportPort[];
  /**
   * IP addresses of the Service, one for each family, if type is ClusterSetIP
   *
   * @maxItems 2
   */
  readonly ips?: readonly string[];
  /**
   * Whether clients reach the Service by an IP address of its own, or each of its pods
   */
  readonly type: 'ClusterSetIP' | 'Headless';
  /**
   * ClientIP or None; None when absent
   */
  readonly sessionAffinity?: string;
  readonly sessionAffinityConfig?: SessionAffinityConfig;
  /**
   * Families of the IP addresses: IPv4, IPv6
   *
   * @maxItems 2
   */
  readonly ipFamilies?: readonly string[];
  /**
   * Cluster or Local: whether clients reach endpoints on other nodes
   */
  readonly internalTrafficPolicy?: string;
  /**
   * Endpoints that are preferred, as in PreferClose
   */
  readonly trafficDistribution?: string;
}
/**
 * A port of the Service
 */
export interface ServiceImportPort {
  /**
   * Name of the port, a DNS label; required of each if there are several
   */
  readonly name?: string;
  /**
   * TCP, UDP or SCTP; TCP when absent
   */
  readonly protocol?: string;
  /**
   * Application protocol, as in kubernetes.io/h2c
   */
  readonly appProtocol?: string;
  /**
   * Port number
   */
  readonly port: number;
}
/**
 * Settings of the session affinity
 */
export interface SessionAffinityConfig {
  readonly clientIP?: ClientIPConfig;
}
/**
 * Settings of ClientIP
 */
export interface ClientIPConfig {
  /**
   * Time that a session lasts, in seconds
   */
  readonly timeoutSeconds?: number;
}
/**
 * The exports that the ServiceImport is made of
 */
export interface ServiceImportStatus {
  /**
   * Whether the cluster has EndpointSlices of the ServiceImport
   */
  readonly endpointSliceObjects?: 'Present' | 'Absent';
  /**
   * Clusters that export the Service
   */
  readonly clusters?: readonly ServiceImportCluster[];
  /**
   * Conditions
   */
  readonly conditions?: readonly ServiceImportCondition[];
}
/**
 * A cluster that exports the Service
 */
export interface ServiceImportCluster {
  /**
   * Id of the cluster, a DNS label
   */
  readonly cluster: string;
}
/**
 * One aspect of the object
 */
export interface ServiceImportCondition {
  /**
   * CamelCase, or with a domain before it
   */
  readonly type: string;
  /**
   * Whether it holds
   */
  readonly status: 'True' | 'False' | 'Unknown';
  /**
   * CamelCase words for why, joined by commas
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
   * metadata.generation of the object that this was seen at
   */
  readonly observedGeneration?: number;
}

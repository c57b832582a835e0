/**
 * Types of the ServiceFailover, generated from `schema.ts` by `npm run generate`. Do not edit.
 */

/**
 * Sends the requests to a Service to the first of several Services that is ready, here or in other clusters, by a route of the Gateway API that the operator owns
 */
export interface ServiceFailover {
  /**
   * API group and version
   */
  readonly apiVersion?: string;
  /**
   * Kind of the object: ServiceFailover
   */
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
  readonly spec: FailoverSpec;
  readonly status?: FailoverStatus;
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
 * The Service that clients call, and the Services that take its requests
 */
export interface FailoverSpec {
  /**
   * The Service that clients call, in the same namespace; it may be a backend as well
   */
  readonly service: string;
  /**
   * Services by preference: requests go to the first that is ready, or by weight to all that are; each Service once
   *
   * @minItems 1
   * @maxItems 16
   */
  readonly backends: readonly FailoverBackendSpec[];
  /**
   * Time that a backend must have been ready before requests go back to it: a Go duration; 30s when absent
   */
  readonly holdDown?: string;
  /**
   * Kind of the routes; when absent, HTTPRoute, or TCPRoute for ports that are opaque to Linkerd
   */
  readonly routeKind?: 'HTTPRoute' | 'GRPCRoute' | 'TCPRoute';
}
/**
 * A Service that can take the requests
 */
export interface FailoverBackendSpec {
  /**
   * Service of the same namespace: one of this cluster, or a mirror
   */
  readonly service: string;
  /**
   * Least number of ready endpoints, or their least share as in 50%; one endpoint when absent
   */
  readonly minReady?: number | string;
  /**
   * Share of the requests while it is ready; on every backend or on none
   */
  readonly weight?: number;
}
/**
 * What the operator has seen and done
 */
export interface FailoverStatus {
  /**
   * metadata.generation that this status describes
   */
  readonly observedGeneration?: number;
  /**
   * Namespace of the operator that serves the ServiceFailover: others leave it alone
   */
  readonly operator?: string;
  /**
   * Backends that requests go to, joined by commas
   */
  readonly active?: string;
  /**
   * Conditions
   */
  readonly conditions?: readonly FailoverCondition[];
  /**
   * The backends, in the order of the spec
   */
  readonly backends?: readonly BackendStatus[];
}
/**
 * One aspect of the ServiceFailover
 */
export interface FailoverCondition {
  /**
   * CamelCase
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
   * metadata.generation of the ServiceFailover that this was seen at
   */
  readonly observedGeneration?: number;
}
/**
 * How one backend is doing
 */
export interface BackendStatus {
  /**
   * Name of the Service
   */
  readonly service: string;
  /**
   * Whether enough of its endpoints are ready
   */
  readonly ready: boolean;
  /**
   * When ready last changed
   */
  readonly lastTransitionTime: string;
  /**
   * Its weight in the route of the first port that it has; absent if it is in no route
   */
  readonly weight?: number;
  /**
   * Endpoints that are ready; absent while not known
   */
  readonly readyEndpoints?: number;
  /**
   * Endpoints, without those that terminate; absent while not known
   */
  readonly endpoints?: number;
}

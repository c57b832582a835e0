/**
 * Types of the ClusterProperty, generated from `schema.ts` by `npm run generate`. Do not edit.
 */

/**
 * A fact about the cluster, such as its id among those of its set
 */
export interface ClusterProperty {
  /**
   * API group and version
   */
  readonly apiVersion?: string;
  /**
   * Kind of the object: ClusterProperty
   */
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
  readonly spec: ClusterPropertySpec;
  readonly status?: ClusterPropertyStatus;
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
 * The fact
 */
export interface ClusterPropertySpec {
  /**
   * Its value
   */
  readonly value: string;
}
/**
 * Without fields
 */
export interface ClusterPropertyStatus {}

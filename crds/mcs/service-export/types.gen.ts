/**
 * Types of the ServiceExport, generated from `schema.ts` by `npm run generate`. Do not edit.
 */

/**
 * Exports the Service of its namespace and name to the other clusters of the set
 */
export interface ServiceExport {
  /**
   * API group and version
   */
  readonly apiVersion?: string;
  /**
   * Kind of the object: ServiceExport
   */
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
  readonly spec?: ServiceExportSpec;
  readonly status?: ServiceExportStatus;
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
 * What is exported beside the Service; nothing of the metadata of either is exported by itself
 */
export interface ServiceExportSpec {
  /**
   * Labels of the ServiceImports
   */
  readonly exportedLabels?: {
    readonly [k: string]: string;
  };
  /**
   * Annotations of the ServiceImports
   */
  readonly exportedAnnotations?: {
    readonly [k: string]: string;
  };
}
/**
 * What the operator of the exporting cluster has seen
 */
export interface ServiceExportStatus {
  /**
   * Conditions
   */
  readonly conditions?: readonly ServiceExportCondition[];
}
/**
 * One aspect of the object
 */
export interface ServiceExportCondition {
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

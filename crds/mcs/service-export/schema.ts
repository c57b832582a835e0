/**
 * The JSON schema of ServiceExport of the MCS API (KEP-1645). Names and fields are those of its reference CRD, in v1beta1;
 * it refuses no object that the reference accepts.
 */
import { conditions, objectFields } from '../fields.ts';

const strings = (description: string) =>
  ({ type: 'object', description, additionalProperties: { type: 'string' } }) as const;

/** Schema of `spec`. */
export const SERVICE_EXPORT_SPEC_SCHEMA = {
  title: 'ServiceExportSpec',
  description: 'What is exported beside the Service; nothing of the metadata of either is exported by itself',
  type: 'object',
  properties: {
    exportedLabels: strings('Labels of the ServiceImports'),
    exportedAnnotations: strings('Annotations of the ServiceImports'),
  },
} as const;

/** Schema of a whole ServiceExport. */
export const SERVICE_EXPORT_SCHEMA = {
  title: 'ServiceExport',
  description: 'Exports the Service of its namespace and name to the other clusters of the set',
  type: 'object',
  properties: {
    ...objectFields('ServiceExport'),
    spec: SERVICE_EXPORT_SPEC_SCHEMA,
    status: {
      title: 'ServiceExportStatus',
      description: 'What the operator of the exporting cluster has seen',
      type: 'object',
      properties: { conditions: conditions('ServiceExportCondition') },
    },
  },
} as const;

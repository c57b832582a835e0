/** The JSON schema of ClusterProperty of the About API (KEP-2149), with the names and fields of its reference CRD. */
import { objectFields } from '../fields.ts';

/** Most characters of a value. */
export const PROPERTY_MAX_LENGTH = 128_000;

/** Schema of a whole ClusterProperty. */
export const CLUSTER_PROPERTY_SCHEMA = {
  title: 'ClusterProperty',
  description: 'A fact about the cluster, such as its id among those of its set',
  type: 'object',
  required: ['spec'],
  properties: {
    ...objectFields('ClusterProperty'),
    spec: {
      title: 'ClusterPropertySpec',
      description: 'The fact',
      type: 'object',
      required: ['value'],
      properties: {
        value: {
          type: 'string',
          description: 'Its value',
          minLength: 1,
          maxLength: PROPERTY_MAX_LENGTH,
        },
      },
    },
    status: {
      title: 'ClusterPropertyStatus',
      description: 'Without fields',
      type: 'object',
      properties: {},
    },
  },
} as const;

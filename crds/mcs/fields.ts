/** Fields that the schemas of the MCS API and the About API share. */
import { OBJECT_META_SCHEMA } from '../link/schema.ts';
import { CONDITION_FIELDS, text } from '../schema-fields.ts';

/** Fields of every object. */
export const objectFields = (kind: string) =>
  ({
    apiVersion: text('API group and version'),
    kind: text(`Kind of the object: ${kind}`),
    metadata: OBJECT_META_SCHEMA,
  }) as const;

/** The field `status.conditions`, of `metav1.Condition`; `title` names the type of one. */
export const conditions = <const T extends string>(title: T) =>
  ({
    type: 'array',
    description: 'Conditions',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: {
      title,
      description: 'One aspect of the object',
      type: 'object',
      required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
      properties: {
        type: {
          ...text('CamelCase, or with a domain before it'),
          maxLength: 316,
          pattern:
            '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
        },
        ...CONDITION_FIELDS,
        reason: { ...CONDITION_FIELDS.reason, description: 'CamelCase words for why, joined by commas' },
        message: { ...CONDITION_FIELDS.message, maxLength: 32_768 },
        observedGeneration: {
          type: 'integer',
          description: 'metadata.generation of the object that this was seen at',
          format: 'int64',
          minimum: 0,
        },
      },
    },
  }) as const;

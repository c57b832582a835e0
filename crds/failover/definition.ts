/** The ServiceFailover's CustomResourceDefinition, derived from its JSON schema: plain JSON in which no object occurs twice. */
import { conditionOf, structural } from '../structural.ts';
import { FailoverApi } from '../wire.ts';
import { FAILOVER_SCHEMA } from './schema.ts';

const STRUCTURE = {
  ...FAILOVER_SCHEMA,
  // The API server has the schema of metadata, and refuses a CRD that repeats it.
  properties: { ...FAILOVER_SCHEMA.properties, metadata: { type: 'object' } },
};

/** The manifest of the CustomResourceDefinition of the ServiceFailover. */
export const failoverCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${FailoverApi.plural}.${FailoverApi.group}` },
  spec: {
    group: FailoverApi.group,
    names: {
      plural: FailoverApi.plural,
      singular: 'servicefailover',
      kind: FailoverApi.kind,
      listKind: 'ServiceFailoverList',
    },
    scope: 'Namespaced',
    versions: [
      {
        name: FailoverApi.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: structural(STRUCTURE) },
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Service', type: 'string', jsonPath: '.spec.service', description: 'The Service that clients call' },
          { name: 'Active', type: 'string', jsonPath: '.status.active', description: 'Where its requests go' },
          {
            name: 'Ready',
            type: 'string',
            jsonPath: conditionOf('Ready', 'status'),
            description: 'Whether all is well',
          },
          {
            name: 'Reason',
            type: 'string',
            jsonPath: conditionOf('Ready', 'reason'),
            description: 'What is in the way',
          },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
} as const;

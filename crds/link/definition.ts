/**
 * The Link's CustomResourceDefinition, derived from its JSON schema. A superset of Linkerd's: v1alpha1 and v1alpha2 are
 * served, v1alpha3 is stored, and all three have one schema, for the reason that `schema.ts` gives. It is
 * plain JSON in which no object occurs twice, so that its YAML needs no anchors.
 */
import { LINK_SCHEMA } from './schema.ts';
import { conditionOf, structural } from '../structural.ts';
import { Label, LinkApi, Value } from '../wire.ts';

const LINK_STRUCTURE = {
  ...LINK_SCHEMA,
  // The API server has the schema of metadata, and refuses a CRD that repeats it.
  properties: { ...LINK_SCHEMA.properties, metadata: { type: 'object' } },
};

const version = (name: string) => ({
  name,
  served: true,
  storage: name === LinkApi.version,
  schema: { openAPIV3Schema: structural(LINK_STRUCTURE) },
  subresources: { status: {} },
  additionalPrinterColumns: [
    { name: 'Target', type: 'string', jsonPath: '.spec.targetClusterName', description: 'Target cluster' },
    { name: 'Ready', type: 'string', jsonPath: conditionOf('Ready', 'status'), description: 'Whether all is well' },
    { name: 'Reason', type: 'string', jsonPath: conditionOf('Ready', 'reason'), description: 'What is in the way' },
    {
      name: 'Gateway',
      type: 'string',
      jsonPath: conditionOf('GatewayAlive', 'status'),
      description: 'Whether the gateway answers',
    },
    { name: 'Mirrored', type: 'integer', jsonPath: '.status.mirrors.ready', description: 'Services mirrored' },
    { name: 'Exported', type: 'integer', jsonPath: '.status.mirrors.total', description: 'Services selected' },
    { name: 'Failed', type: 'integer', jsonPath: '.status.mirrors.failed', description: 'Services not mirrored' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

/** The manifest of the CustomResourceDefinition of the Link. */
export const linkCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: LinkApi.crd,
    labels: { [Label.extension]: Value.extension },
  },
  spec: {
    group: LinkApi.group,
    names: { plural: LinkApi.plural, singular: 'link', kind: LinkApi.kind, listKind: 'LinkList' },
    scope: 'Namespaced',
    versions: ['v1alpha1', 'v1alpha2', LinkApi.version].map(version),
  },
} as const;

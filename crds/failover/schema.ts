/**
 * The ServiceFailover's JSON schema: the one source of its CRD, its TypeScript types and its validators. The kind is ours
 * alone, so the CRD refuses what the operator would not accept, as far as a schema and CEL can say it; `readFailover`
 * checks the same for objects that an older CRD let pass.
 */
import { OBJECT_META_SCHEMA } from '../link/schema.ts';
import { CONDITION_FIELDS, count, text } from '../schema-fields.ts';

/** Most backends of one ServiceFailover: as many as a rule of the Gateway API has. */
export const MAX_BACKENDS = 16;

/** Largest weight, as the Gateway API has it. */
export const MAX_WEIGHT = 1_000_000;

const serviceName = (description: string) =>
  ({
    type: 'string',
    description,
    minLength: 1,
    maxLength: 63,
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  }) as const;

const backend = {
  title: 'FailoverBackendSpec',
  description: 'A Service that can take the requests',
  type: 'object',
  required: ['service'],
  properties: {
    service: serviceName('Service of the same namespace: one of this cluster, or a mirror'),
    minReady: {
      description: 'Least number of ready endpoints, or their least share as in 50%; one endpoint when absent',
      type: ['integer', 'string'],
      'x-kubernetes-int-or-string': true,
      minimum: 1,
      pattern: '^([1-9][0-9]?|100)%$',
    },
    weight: {
      type: 'integer',
      description: 'Share of the requests while it is ready; on every backend or on none',
      minimum: 1,
      maximum: MAX_WEIGHT,
    },
  },
} as const;

/** Schema of `spec`. */
export const FAILOVER_SPEC_SCHEMA = {
  title: 'FailoverSpec',
  description: 'The Service that clients call, and the Services that take its requests',
  type: 'object',
  required: ['service', 'backends'],
  'x-kubernetes-validations': [
    {
      rule: 'self.backends.all(b, has(b.weight)) || self.backends.all(b, !has(b.weight))',
      message: 'every backend must have a weight, or none',
      fieldPath: '.backends',
    },
    {
      rule: 'self.backends.all(a, self.backends.exists_one(b, b.service == a.service))',
      message: 'each Service must be named once',
      fieldPath: '.backends',
    },
  ],
  properties: {
    service: serviceName('The Service that clients call, in the same namespace; it may be a backend as well'),
    backends: {
      type: 'array',
      description:
        'Services by preference: requests go to the first that is ready, or by weight to all that are; each Service once',
      minItems: 1,
      maxItems: MAX_BACKENDS,
      'x-kubernetes-list-type': 'atomic',
      items: backend,
    },
    holdDown: {
      ...text('Time that a backend must have been ready before requests go back to it: a Go duration; 30s when absent'),
      maxLength: 32,
      pattern: '^(0|([0-9]+(\\.[0-9]+)?(ms|s|m|h))+)$',
    },
    routeKind: {
      type: 'string',
      description: 'Kind of the routes; when absent, HTTPRoute, or TCPRoute for ports that are opaque to Linkerd',
      enum: ['HTTPRoute', 'GRPCRoute', 'TCPRoute'],
    },
  },
} as const;

const condition = {
  title: 'FailoverCondition',
  description: 'One aspect of the ServiceFailover',
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { type: 'string', description: 'CamelCase', maxLength: 316 },
    ...CONDITION_FIELDS,
    observedGeneration: count('metadata.generation of the ServiceFailover that this was seen at'),
  },
} as const;

const backendStatus = {
  title: 'BackendStatus',
  description: 'How one backend is doing',
  type: 'object',
  required: ['service', 'ready', 'lastTransitionTime'],
  properties: {
    service: text('Name of the Service'),
    ready: { type: 'boolean', description: 'Whether enough of its endpoints are ready' },
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'When ready last changed' },
    weight: count('Its weight in the route of the first port that it has; absent if it is in no route'),
    readyEndpoints: count('Endpoints that are ready; absent while not known'),
    endpoints: count('Endpoints, without those that terminate; absent while not known'),
  },
} as const;

/** Schema of `status`. */
export const FAILOVER_STATUS_SCHEMA = {
  title: 'FailoverStatus',
  description: 'What the operator has seen and done',
  type: 'object',
  properties: {
    observedGeneration: count('metadata.generation that this status describes'),
    operator: text('Namespace of the operator that serves the ServiceFailover: others leave it alone'),
    active: text('Backends that requests go to, joined by commas'),
    conditions: {
      type: 'array',
      description: 'Conditions',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    backends: {
      type: 'array',
      description: 'The backends, in the order of the spec',
      items: backendStatus,
      'x-kubernetes-list-type': 'atomic',
    },
  },
} as const;

/** Schema of a whole ServiceFailover. */
export const FAILOVER_SCHEMA = {
  title: 'ServiceFailover',
  description:
    'Sends the requests to a Service to the first of several Services that is ready, here or in other clusters, by a route of the Gateway API that the operator owns',
  type: 'object',
  required: ['spec'],
  'x-kubernetes-validations': [
    { rule: 'self.metadata.name.size() <= 63', message: 'metadata.name must have at most 63 characters' },
  ],
  properties: {
    apiVersion: text('API group and version'),
    kind: text('Kind of the object: ServiceFailover'),
    metadata: OBJECT_META_SCHEMA,
    spec: FAILOVER_SPEC_SCHEMA,
    status: FAILOVER_STATUS_SCHEMA,
  },
} as const;

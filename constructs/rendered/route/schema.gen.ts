/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { INSTANCE_OF } from '../../../crds/validate.ts';

export const BACKEND = {
  type: 'object',
  description: 'A backend: a Service that gets a share of the requests',
  additionalProperties: false,
  required: ['service', 'weight'],
  properties: {
    service: {
      description: 'Name of the Service in its own cluster, or the Service',
      if: { type: 'string' },
      then: {},
      else: { [INSTANCE_OF]: 'Service', description: 'Name of the Service in its own cluster, or the Service' },
    },
    targetCluster: {
      type: 'string',
      description: 'Target cluster of the Service. Requests go to its mirror in this cluster; default this cluster',
    },
    weight: {
      type: 'integer',
      description: 'Share of the requests, in proportion to the weights of the others: from 0 to 1,000,000',
    },
  },
} as const;

export const RANKED_BACKEND = {
  type: 'object',
  description: 'A backend in the order of failover',
  additionalProperties: false,
  required: ['service'],
  properties: {
    service: {
      description: 'Name of the Service in its own cluster, or the Service',
      if: { type: 'string' },
      then: {},
      else: { [INSTANCE_OF]: 'Service', description: 'Name of the Service in its own cluster, or the Service' },
    },
    targetCluster: {
      type: 'string',
      description: 'Target cluster of the Service. Requests go to its mirror in this cluster; default this cluster',
    },
    weight: { type: 'integer', description: 'Ignored, so that the objects of backends can be used; default none' },
  },
} as const;

export const SERVICE_ROUTE_PROPS = {
  type: 'object',
  description: 'Properties of ServiceRoute',
  additionalProperties: false,
  required: ['backends', 'service'],
  properties: {
    backends: {
      type: 'array',
      description: 'Services that share the requests; at least one, each Service once',
      items: BACKEND,
    },
    failover: {
      type: 'array',
      description:
        'Order of failover: backends by preference. It is rendered as an annotation, for a controller that changes weights; default none',
      items: RANKED_BACKEND,
    },
    service: {
      description: 'The Service that clients call',
      if: { type: 'string' },
      then: {},
      else: { [INSTANCE_OF]: 'Service', description: 'The Service that clients call' },
    },
    name: { type: 'string', description: 'Name of the object; default the name of the Service' },
    namespace: {
      type: 'string',
      description:
        'Namespace of the Service and its backends; default that of the Service, else of the chart, else the one of kubectl',
    },
    port: {
      type: 'integer',
      description:
        'Port of the Service and of every backend. A mirror has the ports of its target Service; default the one port of a Service of cdk8s-plus',
    },
    kind: {
      type: 'string',
      description:
        'Kind of the route: TCPRoute divides connections, for ports that are opaque to Linkerd; default HTTPRoute',
      enum: ['HTTPRoute', 'GRPCRoute', 'TCPRoute'],
    },
    labels: {
      type: 'object',
      description: 'Labels of the route; default none',
      additionalProperties: { type: 'string' },
    },
  },
} as const;

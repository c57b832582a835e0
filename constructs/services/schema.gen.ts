/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { INSTANCE_OF } from '../../crds/validate.ts';

export const SERVICE_EXPORT_PROPS = {
  type: 'object',
  description: 'Properties of ServiceExport',
  additionalProperties: false,
  required: ['service'],
  properties: {
    exportedLabels: {
      type: 'object',
      description: 'Labels of the ServiceImports. If clusters disagree, those of the oldest export count; default none',
      additionalProperties: { type: 'string' },
    },
    exportedAnnotations: {
      type: 'object',
      description:
        'Annotations of the ServiceImports. If clusters disagree, those of the oldest export count; default none',
      additionalProperties: { type: 'string' },
    },
    service: {
      description: 'The Service that is exported',
      if: { type: 'string' },
      then: {},
      else: { [INSTANCE_OF]: 'Service', description: 'The Service that is exported' },
    },
    namespace: {
      type: 'string',
      description: 'Namespace of the Service; default that of the Service, else of the chart, else the one of kubectl',
    },
  },
} as const;

export const EXPORT_OPTIONS = {
  type: 'object',
  description: 'Options of an export',
  additionalProperties: false,
  required: [],
  properties: {
    exportedLabels: {
      type: 'object',
      description: 'Labels of the ServiceImports. If clusters disagree, those of the oldest export count; default none',
      additionalProperties: { type: 'string' },
    },
    exportedAnnotations: {
      type: 'object',
      description:
        'Annotations of the ServiceImports. If clusters disagree, those of the oldest export count; default none',
      additionalProperties: { type: 'string' },
    },
    api: {
      type: 'string',
      description:
        'What exports a Service: a label of Linkerd, or a ServiceExport of the MCS API, whose CRD McsCrds renders; default linkerd',
      enum: ['linkerd', 'mcs'],
    },
    mode: {
      type: 'string',
      description:
        'Mode of mirrors: through the gateway, or from pod to pod on a flat network. With the MCS API it is the Links that say; default gateway',
      enum: ['gateway', 'remote-discovery'],
    },
    clients: {
      type: 'array',
      description:
        'Clients that may reach the Services through the gateway, where the operator of this cluster has gatewayAccess. An empty list: nobody; default every meshed client, or nobody if gatewayAccess is clients',
      items: {
        type: 'object',
        description: 'A ServiceAccount whose pods may reach an export',
        additionalProperties: false,
        required: ['namespace', 'serviceAccount'],
        properties: {
          namespace: { type: 'string', description: 'Namespace of the ServiceAccount, in its own cluster' },
          serviceAccount: { type: 'string', description: 'Name of the ServiceAccount' },
          trustDomain: {
            type: 'string',
            description:
              'Identity trust domain of Linkerd in the cluster of the client; default that of the cluster that exports',
          },
        },
      },
    },
  },
} as const;

export const CLUSTER_PROPERTY_PROPS = {
  type: 'object',
  description: 'Properties of ClusterProperty',
  additionalProperties: false,
  required: ['name', 'value'],
  properties: {
    name: {
      type: 'string',
      description:
        'Name of the property: cluster.clusterset.k8s.io is the id of the cluster, and clusterset.k8s.io that of its set',
    },
    value: {
      type: 'string',
      description:
        'The value, from 1 to 128,000 characters. The id of a cluster is a DNS label, unique in its set; it must not change while the cluster is in the set',
    },
  },
} as const;

export const FAILOVER_BACKEND_PROPS = {
  type: 'object',
  description: 'A Service that can take the requests',
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
    minReady: {
      type: ['integer', 'string'],
      description: 'What makes it ready: a number of ready endpoints, or their share of all as in 50%; default 1',
    },
    weight: {
      type: 'integer',
      description:
        'Share of the requests while it is ready, in proportion to the weights of the others that are: from 1 to 1,000,000. On every backend or on none; default none: the first backend that is ready takes all requests',
    },
  },
} as const;

export const SERVICE_FAILOVER_PROPS = {
  type: 'object',
  description: 'Properties of ServiceFailover',
  additionalProperties: false,
  required: ['service', 'backends'],
  properties: {
    service: {
      description: 'The Service that clients call. It may be a backend as well',
      if: { type: 'string' },
      then: {},
      else: { [INSTANCE_OF]: 'Service', description: 'The Service that clients call. It may be a backend as well' },
    },
    backends: {
      type: 'array',
      description: 'Services that can take the requests, by preference; at least one, each Service once',
      items: FAILOVER_BACKEND_PROPS,
    },
    holdDown: {
      type: ['string', 'number'],
      description:
        'Time that a backend must have been ready before requests go back to it; at most 24 hours; default 30s; seconds, or a Go duration',
    },
    routeKind: {
      type: 'string',
      description:
        'Kind of the routes. Requests of gRPC take any; a GRPCRoute is for who has others for the same Service; default HTTPRoute, and TCPRoute for ports that are opaque to Linkerd',
      enum: ['HTTPRoute', 'GRPCRoute', 'TCPRoute'],
    },
    name: {
      type: 'string',
      description: 'Name of the ServiceFailover, at most 63 characters; default the name of the Service',
    },
    namespace: {
      type: 'string',
      description:
        'Namespace of the Service and its backends; default that of the Service, else of the chart, else the one of kubectl',
    },
  },
} as const;

export const TRAFFIC_SPLIT_PROPS = {
  type: 'object',
  description: 'Properties of TrafficSplit',
  additionalProperties: false,
  required: ['backends', 'service'],
  properties: {
    backends: {
      type: 'array',
      description: 'Services that share the requests; at least one, each Service once',
      items: {
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
            description:
              'Target cluster of the Service. Requests go to its mirror in this cluster; default this cluster',
          },
          weight: {
            type: 'integer',
            description: 'Share of the requests, in proportion to the weights of the others: from 0 to 1,000,000',
          },
        },
      },
    },
    failover: {
      type: 'array',
      description:
        'Order of failover: backends by preference. It is rendered as an annotation, for a controller that changes weights; default none',
      items: {
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
            description:
              'Target cluster of the Service. Requests go to its mirror in this cluster; default this cluster',
          },
          weight: {
            type: 'integer',
            description: 'Ignored, so that the objects of backends can be used; default none',
          },
        },
      },
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
  },
} as const;

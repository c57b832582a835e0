/** Schemas of the props of objects that divide requests to a Service. */
import { choice, integer, list, map, object, text, textOrInstanceOf } from '../../common/schema.ts';

/** Props that name a Service, here or in another cluster. */
export const SERVICE_REF = {
  service: textOrInstanceOf('Name of the Service in its own cluster, or the Service', 'Service'),
  targetCluster: text('Target cluster of the Service; requests go to its mirror in this cluster; default this cluster'),
} as const;

const WEIGHT = integer('Share of the requests, in proportion to the weights of the others: from 0 to 1,000,000');

/** Props of any of them. */
export const SPLIT = {
  service: textOrInstanceOf('The Service that clients call', 'Service'),
  name: text('Name of the object; default the name of the Service'),
  namespace: text('Namespace of the Service and its backends; default that of the Service, else of the chart'),
  backends: list(
    'Services that share the requests; at least one, each Service once',
    object('A backend', { ...SERVICE_REF, weight: WEIGHT }, 'service', 'weight'),
  ),
  // Weights are allowed and ignored, so that users can pass the same objects as in `backends`.
  failover: list(
    'Order of failover: backends by preference; default none',
    object('A backend', { ...SERVICE_REF, weight: WEIGHT }, 'service'),
  ),
} as const;

export const SERVICE_ROUTE_PROPS = object(
  'A route of the Gateway API',
  {
    ...SPLIT,
    port: integer('Port of the Service and of every backend; default the one port of a Service of cdk8s-plus'),
    kind: choice(
      'Kind of the route: TCPRoute divides connections, for ports that are opaque to Linkerd; default HTTPRoute',
      'HTTPRoute',
      'GRPCRoute',
      'TCPRoute',
    ),
    labels: map('Labels of the route; default none'),
  },
  'service',
  'backends',
);

/** Schemas of the props of TrafficSplit, ServiceRoute and Exported. */
import { choice, integer, list, object, text, textOrInstanceOf } from '../common/schema.ts';

const REF = {
  service: textOrInstanceOf('Name of the Service in its own cluster, or the Service', 'Service'),
  targetCluster: text('Target cluster of the Service; requests go to its mirror in this cluster; default this cluster'),
} as const;

const WEIGHT = integer('Share of the requests, in proportion to the weights of the others: from 0 to 1,000,000');

const SPLIT = {
  service: textOrInstanceOf('The Service that clients call', 'Service'),
  name: text('Name of the object; default the name of the Service'),
  namespace: text('Namespace of the Service and its backends; default that of the Service, else of the chart'),
  backends: list(
    'Services that share the requests; at least one, each Service once',
    object('A backend', { ...REF, weight: WEIGHT }, 'service', 'weight'),
  ),
  // Weights are allowed and ignored, so that users can pass the same objects as in `backends`.
  failover: list(
    'Order of failover: backends by preference; default none',
    object('A backend', { ...REF, weight: WEIGHT }, 'service'),
  ),
} as const;

export const TRAFFIC_SPLIT_PROPS = object('A TrafficSplit', SPLIT, 'service', 'backends');

export const SERVICE_ROUTE_PROPS = object(
  'An HTTPRoute',
  {
    ...SPLIT,
    port: integer('Port of the Service and of every backend; default the one port of a Service of cdk8s-plus'),
  },
  'service',
  'backends',
);

export const EXPORT_OPTIONS = object('Export of Services', {
  mode: choice(
    'Mode of mirrors: through the gateway, or from pod to pod on a flat network; default gateway',
    'gateway',
    'remote-discovery',
  ),
});

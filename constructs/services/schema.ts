/** Schemas of the props of TrafficSplit, ServiceRoute and Exported. */
import { choice, integer, list, object, text, textOrInstanceOf } from '../common/schema.ts';

const REF = {
  service: textOrInstanceOf('Name of the Service in its own cluster, or the Service', 'Service'),
  targetCluster: text('The target cluster of the Service; default this cluster'),
} as const;

const WEIGHT = integer('Share of the requests');

const SPLIT = {
  service: textOrInstanceOf('The Service that clients call', 'Service'),
  name: text('Name of the object; default that of the Service'),
  namespace: text('Namespace of the Service and its backends'),
  backends: list(
    'Services that share the requests',
    object('A backend', { ...REF, weight: WEIGHT }, 'service', 'weight'),
  ),
  // Their weights do not matter, so that the backends themselves may be given.
  failover: list('Order of failover', object('A backend', { ...REF, weight: WEIGHT }, 'service')),
} as const;

export const TRAFFIC_SPLIT_PROPS = object('A TrafficSplit', SPLIT, 'service', 'backends');

export const SERVICE_ROUTE_PROPS = object(
  'An HTTPRoute',
  { ...SPLIT, port: integer('Port of the Service and of every backend') },
  'service',
  'backends',
);

export const EXPORT_OPTIONS = object('How Services are exported', {
  mode: choice('Default gateway', 'gateway', 'remote-discovery'),
});

/** Schemas of the props of what teams write beside their Services. */
import { choice, integer, list, map, object, text, textOrInstanceOf, time } from '../common/schema.ts';
import { SERVICE_REF, SPLIT } from '../rendered/index.ts';

export const TRAFFIC_SPLIT_PROPS = object('A TrafficSplit', SPLIT, 'service', 'backends');

export const SERVICE_FAILOVER_PROPS = object(
  'A ServiceFailover',
  {
    service: textOrInstanceOf('The Service that clients call', 'Service'),
    backends: list(
      'Services that can take the requests, by preference; at least one, each Service once',
      object(
        'A backend',
        {
          ...SERVICE_REF,
          minReady: {
            type: ['integer', 'string'],
            description: 'Number of ready endpoints that make it ready, or their share as in 50%; default 1',
          },
          weight: integer('Share of the requests while it is ready; on every backend or on none; default none'),
        },
        'service',
      ),
    ),
    holdDown: time('Time that a backend must have been ready before requests go back to it; default 30s'),
    routeKind: choice(
      'Kind of the routes; default HTTPRoute, and TCPRoute for ports that are opaque to Linkerd',
      'HTTPRoute',
      'GRPCRoute',
      'TCPRoute',
    ),
    name: text('Name of the ServiceFailover; default the name of the Service'),
    namespace: text('Namespace of the Service and its backends; default that of the Service, else of the chart'),
  },
  'service',
  'backends',
);

const EXPORTED_METADATA = {
  exportedLabels: map('Labels of the ServiceImports; default none'),
  exportedAnnotations: map('Annotations of the ServiceImports; default none'),
} as const;

export const EXPORT_OPTIONS = object('Export of Services', {
  api: choice(
    'What exports a Service: a label of Linkerd, or a ServiceExport of the MCS API; default linkerd',
    'linkerd',
    'mcs',
  ),
  mode: choice(
    'Mode of mirrors: through the gateway, or from pod to pod on a flat network; default gateway',
    'gateway',
    'remote-discovery',
  ),
  ...EXPORTED_METADATA,
});

export const SERVICE_EXPORT_PROPS = object(
  'A ServiceExport',
  {
    service: textOrInstanceOf('The Service that is exported', 'Service'),
    namespace: text('Namespace of the Service; default that of the Service, else of the chart'),
    ...EXPORTED_METADATA,
  },
  'service',
);

export const CLUSTER_PROPERTY_PROPS = object(
  'A ClusterProperty',
  { name: text('Name of the property'), value: text('The value') },
  'name',
  'value',
);

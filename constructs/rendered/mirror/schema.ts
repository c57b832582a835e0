/** Schemas of the props of mirrors and probes. */
import { choice, described, flag, integer, list, map, object, text, texts } from '../../common/schema.ts';

const KIND = choice('What to render addresses as; default endpoints', 'endpoints', 'slices');
const STATIC = flag('Whether the endpoints may be in Git; default false');

const TARGET = {
  service: text('Name of the target Service'),
  namespace: text('Namespace of the target Service'),
  targetCluster: text('Name of the target cluster'),
  targetClusterDomain: text('DNS domain of the target cluster; default cluster.local'),
  labels: map('Labels of the target Service'),
  annotations: map('Annotations of the target Service'),
  excludedLabels: texts('Labels to leave out'),
  excludedAnnotations: texts('Annotations to leave out'),
  remoteResourceVersion: text('resourceVersion of the target Service'),
  static: STATIC,
} as const;

const PORT = {
  name: text('Name of the port'),
  port: integer('Port number'),
  protocol: choice('Default TCP', 'TCP', 'UDP', 'SCTP'),
  appProtocol: text('Application protocol'),
} as const;

const endpointPorts = list('Ports of endpoints', object('A port', PORT, 'port'));

const servicePorts = list(
  'Ports of the Service',
  object('A port', { ...PORT, targetPort: { type: ['string', 'integer'], description: 'Port of the pods' } }, 'port'),
);

const GATEWAY = {
  addresses: texts('IP addresses of the gateway'),
  port: integer("The gateway's port"),
  identity: text('TLS identity of the gateway'),
  alive: flag('The last verdict of the probe; default true'),
  ready: flag('Whether an endpoint is ready behind the target Service; default true'),
  kind: KIND,
} as const;

const gateway = object('A gateway', GATEWAY, 'addresses', 'port');

const REQUIRED = ['service', 'namespace', 'targetCluster', 'ports'] as const;

export const MIRROR_SERVICE_PROPS = object(
  'A mirror',
  {
    ...TARGET,
    ports: servicePorts,
    mode: choice('Default gateway', 'gateway', 'remote-discovery'),
    endpoints: gateway,
  },
  ...REQUIRED,
);

const { kind: _, ...federatedGateway } = GATEWAY;

const federatedMember = object(
  'A target cluster whose Service is a member',
  {
    targetCluster: text('Name of the target cluster'),
    targetClusterDomain: text('DNS domain of the target cluster; default cluster.local'),
    ports: described(servicePorts, 'Ports of the Service in that cluster'),
    endpoints: object('The gateway of the cluster', federatedGateway, 'addresses', 'port'),
  },
  'targetCluster',
);

const podRef = object(
  'A pod',
  { kind: text('Kind of the object'), name: text('Name'), namespace: text('Namespace'), uid: text('uid') },
  'kind',
  'name',
);

const copiedEndpoint = object(
  'An endpoint',
  {
    addresses: texts('IP addresses of the endpoint'),
    hostname: text('Hostname of the pod'),
    conditions: object('Whether the endpoint takes requests', {
      ready: flag('Whether it takes new requests'),
      serving: flag('Whether it answers'),
      terminating: flag('Whether it terminates'),
    }),
    targetRef: podRef,
    nodeName: text('Name of the node'),
    zone: text('Name of the zone'),
  },
  'addresses',
);

const copiedSlice = object(
  'An EndpointSlice',
  {
    name: text('Name of the slice'),
    addressType: choice('Family of its addresses', 'IPv4', 'IPv6'),
    endpoints: list('Its endpoints', copiedEndpoint),
    ports: endpointPorts,
  },
  'name',
  'addressType',
  'endpoints',
  'ports',
);

const localMember = object('The member in the same cluster', {
  slices: list('The EndpointSlices of the local Service', copiedSlice),
});

export const FEDERATED_SERVICE_PROPS = object(
  'A federated Service',
  {
    service: text('Name of the Services that join'),
    namespace: text('Namespace of these Services'),
    mode: choice('Default remote-discovery', 'remote-discovery', 'gateway'),
    members: list('Target clusters whose Service is a member', federatedMember),
    local: localMember,
    labels: map('Labels of the member whose labels count'),
    annotations: map('Annotations of that member'),
    excludedLabels: texts('Labels to leave out'),
    excludedAnnotations: texts('Annotations to leave out'),
    ports: servicePorts,
    static: STATIC,
  },
  'service',
  'namespace',
  'ports',
);

const headlessSubsets = list(
  'Pods that listen on the same ports',
  object(
    'Pods',
    {
      addresses: list(
        'The pods',
        object('A pod', { hostname: text('Hostname'), ip: text('IP of its endpoint mirror') }, 'hostname', 'ip'),
      ),
      ports: endpointPorts,
    },
    'addresses',
    'ports',
  ),
);

const headlessEndpoints = object(
  'The pods behind a mirror',
  { identity: text('TLS identity of the gateway'), kind: KIND, subsets: headlessSubsets },
  'subsets',
);

export const HEADLESS_MIRROR_PROPS = object(
  'A headless mirror',
  { ...TARGET, ports: servicePorts, endpoints: headlessEndpoints },
  ...REQUIRED,
);

export const ENDPOINT_MIRROR_PROPS = object(
  'An endpoint mirror',
  {
    ...TARGET,
    hostname: text('Hostname of the pod'),
    ports: endpointPorts,
    name: text('Name of the Service'),
    endpoints: gateway,
  },
  ...REQUIRED,
  'hostname',
);

export const GATEWAY_PROBE_PROPS = object(
  'A probe Service',
  {
    link: text('Name of the Link'),
    targetCluster: text('Name of the target cluster'),
    namespace: text('Namespace of the multicluster extension'),
    port: integer("The gateway's probe port"),
    addresses: texts('IP addresses of the gateway'),
    identity: text('TLS identity of the gateway'),
    kind: KIND,
    static: STATIC,
  },
  'link',
  'targetCluster',
  'port',
  'addresses',
);

const importedPod = object(
  'A pod that is reached through a gateway',
  {
    hostname: text('Hostname of the pod'),
    address: text('IP address of the pod in its cluster'),
    ports: endpointPorts,
    ready: flag('Whether the pod takes requests; default true'),
    ips: { ...texts("IP addresses of the pod's Service, one for each family"), maxItems: 2 },
  },
  'ports',
);

const importedCluster = object(
  'A cluster that exports the Service',
  {
    id: text('Id of the cluster in its set'),
    targetCluster: text('Name of the target cluster; default the cluster of the ServiceImport itself'),
    targetClusterDomain: text('DNS domain of the target cluster; default cluster.local'),
    ports: described(endpointPorts, 'Ports of the Service in that cluster'),
    endpoints: object('The gateway of the cluster', federatedGateway, 'addresses', 'port'),
    pods: list('Pods of the Service in that cluster', importedPod),
    slices: list('EndpointSlices of the Service in that cluster', copiedSlice),
  },
  'id',
);

export const SERVICE_IMPORT_PROPS = object(
  'A ServiceImport',
  {
    service: text('Name of the exported Services'),
    namespace: text('Namespace of these Services'),
    ports: described(endpointPorts, 'Ports of the Service, in the union of all exports'),
    type: choice('Default ClusterSetIP', 'ClusterSetIP', 'Headless'),
    mode: choice('Default gateway', 'gateway', 'remote-discovery'),
    ips: { ...texts('IP addresses of the Service, one for each family'), maxItems: 2 },
    ipFamilies: list('Families of the IP addresses', choice('A family', 'IPv4', 'IPv6')),
    sessionAffinity: choice('Session affinity of the exported Service', 'ClientIP', 'None'),
    sessionAffinitySeconds: integer('Time that a session lasts, in seconds'),
    internalTrafficPolicy: choice('Whether clients reach endpoints on other nodes', 'Cluster', 'Local'),
    trafficDistribution: text('Endpoints that the exported Service prefers'),
    labels: map('Labels that are exported'),
    annotations: map('Annotations that are exported'),
    opaquePorts: text('Ports that are opaque to Linkerd'),
    clusters: list('Clusters that export the Service', importedCluster),
    static: STATIC,
  },
  'service',
  'namespace',
  'ports',
);

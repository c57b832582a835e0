/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { described } from '../../common/schema.ts';
import { FEDERATED_GATEWAY } from '../federated/schema.gen.ts';
import { COPIED_SLICE, ENDPOINT_PORT } from '../mirror/schema.gen.ts';

export const IMPORT_PORT = {
  type: 'object',
  description: 'A port of a ServiceImport',
  additionalProperties: false,
  required: ['port'],
  properties: {
    name: {
      type: 'string',
      description:
        "Name of the port; Linkerd finds a mirror's port on its endpoints by it; default unnamed, which only a single port may be",
    },
    port: { type: 'integer', description: 'Port number' },
    protocol: {
      type: 'string',
      description: 'Transport protocol of the port; default TCP',
      enum: ['TCP', 'UDP', 'SCTP'],
    },
    appProtocol: { type: 'string', description: 'Application protocol, as in kubernetes.io/h2c; default none' },
  },
} as const;

export const IMPORTED_POD = {
  type: 'object',
  description:
    'A pod of a headless Service that is reached through the gateway of its cluster. A Service of its own stands for it',
  additionalProperties: false,
  required: ['ports'],
  properties: {
    hostname: {
      type: 'string',
      description:
        'Hostname of the pod, as its Service publishes it: requests name it, and reach this pod; default none: requests name the Service, and the gateway chooses one of its pods',
    },
    address: {
      type: 'string',
      description:
        'IP address of the pod in its cluster. DNS calls a pod without hostname by it, with dashes; default none: it has a hostname',
    },
    ports: {
      type: 'array',
      description:
        "Ports that the pod listens on, by the names of the Service's ports. Clients connect to the same ones; UDP and SCTP ports are left out, and so are those that the ServiceImport does not have",
      items: ENDPOINT_PORT,
    },
    ready: { type: 'boolean', description: 'Whether the pod takes requests; default true' },
    ips: {
      type: 'array',
      description:
        "IP addresses of the pod's Service, one for each family; default the API server chooses one, and until it is known no slices are rendered for the pod",
      items: { type: 'string' },
      maxItems: 2,
    },
  },
} as const;

export const IMPORTED_CLUSTER = {
  type: 'object',
  description: 'A cluster that exports the Service of a ServiceImport',
  additionalProperties: false,
  required: ['id'],
  properties: {
    id: { type: 'string', description: 'Id of the cluster in its set: a DNS label' },
    targetCluster: {
      type: 'string',
      description:
        'Name of the target cluster: spec.targetClusterName of its Link; default the cluster of the ServiceImport itself',
    },
    targetClusterDomain: { type: 'string', description: 'DNS domain of the target cluster; default cluster.local' },
    ports: {
      type: 'array',
      description:
        'Ports of the Service in that cluster. Those that the ServiceImport does not have under the same name, number and protocol are left out; default those of the ServiceImport',
      items: ENDPOINT_PORT,
    },
    endpoints: described(
      FEDERATED_GATEWAY,
      'Gateway of the target cluster, if mode is gateway; default none: no slices are rendered for the cluster',
    ),
    pods: {
      type: 'array',
      description: 'Pods of the Service in the target cluster, if mode is gateway and type Headless; default none',
      items: IMPORTED_POD,
    },
    slices: {
      type: 'array',
      description:
        'EndpointSlices of the Service in that cluster, if it is the cluster of the ServiceImport itself, or mode is remote-discovery; default none',
      items: COPIED_SLICE,
    },
  },
} as const;

export const SERVICE_IMPORT_PROPS = {
  type: 'object',
  description: 'Properties of ServiceImport',
  additionalProperties: false,
  required: ['service', 'namespace', 'ports'],
  properties: {
    static: {
      type: 'boolean',
      description:
        'Whether the endpoints may be synthesized, and so be in Git: a static mirror, for a cluster that must not run the operator. It stays as it was rendered: it follows neither the health of the target\'s gateway nor the pods behind the target Service, and sends requests to a gateway that is dead. kubectl apply and Flux apply such endpoints. Argo CD does not, as installed since 3.0: resource.exclusions in its ConfigMap argocd-cm names the kinds Endpoints and EndpointSlice (groups "" and discovery.k8s.io). Take the kind that is rendered out of that entry; from then on Argo CD watches all objects of that kind, in every cluster that it serves; default false: to synthesize endpoints is an error',
    },
    service: { type: 'string', description: 'Name of the exported Services, and so of the ServiceImport' },
    namespace: { type: 'string', description: 'Namespace of these Services, and so of the ServiceImport' },
    ports: { type: 'array', description: 'Ports of the Service, in the union of all exports', items: IMPORT_PORT },
    type: {
      type: 'string',
      description:
        'Whether clients reach the Service by an IP address of its own, or each of its pods; default ClusterSetIP',
      enum: ['ClusterSetIP', 'Headless'],
    },
    mode: {
      type: 'string',
      description:
        'Whether the Services of other clusters are reached through their gateways, or pods directly on a flat network; default gateway',
      enum: ['gateway', 'remote-discovery'],
    },
    ips: {
      type: 'array',
      description:
        'IP addresses of the Service, one for each family, if type is ClusterSetIP; the derived Service gets them; default the API server chooses one for the derived Service, and the ServiceImport has none',
      items: { type: 'string' },
      maxItems: 2,
    },
    ipFamilies: {
      type: 'array',
      description: 'Families of the IP addresses; default those that the API server chooses for the derived Service',
      items: { type: 'string', description: 'Families of the IP addresses', enum: ['IPv4', 'IPv6'] },
    },
    sessionAffinity: {
      type: 'string',
      description: 'Session affinity of the exported Service; default none is stated',
      enum: ['ClientIP', 'None'],
    },
    sessionAffinitySeconds: {
      type: 'integer',
      description: 'Time that a session lasts with ClientIP, in seconds; default none is stated',
    },
    internalTrafficPolicy: {
      type: 'string',
      description:
        'Whether clients of the exported Service reach endpoints on other nodes. The derived Service does not have it: all endpoints of other clusters are on other nodes; default none is stated',
      enum: ['Cluster', 'Local'],
    },
    trafficDistribution: {
      type: 'string',
      description: 'Endpoints that the exported Service prefers, as in PreferClose; default none is stated',
    },
    labels: {
      type: 'object',
      description: 'Labels that are exported; those that must not be copied are left out here (rule B2); default none',
      additionalProperties: { type: 'string' },
    },
    annotations: {
      type: 'object',
      description:
        'Annotations that are exported; those that must not be copied are left out here (rule B2); default none',
      additionalProperties: { type: 'string' },
    },
    opaquePorts: {
      type: 'string',
      description:
        'Ports that are opaque to Linkerd, as in the annotation config.linkerd.io/opaque-ports of the exported Service; default none',
    },
    clusters: {
      type: 'array',
      description: 'Clusters that export the Service, in any order; default none: no endpoints are rendered',
      items: IMPORTED_CLUSTER,
    },
  },
} as const;

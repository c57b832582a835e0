/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { described } from '../../common/schema.ts';

export const ENDPOINT_PORT = {
  type: 'object',
  description: 'A port of an endpoint: where a pod listens',
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

export const GATEWAY_ENDPOINTS = {
  type: 'object',
  description: 'A gateway as the endpoints of a mirror',
  additionalProperties: false,
  required: ['addresses', 'port'],
  properties: {
    addresses: { type: 'array', description: 'IP addresses of the gateway, in any order', items: { type: 'string' } },
    port: { type: 'integer', description: "The gateway's port: spec.gatewayPort of the Link" },
    identity: {
      type: 'string',
      description:
        'TLS identity of the gateway: spec.gatewayIdentity of the Link; default none: proxies send plaintext',
    },
    alive: { type: 'boolean', description: "The last verdict of the gateway's probe; default true" },
    ready: { type: 'boolean', description: 'True if an endpoint is ready behind the target Service; default true' },
    kind: {
      type: 'string',
      description: 'What to render the addresses as; default endpoints',
      enum: ['endpoints', 'slices'],
    },
  },
} as const;

export const ENDPOINT_MIRROR_PROPS = {
  type: 'object',
  description: 'Properties of EndpointMirror',
  additionalProperties: false,
  required: ['service', 'namespace', 'targetCluster', 'hostname', 'ports'],
  properties: {
    service: { type: 'string', description: 'Name of the target Service' },
    namespace: { type: 'string', description: 'Namespace of the target Service, and so of its mirror' },
    targetCluster: { type: 'string', description: 'Name of the target cluster: spec.targetClusterName of its Link' },
    targetClusterDomain: { type: 'string', description: 'DNS domain of the target cluster; default cluster.local' },
    labels: {
      type: 'object',
      description:
        'Labels of the target Service; those that must not be copied are left out here (rule B2); default none',
      additionalProperties: { type: 'string' },
    },
    annotations: {
      type: 'object',
      description:
        'Annotations of the target Service; those that must not be copied are left out here (rules B2 and B3); default none',
      additionalProperties: { type: 'string' },
    },
    excludedLabels: {
      type: 'array',
      description: 'Further labels to leave out: exact keys, or prefix/*; default none',
      items: { type: 'string' },
    },
    excludedAnnotations: {
      type: 'array',
      description: 'Further annotations to leave out: exact keys, or prefix/*; default none',
      items: { type: 'string' },
    },
    remoteResourceVersion: {
      type: 'string',
      description:
        'resourceVersion of the target Service that the mirror is rendered from (rule B4); default not recorded',
    },
    static: {
      type: 'boolean',
      description:
        'Whether the endpoints may be synthesized, and so be in Git: a static mirror, for a cluster that must not run the operator. It stays as it was rendered: it follows neither the health of the target\'s gateway nor the pods behind the target Service, and sends requests to a gateway that is dead. kubectl apply and Flux apply such endpoints. Argo CD does not, as installed since 3.0: resource.exclusions in its ConfigMap argocd-cm names the kinds Endpoints and EndpointSlice (groups "" and discovery.k8s.io). Take the kind that is rendered out of that entry; from then on Argo CD watches all objects of that kind, in every cluster that it serves; default false: to synthesize endpoints is an error',
    },
    hostname: { type: 'string', description: 'Hostname of the pod, as its headless Service publishes it' },
    ports: {
      type: 'array',
      description: 'Ports of the target endpoint (not of the Service); UDP and SCTP ports are left out (rule A5)',
      items: ENDPOINT_PORT,
    },
    name: { type: 'string', description: 'Name of the Service; default <hostname>-<cluster>' },
    endpoints: described(
      GATEWAY_ENDPOINTS,
      'The gateway behind the mirror; default no endpoints are rendered: the operator keeps them',
    ),
  },
} as const;

export const MIRROR_PORT = {
  type: 'object',
  description: 'A port of a Service',
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
    targetPort: {
      type: ['integer', 'string'],
      description: "Port of the pods behind the Service, by number or name; default the Service's port",
    },
  },
} as const;

export const MIRROR_SERVICE_PROPS = {
  type: 'object',
  description: 'Properties of MirrorService',
  additionalProperties: false,
  required: ['service', 'namespace', 'targetCluster', 'ports'],
  properties: {
    service: { type: 'string', description: 'Name of the target Service' },
    namespace: { type: 'string', description: 'Namespace of the target Service, and so of its mirror' },
    targetCluster: { type: 'string', description: 'Name of the target cluster: spec.targetClusterName of its Link' },
    targetClusterDomain: { type: 'string', description: 'DNS domain of the target cluster; default cluster.local' },
    labels: {
      type: 'object',
      description:
        'Labels of the target Service; those that must not be copied are left out here (rule B2); default none',
      additionalProperties: { type: 'string' },
    },
    annotations: {
      type: 'object',
      description:
        'Annotations of the target Service; those that must not be copied are left out here (rules B2 and B3); default none',
      additionalProperties: { type: 'string' },
    },
    excludedLabels: {
      type: 'array',
      description: 'Further labels to leave out: exact keys, or prefix/*; default none',
      items: { type: 'string' },
    },
    excludedAnnotations: {
      type: 'array',
      description: 'Further annotations to leave out: exact keys, or prefix/*; default none',
      items: { type: 'string' },
    },
    remoteResourceVersion: {
      type: 'string',
      description:
        'resourceVersion of the target Service that the mirror is rendered from (rule B4); default not recorded',
    },
    static: {
      type: 'boolean',
      description:
        'Whether the endpoints may be synthesized, and so be in Git: a static mirror, for a cluster that must not run the operator. It stays as it was rendered: it follows neither the health of the target\'s gateway nor the pods behind the target Service, and sends requests to a gateway that is dead. kubectl apply and Flux apply such endpoints. Argo CD does not, as installed since 3.0: resource.exclusions in its ConfigMap argocd-cm names the kinds Endpoints and EndpointSlice (groups "" and discovery.k8s.io). Take the kind that is rendered out of that entry; from then on Argo CD watches all objects of that kind, in every cluster that it serves; default false: to synthesize endpoints is an error',
    },
    ports: {
      type: 'array',
      description: 'Ports of the target Service; in gateway mode UDP and SCTP ports are left out (rule A5)',
      items: MIRROR_PORT,
    },
    mode: {
      type: 'string',
      description:
        'Whether clients reach the Service through the gateway, or its pods directly on a flat network; default gateway',
      enum: ['gateway', 'remote-discovery'],
    },
    endpoints: described(
      GATEWAY_ENDPOINTS,
      'The gateway behind the mirror; in gateway mode only; default no endpoints are rendered: the operator keeps them',
    ),
  },
} as const;

export const ENDPOINT_CONDITIONS = {
  type: 'object',
  description: 'Conditions of an endpoint, as in the Kubernetes API',
  additionalProperties: false,
  required: [],
  properties: {
    ready: {
      type: 'boolean',
      description: 'Whether the endpoint takes new requests; default true, by the Kubernetes API',
    },
    serving: {
      type: 'boolean',
      description: 'Whether the endpoint answers, also while it terminates; default as ready',
    },
    terminating: {
      type: 'boolean',
      description: 'Whether the endpoint terminates; default false, by the Kubernetes API',
    },
  },
} as const;

export const POD_REF = {
  type: 'object',
  description: 'A reference to a pod of the same cluster and namespace',
  additionalProperties: false,
  required: ['kind', 'name'],
  properties: {
    kind: { type: 'string', description: 'Kind of the object: Pod' },
    name: { type: 'string', description: 'Name of the pod' },
    namespace: { type: 'string', description: 'Namespace of the pod; default none' },
    uid: { type: 'string', description: 'uid of the pod; default none' },
  },
} as const;

export const COPIED_ENDPOINT = {
  type: 'object',
  description: 'An endpoint of a slice that is copied',
  additionalProperties: false,
  required: ['addresses'],
  properties: {
    addresses: { type: 'array', description: 'IP addresses of the endpoint', items: { type: 'string' } },
    hostname: { type: 'string', description: 'Hostname of the pod; in a headless ServiceImport only; default none' },
    conditions: described(
      ENDPOINT_CONDITIONS,
      'Whether the endpoint takes requests; default ready, by the Kubernetes API',
    ),
    targetRef: described(
      POD_REF,
      'The pod: by it Linkerd knows the identity and the policy of the endpoint; default none',
    ),
    nodeName: { type: 'string', description: 'Name of the node; default not known' },
    zone: { type: 'string', description: 'Name of the zone; default not known' },
  },
} as const;

export const COPIED_SLICE = {
  type: 'object',
  description: 'An EndpointSlice of the Service that is stood for, which is copied',
  additionalProperties: false,
  required: ['name', 'addressType', 'endpoints', 'ports'],
  properties: {
    name: { type: 'string', description: 'Name of the slice' },
    addressType: { type: 'string', description: 'Family of its addresses', enum: ['IPv4', 'IPv6'] },
    endpoints: { type: 'array', description: 'Its endpoints', items: COPIED_ENDPOINT },
    ports: { type: 'array', description: 'Ports that the endpoints listen on', items: ENDPOINT_PORT },
  },
} as const;

export const GATEWAY_PROBE_PROPS = {
  type: 'object',
  description: 'Properties of GatewayProbe',
  additionalProperties: false,
  required: ['link', 'targetCluster', 'port', 'addresses'],
  properties: {
    static: {
      type: 'boolean',
      description:
        'Whether the endpoints may be synthesized, and so be in Git: a static mirror, for a cluster that must not run the operator. It stays as it was rendered: it follows neither the health of the target\'s gateway nor the pods behind the target Service, and sends requests to a gateway that is dead. kubectl apply and Flux apply such endpoints. Argo CD does not, as installed since 3.0: resource.exclusions in its ConfigMap argocd-cm names the kinds Endpoints and EndpointSlice (groups "" and discovery.k8s.io). Take the kind that is rendered out of that entry; from then on Argo CD watches all objects of that kind, in every cluster that it serves; default false: to synthesize endpoints is an error',
    },
    link: { type: 'string', description: 'Name of the Link' },
    targetCluster: { type: 'string', description: 'Name of the target cluster' },
    namespace: { type: 'string', description: 'Namespace of the multicluster extension; default linkerd-multicluster' },
    port: { type: 'integer', description: "The gateway's probe port: spec.probeSpec.port of the Link" },
    addresses: { type: 'array', description: 'IP addresses of the gateway, in any order', items: { type: 'string' } },
    identity: {
      type: 'string',
      description:
        'TLS identity of the gateway: spec.gatewayIdentity of the Link; default none: proxies send plaintext',
    },
    kind: {
      type: 'string',
      description: 'What to render the addresses as; default endpoints',
      enum: ['endpoints', 'slices'],
    },
  },
} as const;

export const HEADLESS_MIRROR_ADDRESS = {
  type: 'object',
  description: 'A pod behind a headless mirror',
  additionalProperties: false,
  required: ['hostname', 'ip'],
  properties: {
    hostname: { type: 'string', description: 'Hostname of the pod' },
    ip: { type: 'string', description: "ClusterIP of the pod's endpoint mirror" },
  },
} as const;

export const HEADLESS_MIRROR_SUBSET = {
  type: 'object',
  description: 'Pods that listen on the same ports',
  additionalProperties: false,
  required: ['addresses', 'ports'],
  properties: {
    addresses: { type: 'array', description: 'The pods, in any order', items: HEADLESS_MIRROR_ADDRESS },
    ports: {
      type: 'array',
      description: "Ports of the target's endpoints; UDP and SCTP ports are left out (rule A5)",
      items: ENDPOINT_PORT,
    },
  },
} as const;

export const HEADLESS_MIRROR_ENDPOINTS = {
  type: 'object',
  description: 'The pods behind a headless mirror, by the endpoint mirrors that stand for them',
  additionalProperties: false,
  required: ['subsets'],
  properties: {
    identity: {
      type: 'string',
      description: "TLS identity of the target's gateway: spec.gatewayIdentity of the Link; default none",
    },
    kind: {
      type: 'string',
      description: 'What to render the addresses as; default endpoints',
      enum: ['endpoints', 'slices'],
    },
    subsets: {
      type: 'array',
      description: 'The pods; subsets without an address are left out',
      items: HEADLESS_MIRROR_SUBSET,
    },
  },
} as const;

export const HEADLESS_MIRROR_PROPS = {
  type: 'object',
  description: 'Properties of HeadlessMirror',
  additionalProperties: false,
  required: ['service', 'namespace', 'targetCluster', 'ports'],
  properties: {
    service: { type: 'string', description: 'Name of the target Service' },
    namespace: { type: 'string', description: 'Namespace of the target Service, and so of its mirror' },
    targetCluster: { type: 'string', description: 'Name of the target cluster: spec.targetClusterName of its Link' },
    targetClusterDomain: { type: 'string', description: 'DNS domain of the target cluster; default cluster.local' },
    labels: {
      type: 'object',
      description:
        'Labels of the target Service; those that must not be copied are left out here (rule B2); default none',
      additionalProperties: { type: 'string' },
    },
    annotations: {
      type: 'object',
      description:
        'Annotations of the target Service; those that must not be copied are left out here (rules B2 and B3); default none',
      additionalProperties: { type: 'string' },
    },
    excludedLabels: {
      type: 'array',
      description: 'Further labels to leave out: exact keys, or prefix/*; default none',
      items: { type: 'string' },
    },
    excludedAnnotations: {
      type: 'array',
      description: 'Further annotations to leave out: exact keys, or prefix/*; default none',
      items: { type: 'string' },
    },
    remoteResourceVersion: {
      type: 'string',
      description:
        'resourceVersion of the target Service that the mirror is rendered from (rule B4); default not recorded',
    },
    static: {
      type: 'boolean',
      description:
        'Whether the endpoints may be synthesized, and so be in Git: a static mirror, for a cluster that must not run the operator. It stays as it was rendered: it follows neither the health of the target\'s gateway nor the pods behind the target Service, and sends requests to a gateway that is dead. kubectl apply and Flux apply such endpoints. Argo CD does not, as installed since 3.0: resource.exclusions in its ConfigMap argocd-cm names the kinds Endpoints and EndpointSlice (groups "" and discovery.k8s.io). Take the kind that is rendered out of that entry; from then on Argo CD watches all objects of that kind, in every cluster that it serves; default false: to synthesize endpoints is an error',
    },
    ports: {
      type: 'array',
      description: 'Ports of the target Service; UDP and SCTP ports are left out (rule A5)',
      items: MIRROR_PORT,
    },
    endpoints: described(
      HEADLESS_MIRROR_ENDPOINTS,
      'The pods behind the mirror; default no endpoints are rendered: the operator keeps them',
    ),
  },
} as const;

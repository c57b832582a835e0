/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { described } from '../../common/schema.ts';
import { COPIED_SLICE, MIRROR_PORT } from '../mirror/schema.gen.ts';

export const FEDERATED_GATEWAY = {
  type: 'object',
  description: 'The gateway of a member. Its addresses are rendered as EndpointSlices',
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
  },
} as const;

export const FEDERATED_MEMBER = {
  type: 'object',
  description: 'A target cluster whose Service is a member of a federated Service',
  additionalProperties: false,
  required: ['targetCluster'],
  properties: {
    targetCluster: { type: 'string', description: 'Name of the target cluster: spec.targetClusterName of its Link' },
    targetClusterDomain: {
      type: 'string',
      description: 'DNS domain of the target cluster; in gateway mode only; default cluster.local',
    },
    ports: {
      type: 'array',
      description:
        'Ports of the Service in that cluster; in gateway mode only. Those that the federated Service does not have under the same name, number and protocol are left out; default those of the federated Service',
      items: MIRROR_PORT,
    },
    endpoints: described(
      FEDERATED_GATEWAY,
      'The gateway of the cluster; in gateway mode only; default no slices are rendered for the cluster: the operator keeps them',
    ),
  },
} as const;

export const FEDERATED_LOCAL_MEMBER = {
  type: 'object',
  description: 'The member of a federated Service that is in the same cluster',
  additionalProperties: false,
  required: [],
  properties: {
    slices: {
      type: 'array',
      description: 'The EndpointSlices of the local Service; in gateway mode only; default none',
      items: COPIED_SLICE,
    },
  },
} as const;

export const FEDERATED_SERVICE_PROPS = {
  type: 'object',
  description: 'Properties of FederatedService',
  additionalProperties: false,
  required: ['service', 'namespace', 'ports'],
  properties: {
    static: {
      type: 'boolean',
      description:
        'Whether the endpoints may be synthesized, and so be in Git: a static mirror, for a cluster that must not run the operator. It stays as it was rendered: it follows neither the health of the target\'s gateway nor the pods behind the target Service, and sends requests to a gateway that is dead. kubectl apply and Flux apply such endpoints. Argo CD does not, as installed since 3.0: resource.exclusions in its ConfigMap argocd-cm names the kinds Endpoints and EndpointSlice (groups "" and discovery.k8s.io). Take the kind that is rendered out of that entry; from then on Argo CD watches all objects of that kind, in every cluster that it serves; default false: to synthesize endpoints is an error',
    },
    service: {
      type: 'string',
      description: 'Name of the Services that join: the federated Service is <service>-federated',
    },
    namespace: { type: 'string', description: 'Namespace of these Services, and so of the federated one' },
    members: {
      type: 'array',
      description: 'Target clusters whose Service is a member, in any order; default none: the local member alone',
      items: FEDERATED_MEMBER,
    },
    local: described(FEDERATED_LOCAL_MEMBER, 'The member in the same cluster; {} in flat mode; default none'),
    ports: {
      type: 'array',
      description:
        'Ports of the member whose ports count (rule I3); in gateway mode UDP and SCTP ports are left out (rule A5)',
      items: MIRROR_PORT,
    },
    mode: {
      type: 'string',
      description:
        "Whether clients reach the members' pods directly on a flat network, or each target cluster through its gateway; default remote-discovery",
      enum: ['gateway', 'remote-discovery'],
    },
    labels: {
      type: 'object',
      description:
        'Labels of the member whose labels count (rule I3); those that must not be copied are left out here (rule B2); default none',
      additionalProperties: { type: 'string' },
    },
    annotations: {
      type: 'object',
      description:
        'Annotations of that member; those that must not be copied are left out here (rules B2 and B3); default none',
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
  },
} as const;

/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { described } from '../common/schema.ts';

export const SECRET_STORE_REF = {
  type: 'object',
  description: 'A store of external-secrets that holds tokens',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', description: 'Name of the store' },
    kind: {
      type: 'string',
      description: 'Kind of the store; default ClusterSecretStore',
      enum: ['ClusterSecretStore', 'SecretStore'],
    },
  },
} as const;

export const STORED_TOKEN = {
  type: 'object',
  description: 'The place of a token in a store',
  additionalProperties: false,
  required: ['store', 'key'],
  properties: {
    store: described(SECRET_STORE_REF, 'The store that holds the token'),
    key: { type: 'string', description: 'Key of the token in the store' },
    property: { type: 'string', description: 'Property of the value that holds the token; default the whole value' },
  },
} as const;

export const CREDENTIALS_REFERENCE_PROPS = {
  type: 'object',
  description:
    'Properties of CredentialsReference: those of LinkCredentials, with the place of the token instead of the token',
  additionalProperties: false,
  required: ['targetCluster', 'server', 'caData'],
  properties: {
    targetCluster: { type: 'string', description: 'Name of the target cluster; mirrors are called <service>-<name>' },
    server: { type: 'string', description: 'URL of the API server; https' },
    caData: {
      type: 'string',
      description:
        'CA certificates of the API server as base64 of PEM, like certificate-authority-data of a kubeconfig',
    },
    tlsServerName: {
      type: 'string',
      description: 'Name in the certificate of the API server; default the host of the URL',
    },
    targetClusterDomain: { type: 'string', description: 'DNS domain of the target cluster; default cluster.local' },
    targetTrustDomain: {
      type: 'string',
      description: 'Identity trust domain of Linkerd in the target; default its cluster domain',
    },
    namespace: { type: 'string', description: "Namespace of the Link; default the chart's, else linkerd-multicluster" },
    linkerdNamespace: {
      type: 'string',
      description: "Namespace of Linkerd's control plane in the source cluster; default linkerd",
    },
    copies: {
      type: 'string',
      description:
        "Secrets to render: that of the Link (link), which is enough for gateway mode, or that of Linkerd's control plane too (both); default both",
      enum: ['link', 'both'],
    },
    token: described(
      STORED_TOKEN,
      'Place of the token for external-secrets; default none: a Secret without a token is rendered, which the operator refuses until the token is added',
    ),
  },
} as const;

export const LINK_CREDENTIALS_PROPS = {
  type: 'object',
  description: 'Properties of LinkCredentials',
  additionalProperties: false,
  required: ['targetCluster', 'server', 'caData', 'token'],
  properties: {
    targetCluster: { type: 'string', description: 'Name of the target cluster; mirrors are called <service>-<name>' },
    server: { type: 'string', description: 'URL of the API server; https' },
    caData: {
      type: 'string',
      description:
        'CA certificates of the API server as base64 of PEM, like certificate-authority-data of a kubeconfig',
    },
    tlsServerName: {
      type: 'string',
      description: 'Name in the certificate of the API server; default the host of the URL',
    },
    targetClusterDomain: { type: 'string', description: 'DNS domain of the target cluster; default cluster.local' },
    targetTrustDomain: {
      type: 'string',
      description: 'Identity trust domain of Linkerd in the target; default its cluster domain',
    },
    namespace: { type: 'string', description: "Namespace of the Link; default the chart's, else linkerd-multicluster" },
    linkerdNamespace: {
      type: 'string',
      description: "Namespace of Linkerd's control plane in the source cluster; default linkerd",
    },
    copies: {
      type: 'string',
      description:
        "Secrets to render: that of the Link (link), which is enough for gateway mode, or that of Linkerd's control plane too (both); default both",
      enum: ['link', 'both'],
    },
    token: {
      type: 'string',
      description: 'Bearer token of a ServiceAccount of the target. The rendered manifest contains it: keep it secret',
      writeOnly: true,
    },
  },
} as const;

export const LINK_PROBE = {
  type: 'object',
  description: "Probes of the health of a target's gateway",
  additionalProperties: false,
  required: [],
  properties: {
    path: { type: 'string', description: 'Path of the health endpoint; default /ready' },
    port: { type: 'integer', description: 'Port of the health endpoint; default 4191' },
    period: { type: ['string', 'number'], description: 'Time between probes; default 3s; seconds, or a Go duration' },
    timeout: {
      type: ['string', 'number'],
      description: 'Time after which a probe without an answer fails; default 30s; seconds, or a Go duration',
    },
    failureThreshold: {
      type: 'integer',
      description: 'Number of consecutive failed probes after which the gateway is down; default 3',
    },
  },
} as const;

export const LINK_IMPORT_POLICY = {
  type: 'object',
  description: 'What is taken of what a target exports. A Service must be admitted by each list that there is',
  additionalProperties: false,
  required: [],
  properties: {
    namespaces: {
      type: 'array',
      description: 'Namespaces of Services: names, or patterns with *; default all',
      items: { type: 'string' },
    },
    names: {
      type: 'array',
      description: 'Names of Services, or patterns with *; default all',
      items: { type: 'string' },
    },
    ports: {
      type: 'array',
      description:
        'Ports of Services: numbers, or ranges such as 8000-8999. All ports of a Service must be among them; default all',
      items: {
        type: ['integer', 'string'],
        description:
          'Ports of Services: numbers, or ranges such as 8000-8999. All ports of a Service must be among them',
      },
    },
    types: {
      type: 'array',
      description: 'Types of Services; Headless for those without a ClusterIP; default all',
      items: {
        type: 'string',
        description: 'Types of Services; Headless for those without a ClusterIP',
        enum: ['ClusterIP', 'Headless', 'NodePort', 'LoadBalancer'],
      },
    },
    approval: {
      type: 'string',
      description: 'Whether a Service waits until it is among those approved; default none',
      enum: ['none', 'required'],
    },
    approved: {
      type: 'array',
      description:
        'Services that are approved, as namespace/name, or patterns with *. Required if approval is: an empty list lets each wait until linkspan approve admits it; default none',
      items: { type: 'string' },
    },
  },
} as const;

export const LINK_PROPS = {
  type: 'object',
  description: 'Properties of Link',
  additionalProperties: false,
  required: ['targetCluster'],
  properties: {
    targetCluster: { type: 'string', description: 'Name of the target cluster; mirrors are called <service>-<name>' },
    name: { type: 'string', description: 'Name of the Link; default the name of the target cluster' },
    namespace: { type: 'string', description: "Namespace of the Link; default the chart's, else linkerd-multicluster" },
    labels: {
      type: 'object',
      description: 'Labels of the Link; default none',
      additionalProperties: { type: 'string' },
    },
    annotations: {
      type: 'object',
      description: 'Annotations of the Link; default none',
      additionalProperties: { type: 'string' },
    },
    targetClusterDomain: { type: 'string', description: 'DNS domain of the target cluster; default cluster.local' },
    targetTrustDomain: {
      type: 'string',
      description:
        "Identity trust domain of Linkerd in the target, which is part of the gateway's identity; default its cluster domain",
    },
    targetLinkerdNamespace: {
      type: 'string',
      description: "Namespace of Linkerd's control plane in the target; default linkerd",
    },
    clusterCredentialsSecret: {
      type: 'string',
      description:
        'Name of the Secret with the kubeconfig of the target, in the namespace of the Link; default cluster-credentials-<target cluster>',
    },
    targetNamespaces: {
      type: 'array',
      description:
        "The only namespaces of the target that are read: exportNamespaces of its RemoteAccess. Linkerd's own CRD drops this field; default all",
      items: { type: 'string' },
    },
    gatewayAddresses: {
      type: 'array',
      description: "IP addresses and host names of the target's gateway; default no gateway, for a flat network only",
      items: { type: 'string' },
    },
    gatewayPort: { type: 'integer', description: 'Port of the gateway; default 4143' },
    gatewayIdentity: {
      type: 'string',
      description: 'TLS identity of the gateway; default that of linkerd-gateway in linkerd-multicluster',
    },
    probe: described(LINK_PROBE, "Probes of the gateway's health; default /ready on port 4191, every 3s"),
    selector: {
      type: 'object',
      description:
        'Services to mirror through the gateway; {} selects none; default those labelled mirror.linkerd.io/exported: "true", if there is a gateway',
      additionalProperties: false,
      required: [],
      properties: {
        matchLabels: {
          type: 'object',
          description: 'Labels, each with the value it must have; default none',
          additionalProperties: { type: 'string' },
        },
        matchExpressions: {
          type: 'array',
          description: 'Requirements; default none',
          items: {
            type: 'object',
            description: 'One requirement on a label',
            additionalProperties: false,
            required: ['key', 'operator'],
            properties: {
              key: { type: 'string', description: 'Label key' },
              operator: {
                type: 'string',
                description: 'Relation of the label to the values',
                enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
              },
              values: {
                type: 'array',
                description: 'At least one for In and NotIn, none for Exists and DoesNotExist; default none',
                items: { type: 'string' },
              },
            },
          },
        },
      },
    },
    remoteDiscoverySelector: {
      type: 'object',
      description:
        'Services to mirror in flat mode; {} selects none; default those labelled mirror.linkerd.io/exported: remote-discovery',
      additionalProperties: false,
      required: [],
      properties: {
        matchLabels: {
          type: 'object',
          description: 'Labels, each with the value it must have; default none',
          additionalProperties: { type: 'string' },
        },
        matchExpressions: {
          type: 'array',
          description: 'Requirements; default none',
          items: {
            type: 'object',
            description: 'One requirement on a label',
            additionalProperties: false,
            required: ['key', 'operator'],
            properties: {
              key: { type: 'string', description: 'Label key' },
              operator: {
                type: 'string',
                description: 'Relation of the label to the values',
                enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
              },
              values: {
                type: 'array',
                description: 'At least one for In and NotIn, none for Exists and DoesNotExist; default none',
                items: { type: 'string' },
              },
            },
          },
        },
      },
    },
    federatedServiceSelector: {
      type: 'object',
      description:
        'Services that join the federated Service of their name; {} selects none; default those labelled mirror.linkerd.io/federated: member',
      additionalProperties: false,
      required: [],
      properties: {
        matchLabels: {
          type: 'object',
          description: 'Labels, each with the value it must have; default none',
          additionalProperties: { type: 'string' },
        },
        matchExpressions: {
          type: 'array',
          description: 'Requirements; default none',
          items: {
            type: 'object',
            description: 'One requirement on a label',
            additionalProperties: false,
            required: ['key', 'operator'],
            properties: {
              key: { type: 'string', description: 'Label key' },
              operator: {
                type: 'string',
                description: 'Relation of the label to the values',
                enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
              },
              values: {
                type: 'array',
                description: 'At least one for In and NotIn, none for Exists and DoesNotExist; default none',
                items: { type: 'string' },
              },
            },
          },
        },
      },
    },
    federation: {
      type: 'string',
      description:
        "How the members of federated Services are reached: through the gateway of the target, or on a flat network, where pods connect to its pods. If any member of a federated Service is reached through a gateway, all are. Linkerd's controller knows flat networks only; default flat",
      enum: ['gateway', 'flat'],
    },
    serviceExports: {
      type: 'boolean',
      description:
        'Whether to import what the ServiceExports of the target export. ServiceImports are reached as federation says, or, if it is absent, through the gateway, if there is one; default true',
    },
    importPolicy: described(
      LINK_IMPORT_POLICY,
      "What is taken of what the target exports: other Services are not mirrored, joined or imported. Linkerd's own CRD drops this field; default all",
    ),
    excludedLabels: {
      type: 'array',
      description:
        'Labels that are not copied to mirrors, beside those that never are: exact keys, or prefix/*; default none',
      items: { type: 'string' },
    },
    excludedAnnotations: {
      type: 'array',
      description:
        'Annotations that are not copied to mirrors, beside those that never are: exact keys, or prefix/*; default none',
      items: { type: 'string' },
    },
    enableHeadlessServices: {
      type: 'boolean',
      description: 'Whether to mirror headless Services pod by pod; default that of the operator',
    },
    enableNamespaceCreation: {
      type: 'boolean',
      description: 'Whether to create the namespaces that mirrors need; default that of the operator',
    },
  },
} as const;

/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { SERVICE_ACCOUNT_REF } from '../common/schema.gen.ts';
import { described, without } from '../common/schema.ts';
import { GATEWAY_PROPS, REMOTE_ACCESS_PROPS } from '../gateway/schema.gen.ts';
import { LINK_IMPORT_POLICY, LINK_PROBE, LINK_PROPS, SECRET_STORE_REF } from '../link/schema.gen.ts';
import { MONITORING_PROPS } from '../monitoring/schema.gen.ts';
import { MIRROR_OPERATOR_PROPS } from '../operator/schema.gen.ts';

export const MULTICLUSTER_PROPS = {
  type: 'object',
  description: 'Properties of Multicluster',
  additionalProperties: false,
  required: [],
  properties: {
    namespace: {
      type: 'string',
      description:
        "Namespace of the multicluster extension, which is rendered; default the chart's, else linkerd-multicluster",
    },
    podSecurity: {
      type: 'string',
      description:
        "Pod Security Standard that the namespace of the extension enforces. The init container of Linkerd's proxy, which sets up the network of a pod, needs privileged; with Linkerd's CNI plugin there is none, and restricted is enough; default privileged",
      enum: ['privileged', 'restricted'],
    },
    linkerdNamespace: { type: 'string', description: "Namespace of Linkerd's control plane; default linkerd" },
    trustDomain: {
      type: 'string',
      description: 'Identity trust domain of Linkerd in this cluster; default cluster.local',
    },
    gateway: {
      description:
        'The gateway; false for no gateway, on a flat network or in a cluster that is only a source; default a LoadBalancer with three replicas',
      if: { type: 'boolean' },
      then: { enum: [false] },
      else: described(
        without(GATEWAY_PROPS, 'linkerdNamespace', 'namespace', 'trustDomain'),
        'The gateway; false for no gateway, on a flat network or in a cluster that is only a source; default a LoadBalancer with three replicas',
      ),
    },
    sourceNetworks: {
      type: 'array',
      description: 'Networks in CIDR notation that clients of the gateway connect from; default all',
      items: { type: 'string' },
    },
    scrapers: {
      type: 'array',
      description:
        "ServiceAccounts, in each cluster, that may read the metrics of the gateway's proxy; default prometheus in linkerd-viz",
      items: SERVICE_ACCOUNT_REF,
    },
    sources: {
      type: 'array',
      description: 'Source clusters that may read the exports of this cluster, each with its own account; default none',
      items: described(
        without(REMOTE_ACCESS_PROPS, 'namespace'),
        'Source clusters that may read the exports of this cluster, each with its own account',
      ),
    },
    operator: described(
      without(MIRROR_OPERATOR_PROPS, 'linkerdNamespace', 'namespace', 'trustDomain'),
      'The operator, for a cluster with Links. It may read only the Secrets that links name. If there are other Links, add their Secrets to its credentialsSecrets, or write any; default none',
    ),
    monitoring: described(
      without(MONITORING_PROPS, 'operator'),
      'Objects for Prometheus and Grafana. They need the CRDs of the Prometheus Operator; default none',
    ),
    links: {
      type: 'array',
      description: 'Links to target clusters, without their credentials; default none',
      items: described(without(LINK_PROPS, 'namespace'), 'Links to target clusters, without their credentials'),
    },
    crd: {
      type: 'boolean',
      description:
        "Whether to render the CRDs: that of the Link, which is a superset of Linkerd's, and, beside an operator, that of the ServiceFailover; default true if there is an operator or a Link",
    },
  },
} as const;

export const API_SERVER = {
  type: 'object',
  description: 'Connection to the API server of a cluster, from other clusters',
  additionalProperties: false,
  required: ['url', 'caData'],
  properties: {
    url: { type: 'string', description: 'URL of the API server; https' },
    caData: {
      type: 'string',
      description:
        'CA certificates of the API server as base64 of PEM, like certificate-authority-data of a kubeconfig',
    },
    tlsServerName: {
      type: 'string',
      description: 'Name in the certificate of the API server; default the host of the URL',
    },
  },
} as const;

export const CLUSTER_SET_MEMBER = {
  type: 'object',
  description: 'A member of a ClusterSet: one cluster',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: {
      type: 'string',
      description: 'Name of the cluster. Links to it have this name, and mirrors of its Services end in it',
    },
    clusterDomain: { type: 'string', description: 'DNS domain of the cluster; default cluster.local' },
    trustDomain: {
      type: 'string',
      description: 'Identity trust domain of Linkerd in the cluster; default the cluster domain',
    },
    gatewayAddresses: {
      type: 'array',
      description: 'IP addresses or host names of the gateway; required of a target unless flat is true; default none',
      items: { type: 'string' },
    },
    gateway: described(
      without(GATEWAY_PROPS, 'linkerdNamespace', 'namespace', 'trustDomain'),
      'The gateway, which is rendered if other clusters use it; default a LoadBalancer with three replicas',
    ),
    gatewayAccess: {
      type: 'string',
      description:
        'Who may come through the gateway, where this cluster differs from the others: so each can be moved from open by itself; default that of operator',
      enum: ['open', 'exported', 'clients'],
    },
    gatewayTcp: {
      type: 'string',
      description:
        'Who may open connections through the gateway that Linkerd does not look into, where this cluster differs from the others; default that of operator',
      enum: ['none', 'meshed', 'clients'],
    },
    operator: {
      description:
        'Whether the cluster keeps its operator, with the CRDs, while it has no Links: so that the mirrors of its last Links are removed before the operator is; default only while it has Links, or a gateway whose policy the operator keeps',
      enum: [true],
    },
    apiServer: described(
      API_SERVER,
      'API server of the cluster, as other clusters reach it; required of a target unless credentials are left out; default none',
    ),
    exportNamespaces: {
      type: 'array',
      description:
        "The only namespaces that other clusters may read and mirror from, by a Role in each. They exclude flat: Linkerd's destination controller reads whole clusters; default all",
      items: { type: 'string' },
    },
    networks: {
      type: 'array',
      description:
        'Networks in CIDR notation that the requests of the cluster to gateways come from. Without them, the gateways that it uses are open to all networks; default any',
      items: { type: 'string' },
    },
  },
} as const;

export const CLUSTER_PAIR = {
  type: 'object',
  description: 'A pair: a source that mirrors from a target',
  additionalProperties: false,
  required: ['source', 'target'],
  properties: {
    source: { type: 'string', description: 'Name of the cluster that mirrors' },
    target: { type: 'string', description: 'Name of the cluster that exports' },
  },
} as const;

export const TOPOLOGY = {
  type: 'object',
  description: 'Topology of the Links between the members of a set',
  additionalProperties: false,
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      description:
        'Links of each cluster with each other (full-mesh), of each hub with each other cluster in both directions (hub-and-spokes), or of the listed pairs (pairs)',
      enum: ['full-mesh', 'hub-and-spokes', 'pairs'],
    },
    hubs: {
      type: 'array',
      description: 'Names of the hubs, required for type hub-and-spokes; default none',
      items: { type: 'string' },
    },
    pairs: {
      type: 'array',
      description:
        'Pairs, required for type pairs. Links in both directions take two pairs. There may be none if each member keeps its operator; default none',
      items: CLUSTER_PAIR,
    },
  },
} as const;

export const CLUSTER_SET_LINK = {
  type: 'object',
  description: 'What the Link of one pair has otherwise than the set would give it',
  additionalProperties: false,
  required: ['source', 'target'],
  properties: {
    enableHeadlessServices: {
      type: 'boolean',
      description: 'Whether to mirror headless Services pod by pod; default that of the operator',
    },
    enableNamespaceCreation: {
      type: 'boolean',
      description: 'Whether to create the namespaces that mirrors need; default that of the operator',
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
    source: { type: 'string', description: 'Name of the cluster that mirrors' },
    target: { type: 'string', description: 'Name of the cluster that exports' },
  },
} as const;

export const CLUSTER_CREDENTIALS = {
  type: 'object',
  description: 'Credentials of targets, which are rendered without their tokens',
  additionalProperties: false,
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      description:
        'What to render. external-secret: an ExternalSecret that adds the token; placeholder: a Secret without a token, which the operator refuses until the token is added; left-out: nothing',
      enum: ['external-secret', 'placeholder', 'left-out'],
    },
    store: described(SECRET_STORE_REF, 'Store of the tokens, required for type external-secret; default none'),
    keyPrefix: {
      type: 'string',
      description:
        'Prefix of the keys <keyPrefix>/<source>/<target> of tokens in the store, for type external-secret; default linkspan',
    },
  },
} as const;

export const CLUSTER_SET_MCS = {
  type: 'object',
  description: 'The MCS API in the clusters of a set',
  additionalProperties: false,
  required: ['clusterSet'],
  properties: {
    clusterSet: {
      type: 'string',
      description:
        'Id of the set: the value of the ClusterProperty clusterset.k8s.io of every cluster. It must not change while clusters are in the set. The id of each cluster, cluster.clusterset.k8s.io, is its name',
    },
    crds: {
      type: 'boolean',
      description:
        'Whether to render the CRDs of ServiceExport, ServiceImport and ClusterProperty; false where another implementation of the MCS API, or a cloud provider, has installed them; default true',
    },
  },
} as const;

export const CLUSTER_SET_PROPS = {
  type: 'object',
  description: 'Properties of ClusterSet',
  additionalProperties: false,
  required: ['members', 'operator'],
  properties: {
    members: {
      type: 'array',
      description: 'The clusters; at least one, each with a unique name',
      items: CLUSTER_SET_MEMBER,
    },
    topology: described(TOPOLOGY, 'Topology of the Links between the members; default full mesh'),
    links: {
      type: 'array',
      description:
        'What single Links have otherwise than the set would give them, such as selectors of their own. Each pair must be in the topology; default none',
      items: CLUSTER_SET_LINK,
    },
    operator: described(
      without(MIRROR_OPERATOR_PROPS, 'linkerdNamespace', 'namespace', 'targetClusters', 'trustDomain'),
      'The operator of every cluster that has a target, or that is to keep it without',
    ),
    monitoring: described(
      without(MONITORING_PROPS, 'operator'),
      'Objects for Prometheus and Grafana, for each operator. They need the CRDs of the Prometheus Operator; default none',
    ),
    credentials: described(
      CLUSTER_CREDENTIALS,
      'Credentials of targets, which are rendered without their tokens; default left out',
    ),
    flat: {
      type: 'boolean',
      description:
        "Whether pods can connect to pods of other clusters, as flat mode needs. If true, accounts have the rights that Linkerd's destination controller needs, which gets a copy of the credentials; if false, Links select nothing in flat mode; default false",
    },
    federation: {
      type: 'string',
      description:
        'How the members of federated Services are reached: through gateways, or on a flat network; default flat if flat is true, else gateway',
      enum: ['gateway', 'flat'],
    },
    serviceExports: {
      type: 'boolean',
      description:
        'Whether clusters import what the ServiceExports of others export. ServiceImports are reached as federation says, or, if it is absent, through the gateways that there are; default true',
    },
    mcs: described(
      CLUSTER_SET_MCS,
      'The MCS API in every cluster: its CRDs, and what the clusters are called; default none: neither CRDs nor ids are rendered',
    ),
    scrapers: {
      type: 'array',
      description:
        "ServiceAccounts, in each cluster, that may read the metrics of the gateway's proxy; default prometheus in linkerd-viz",
      items: SERVICE_ACCOUNT_REF,
    },
    linkerdController: {
      type: 'boolean',
      description:
        "Whether Linkerd's own controller and linkerd multicluster check can use the accounts of source clusters too. They cannot use accounts that are limited to namespaces; default true",
    },
    labels: {
      type: 'object',
      description: 'Labels of every object of every cluster; default those of the chart around it, else none',
      additionalProperties: { type: 'string' },
    },
    namespace: {
      type: 'string',
      description:
        'Namespace of the multicluster extension, in every cluster; default that of the chart around it, else linkerd-multicluster',
    },
    podSecurity: {
      type: 'string',
      description:
        "Pod Security Standard that the namespace of the extension enforces; restricted with Linkerd's CNI plugin; default privileged",
      enum: ['privileged', 'restricted'],
    },
    linkerdNamespace: {
      type: 'string',
      description: "Namespace of Linkerd's control plane, in every cluster; default linkerd",
    },
  },
} as const;

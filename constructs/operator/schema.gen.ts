/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { NODE_AFFINITY, RESOURCES, SERVICE_ACCOUNT_REF, TOLERATION, TOPOLOGY_SPREAD } from '../common/schema.gen.ts';
import { described } from '../common/schema.ts';

export const IP_BLOCK = {
  type: 'object',
  description: 'A network',
  additionalProperties: false,
  required: ['cidr'],
  properties: {
    cidr: { type: 'string', description: 'Network in CIDR notation' },
    except: {
      type: 'array',
      description: 'Parts of the network that may not connect; default none',
      items: { type: 'string' },
    },
  },
} as const;

export const NETWORK_POLICY_PEER = {
  type: 'object',
  description: 'A peer of a NetworkPolicy: pods, or a network',
  additionalProperties: false,
  required: [],
  properties: {
    podSelector: {
      type: 'object',
      description: 'Labels of the pods that may connect; default all pods, if there is a namespaceSelector',
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
    namespaceSelector: {
      type: 'object',
      description: 'Labels of the namespaces of these pods; default the namespace of the operator',
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
    ipBlock: described(
      IP_BLOCK,
      'Network in CIDR notation that may connect, except for some parts of it; default none',
    ),
  },
} as const;

export const ALLOWED_PEERS = {
  type: 'object',
  description: 'Clients that may connect to the pods',
  additionalProperties: false,
  required: ['from'],
  properties: {
    from: { type: 'array', description: 'Peers that may connect; at least one', items: NETWORK_POLICY_PEER },
  },
} as const;

export const MIRROR_OPERATOR_PROPS = {
  type: 'object',
  description: 'Properties of MirrorOperator',
  additionalProperties: false,
  required: ['image'],
  properties: {
    replicas: { type: 'integer', description: 'Number of pods; default 2' },
    antiAffinity: {
      type: 'string',
      description:
        'Whether two pods must not share a node (required), should not (preferred) or may (none); default preferred',
      enum: ['required', 'preferred', 'none'],
    },
    topologySpread: {
      type: 'array',
      description:
        'Topologies that the pods are spread over, such as zones and racks; default zones, where nodes are labelled with them',
      items: TOPOLOGY_SPREAD,
    },
    nodeSelector: {
      type: 'object',
      description: 'Labels that a node must have; default none',
      additionalProperties: { type: 'string' },
    },
    tolerations: {
      type: 'array',
      description: 'Taints of nodes that the pods tolerate; default none',
      items: TOLERATION,
    },
    resources: described(
      RESOURCES,
      "Resource requests and limits of the container; annotations of the pods set those of Linkerd's proxy; default small requests, and no limits",
    ),
    imagePullSecrets: {
      type: 'array',
      description:
        'Names of the Secrets, in the same namespace, with the credentials of image registries; default none',
      items: { type: 'string' },
    },
    podLabels: {
      type: 'object',
      description: 'Additional labels of the pods; default none',
      additionalProperties: { type: 'string' },
    },
    podAnnotations: {
      type: 'object',
      description:
        "Additional annotations of the pods, such as those that configure Linkerd's proxy: config.linkerd.io/proxy-cpu-request and others; default none",
      additionalProperties: { type: 'string' },
    },
    deploymentAnnotations: {
      type: 'object',
      description: 'Annotations of the Deployment; default none',
      additionalProperties: { type: 'string' },
    },
    nodeAffinity: described(NODE_AFFINITY, 'Nodes that the pods run on; default any node'),
    terminationGracePeriod: {
      type: ['string', 'number'],
      description:
        'Time that a pod may take to terminate: a Duration, a Go duration or a number of seconds, in whole seconds; default 30s',
    },
    revisionHistoryLimit: {
      type: 'integer',
      description: 'Number of old ReplicaSets to keep for rollbacks; default 10',
    },
    runAsUser: {
      type: 'integer',
      description: 'Numeric user that the container runs as, not root; default the user of the image',
    },
    runAsGroup: {
      type: 'integer',
      description: 'Numeric group that the container runs as; default the number of the user',
    },
    enableHeadlessServices: {
      type: 'boolean',
      description: 'Whether to mirror headless Services pod by pod, unless a Link sets it; default false',
    },
    enableNamespaceCreation: {
      type: 'boolean',
      description:
        'Whether to create the namespaces that mirrors need, unless a Link sets it. Grants the operator the right to do so; default false',
    },
    failover: {
      type: 'boolean',
      description:
        'Whether to serve ServiceFailovers, by routes of the Gateway API. Grants the operator the rights to do so. Delete ServiceFailovers before it becomes false: their routes would stay as they are; default true',
    },
    serviceImports: {
      type: 'boolean',
      description:
        'Whether to import what clusters export by the MCS API, where its CRDs are installed. Grants the operator the rights to do so; default true',
    },
    gatewayAccess: {
      type: 'string',
      description:
        'Who may come through the gateway of this cluster: every meshed client to every Service (open), every meshed client to what is exported (exported), or to each export whom it names (clients). Grants the operator the rights to write the policy of the gateway; default the policy of the gateway is left as it is',
      enum: ['open', 'exported', 'clients'],
    },
    gatewayTcp: {
      type: 'string',
      description:
        'Who may open connections through the gateway that Linkerd does not look into, to any Service: nobody (none), every meshed client (meshed), or the clients of exports with opaque ports (clients); default none',
      enum: ['none', 'meshed', 'clients'],
    },
    clusterDomain: {
      type: 'string',
      description: 'DNS domain of this cluster, which the host names of its exports end in; default cluster.local',
    },
    trustDomain: {
      type: 'string',
      description:
        'Identity trust domain of Linkerd in this cluster, for clients of exports that name none; default cluster.local',
    },
    endpointMirrorGrace: {
      type: ['string', 'number'],
      description:
        'Time that a pod of a headless Service may be gone before the Service that stands for it is deleted; default 60s; seconds, or a Go duration',
    },
    maxMirrors: {
      type: 'integer',
      description: 'Maximum number of Services of a target that are mirrored for a Link; default 10000',
    },
    maxEndpointMirrors: {
      type: 'integer',
      description: 'Maximum number of pods of headless Services that have an endpoint mirror for a Link; default 10000',
    },
    maxServicePods: {
      type: 'integer',
      description: 'Maximum number of pods of one headless Service that have an endpoint mirror; default 1000',
    },
    maxWrittenMib: {
      type: 'integer',
      description: 'Maximum size in MiB of all that is written for a Link; default 64',
    },
    maxNamespaces: {
      type: 'integer',
      description: 'Maximum number of namespaces that are created for a Link; default 1000',
    },
    mirrorNamespaces: {
      type: 'array',
      description:
        'The only namespaces that mirrors are written to. The operator may read and write only in these, by a Role in each. A namespace that does not exist gets mirrors as soon as it and its Role exist; default all but those of Kubernetes, of the control plane and of the operator, by a ClusterRole',
      items: { type: 'string' },
    },
    credentialsSecrets: {
      description:
        'Names of the only Secrets that the operator may read, each watched by its name; any for all in its namespace, where other tools create Links; default any, and of Multicluster and ClusterSet the Secrets that the Links name',
      if: { type: 'string' },
      then: { enum: ['any'] },
      else: {
        type: 'array',
        description:
          'Names of the only Secrets that the operator may read, each watched by its name; any for all in its namespace, where other tools create Links; default any, and of Multicluster and ClusterSet the Secrets that the Links name',
        items: { type: 'string' },
      },
    },
    federatedSelector: {
      type: 'string',
      description:
        "Label selector of the Services of this cluster that join federated Services, as kubectl --selector takes it; empty: none does, and memberships of this cluster are left to Linkerd's local mirror; default mirror.linkerd.io/federated=member",
    },
    endpoints: {
      type: 'string',
      description: 'Endpoints of a mirror: v1 Endpoints (endpoints) or EndpointSlices (slices); default endpoints',
      enum: ['endpoints', 'slices'],
    },
    probeVia: {
      type: 'string',
      description:
        "Whether gateways are probed through the probe Service and Linkerd's proxy (service), or directly (address); default service for an operator in the mesh, else address",
      enum: ['service', 'address'],
    },
    gatewayResolvePeriod: {
      type: ['string', 'number'],
      description: 'Time between two lookups of the host names of gateways; default 60s; seconds, or a Go duration',
    },
    leaseDuration: {
      type: ['string', 'number'],
      description:
        'Time after which another holder may take a Lease that is not renewed; whole seconds; default 15s; seconds, or a Go duration',
    },
    renewDeadline: {
      type: ['string', 'number'],
      description:
        'Time after which a Lease that cannot be renewed counts as lost; less than leaseDuration; default 10s',
    },
    retryPeriod: {
      type: ['string', 'number'],
      description:
        'Wait between two attempts to acquire or renew a Lease; less than renewDeadline divided by 1.2; default 2s; seconds, or a Go duration',
    },
    concurrency: {
      type: 'integer',
      description: 'Number of concurrent reconciles for each Link, from 1 to 256; default 16',
    },
    logLevel: {
      type: 'string',
      description: 'Lowest level that is logged; default info',
      enum: ['debug', 'info', 'warn', 'error'],
    },
    logFormat: {
      type: 'string',
      description: 'Format of the log: JSON, or readable text; default json',
      enum: ['json', 'pretty'],
    },
    image: {
      type: 'string',
      description: 'Image of Linkspan, with tag or digest; its entry point is the linkspan command',
    },
    imagePullPolicy: {
      type: 'string',
      description: 'When the kubelet pulls the image; default Always for tag latest, else IfNotPresent',
      enum: ['Always', 'IfNotPresent', 'Never'],
    },
    namespace: {
      type: 'string',
      description:
        "Namespace of the operator, the Links and their credentials; default the chart's, else linkerd-multicluster",
    },
    linkerdNamespace: { type: 'string', description: "Namespace of Linkerd's control plane; default linkerd" },
    flat: {
      type: 'boolean',
      description:
        "Whether federated Services and ServiceImports may lead to pods of other clusters, on a flat network. If true, the operator may read the Secrets of the control plane's namespace, or those of credentialsSecrets there: only clusters with credentials there are reached; default false, and of Multicluster and ClusterSet whether a Link joins or imports on one",
    },
    grantNamespaceCreation: {
      type: 'boolean',
      description:
        'Whether to grant the right to create namespaces although enableNamespaceCreation is not true: to an operator with Links that set it themselves. Other Links get no namespaces by this; default false, and of Multicluster and ClusterSet whether a Link has namespaces created',
    },
    targetClusters: {
      type: 'array',
      description:
        'Target clusters of the Links, first the one that linkerd multicluster gateways and check must find; default none, and these commands do not find the operator',
      items: { type: 'string' },
    },
    meshed: {
      type: 'boolean',
      description:
        "Whether the pods are in the mesh. Without Linkerd's proxy, gateways are probed directly and without mTLS; default true",
    },
    adminPort: { type: 'integer', description: 'Port of /healthz, /readyz and /metrics; default 9999' },
    adminHost: {
      type: 'string',
      description: 'Address that the admin port listens on, :: for a cluster with IPv6 only; default 0.0.0.0',
      enum: ['0.0.0.0', '::'],
    },
    networkPolicy: {
      description:
        'Clients that may connect to the pods, as peers of a NetworkPolicy; false for no NetworkPolicy; default all, to the admin port and the ports of the proxy',
      if: { type: 'boolean' },
      then: { enum: [false] },
      else: described(
        ALLOWED_PEERS,
        'Clients that may connect to the pods, as peers of a NetworkPolicy; false for no NetworkPolicy; default all, to the admin port and the ports of the proxy',
      ),
    },
    scrapers: {
      description:
        "Clients that may use the admin port of pods in the mesh: anybody, or meshed clients of these ServiceAccounts, as in { name: 'prometheus', namespace: 'linkerd-viz' }. Linkerd always allows the probes of the kubelet; default anybody",
      if: { type: 'string' },
      then: { enum: ['anybody'] },
      else: {
        type: 'array',
        description:
          "Clients that may use the admin port of pods in the mesh: anybody, or meshed clients of these ServiceAccounts, as in { name: 'prometheus', namespace: 'linkerd-viz' }. Linkerd always allows the probes of the kubelet; default anybody",
        items: SERVICE_ACCOUNT_REF,
      },
    },
    env: {
      type: 'object',
      description:
        'Additional environment variables of the container, such as those for a proxy server. NODE_OPTIONS replaces the default of the construct; default none',
      additionalProperties: { type: 'string' },
    },
  },
} as const;

/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { NODE_AFFINITY, RESOURCES, SERVICE_ACCOUNT_REF, TOLERATION, TOPOLOGY_SPREAD } from '../common/schema.gen.ts';
import { described } from '../common/schema.ts';

export const GATEWAY_POLICY_PROPS = {
  type: 'object',
  description: 'Properties of GatewayPolicy',
  additionalProperties: false,
  required: [],
  properties: {
    namespace: {
      type: 'string',
      description: "Namespace of the gateway; default the chart's, else linkerd-multicluster",
    },
    gatewayAccess: {
      type: 'string',
      description:
        'Who may come through the gateway: every meshed client to every Service of the cluster (open), or whom the operator of the cluster lets in, by what is exported (exported) and to whom (clients). With these, no policy of the whole Server is rendered: until an operator with the same setting runs, nobody is let in; default open',
      enum: ['open', 'exported', 'clients'],
    },
    sourceNetworks: {
      type: 'array',
      description:
        'Networks in CIDR notation that clients connect from, as the gateway sees them. Behind a load balancer that does not keep addresses, these are the networks of the nodes; default all, recorded in an annotation',
      items: { type: 'string' },
    },
    scrapers: {
      type: 'array',
      description:
        'ServiceAccounts of this cluster that may read the metrics of the proxies of the multicluster extension; default prometheus in linkerd-viz',
      items: SERVICE_ACCOUNT_REF,
    },
  },
} as const;

export const GATEWAY_SERVICE_PROPS = {
  type: 'object',
  description: 'Service of the gateway',
  additionalProperties: false,
  required: [],
  properties: {
    type: {
      type: 'string',
      description: 'Type of the Service; default LoadBalancer',
      enum: ['LoadBalancer', 'NodePort', 'ClusterIP'],
    },
    loadBalancerClass: { type: 'string', description: 'Class of the load balancer; default that of the cluster' },
    loadBalancerIP: {
      type: 'string',
      description: 'IP address to request for the load balancer, where its implementation supports it; default any',
    },
    loadBalancerSourceRanges: {
      type: 'array',
      description: 'Networks in CIDR notation that may connect, where the load balancer supports it; default all',
      items: { type: 'string' },
    },
    externalTrafficPolicy: {
      type: 'string',
      description:
        "Whether traffic goes to all nodes (Cluster), or only to nodes with a gateway, which keeps the clients' addresses (Local). GatewayPolicy checks these addresses; default Cluster",
      enum: ['Cluster', 'Local'],
    },
    healthCheckNodePort: {
      type: 'integer',
      description:
        "Node port for the load balancer's health check of nodes, for type LoadBalancer with externalTrafficPolicy Local; default chosen by Kubernetes",
    },
    port: { type: 'integer', description: 'Port of the gateway; default 4143' },
    probePort: { type: 'integer', description: 'Port of the health endpoint; default 4191' },
    nodePort: {
      type: 'integer',
      description:
        'Node port of the gateway, which Links to a NodePort gateway name as gatewayPort; default chosen by Kubernetes',
    },
    probeNodePort: {
      type: 'integer',
      description:
        'Node port of the health endpoint, which Links to a NodePort gateway name as probe.port; default chosen by Kubernetes',
    },
    annotations: {
      type: 'object',
      description:
        'Additional annotations of the Service, such as those that configure the load balancer of a cloud; default none',
      additionalProperties: { type: 'string' },
    },
  },
} as const;

export const GATEWAY_PROPS = {
  type: 'object',
  description: 'Properties of Gateway',
  additionalProperties: false,
  required: [],
  properties: {
    replicas: { type: 'integer', description: 'Number of pods; default 3, or the number of an autoscaler' },
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
    namespace: {
      type: 'string',
      description: "Namespace of the multicluster extension; default the chart's, else linkerd-multicluster",
    },
    linkerdNamespace: { type: 'string', description: "Namespace of Linkerd's control plane; default linkerd" },
    trustDomain: {
      type: 'string',
      description: 'Identity trust domain of Linkerd in this cluster; default cluster.local',
    },
    service: described(GATEWAY_SERVICE_PROPS, 'Service of the gateway; default a LoadBalancer on ports 4143 and 4191'),
    probePath: { type: 'string', description: 'Path of the health endpoint; default /ready' },
    probePeriod: {
      type: ['string', 'number'],
      description: 'Time between the probes of other clusters; default 3s; seconds, or a Go duration',
    },
    image: {
      type: 'string',
      description: 'Image of the container beside the proxy, which does nothing; default registry.k8s.io/pause:3.10',
    },
  },
} as const;

export const REMOTE_ACCESS_PROPS = {
  type: 'object',
  description: 'Properties of RemoteAccess',
  additionalProperties: false,
  required: ['sourceCluster'],
  properties: {
    sourceCluster: { type: 'string', description: 'Name of the source cluster' },
    name: {
      type: 'string',
      description:
        'Name of the ServiceAccount and its roles; default linkerd-service-mirror-remote-access-<source cluster>',
    },
    namespace: {
      type: 'string',
      description: "Namespace of the ServiceAccount; default the chart's, else linkerd-multicluster",
    },
    flat: {
      type: 'boolean',
      description:
        "Whether to grant the rights that mirrors and federated Services on a flat network need. Linkerd's destination controller fails without them; default false",
    },
    exportNamespaces: {
      type: 'array',
      description:
        "The only namespaces that the source cluster may read, by a Role in each. They must exist, and Links to this cluster must name them as targetNamespaces. They exclude flat: Linkerd's destination controller reads whole clusters; default all, by a ClusterRole",
      items: { type: 'string' },
    },
    linkerdController: {
      type: 'boolean',
      description:
        "Whether to grant the rights that Linkerd's own controller and linkerd multicluster check need: to read Endpoints, a single Service, and the ConfigMap linkerd-config; default true, or false with exportNamespaces, with which neither can work",
    },
    longLivedToken: {
      type: 'boolean',
      description:
        "Whether to render a Secret that Kubernetes fills with a token that does not end. Linkerd's destination controller needs one on a flat network, since it reads its credentials once; linkspan credentials mint --flat makes it, too. The operator does with tokens of the TokenRequest API: it renews them before they end; default false",
    },
  },
} as const;

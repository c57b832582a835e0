/** Schemas of the props of Gateway, GatewayPolicy and RemoteAccess. */
import { PODS } from '../common/pod-schema.ts';
import { choice, flag, integer, map, object, serviceAccounts, text, texts, time } from '../common/schema.ts';

const NAMESPACE = text('Namespace of the multicluster extension; default linkerd-multicluster');

export const GATEWAY_PROPS = object('The gateway; default a LoadBalancer with three replicas', {
  ...PODS,
  replicas: integer('Number of pods; default 3, or the number of an autoscaler'),
  namespace: NAMESPACE,
  linkerdNamespace: text("Namespace of Linkerd's control plane; default linkerd"),
  trustDomain: text('Identity trust domain of Linkerd in this cluster; default cluster.local'),
  image: text('Image of the container beside the proxy, which does nothing; default registry.k8s.io/pause:3.10'),
  probePath: text('Path of the health endpoint; default /ready'),
  probePeriod: time('Time between the probes of other clusters: seconds, or a Go duration; default 3s'),
  service: object('Service of the gateway; default a LoadBalancer on ports 4143 and 4191', {
    type: choice('Type of the Service; default LoadBalancer', 'LoadBalancer', 'NodePort', 'ClusterIP'),
    loadBalancerClass: text('Class of the load balancer; default that of the cluster'),
    loadBalancerIP: text(
      'IP address to request for the load balancer, where its implementation supports it; default any',
    ),
    loadBalancerSourceRanges: texts(
      'Networks in CIDR notation that may connect, where the load balancer supports it; default all',
    ),
    externalTrafficPolicy: choice(
      "Whether traffic goes to all nodes (Cluster), or only to nodes with a gateway, which keeps the clients' addresses (Local); default Cluster",
      'Cluster',
      'Local',
    ),
    healthCheckNodePort: integer(
      "Node port for the load balancer's health check of nodes, for type LoadBalancer with externalTrafficPolicy Local; default chosen by Kubernetes",
    ),
    port: integer('Port of the gateway; default 4143'),
    probePort: integer('Port of the health endpoint; default 4191'),
    nodePort: integer('Node port of the gateway; default chosen by Kubernetes; required of a member of type NodePort'),
    probeNodePort: integer(
      'Node port of the health endpoint; default chosen by Kubernetes; required of a member of type NodePort',
    ),
    annotations: map(
      'Additional annotations of the Service, such as those that configure the load balancer of a cloud; default none',
    ),
  }),
});

export const GATEWAY_POLICY_PROPS = object('Clients that may use the gateway', {
  namespace: NAMESPACE,
  sourceNetworks: texts('Networks in CIDR notation that clients connect from; default all'),
  scrapers: serviceAccounts(
    'ServiceAccounts of this cluster that may read the metrics of the proxies of the multicluster extension; default prometheus in linkerd-viz',
  ),
});

export const REMOTE_ACCESS_PROPS = object(
  'Access of a source cluster to this one',
  {
    sourceCluster: text('Name of the source cluster'),
    name: text(
      'Name of the ServiceAccount and its roles; default linkerd-service-mirror-remote-access-<source cluster>',
    ),
    namespace: NAMESPACE,
    flat: flag('Whether to grant the rights that mirrors and federated Services on a flat network need; default false'),
    exportNamespaces: texts('The only namespaces that the source cluster may read; default all'),
    linkerdController: flag(
      "Whether to grant the rights that Linkerd's own controller and linkerd multicluster check need; default true, or false with exportNamespaces",
    ),
    token: choice('Whether to render a Secret for a token that does not expire; default secret', 'secret', 'none'),
  },
  'sourceCluster',
);

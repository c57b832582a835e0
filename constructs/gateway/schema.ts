/** Schemas of the props of Gateway, GatewayPolicy and RemoteAccess. */
import { PODS } from '../common/pod-schema.ts';
import { choice, flag, integer, map, object, serviceAccounts, text, texts, time } from '../common/schema.ts';

const NAMESPACE = text('Namespace of the multicluster extension; default linkerd-multicluster');

export const GATEWAY_PROPS = object('The gateway; default a LoadBalancer with three replicas', {
  ...PODS,
  namespace: NAMESPACE,
  linkerdNamespace: text("Namespace of Linkerd's control plane; default linkerd"),
  trustDomain: text('Identity trust domain; default cluster.local'),
  image: text('Image of the container beside the proxy, which does nothing'),
  probePath: text('Path of the health endpoint; default /ready'),
  probePeriod: time('Time between the probes of other clusters: seconds, or a Go duration; default 3s'),
  service: object('How the gateway is reached', {
    type: choice('Default LoadBalancer', 'LoadBalancer', 'NodePort', 'ClusterIP'),
    loadBalancerClass: text('Which implementation makes the load balancer'),
    loadBalancerIP: text('Address that the load balancer is to have'),
    loadBalancerSourceRanges: texts('Networks in CIDR notation that the load balancer lets in'),
    externalTrafficPolicy: choice("Local keeps the clients' addresses", 'Cluster', 'Local'),
    healthCheckNodePort: integer('Node port that the load balancer asks which nodes have a gateway'),
    port: integer('Port of the gateway; default 4143'),
    probePort: integer('Port of the health endpoint; default 4191'),
    nodePort: integer('Node port of the gateway; required for NodePort'),
    probeNodePort: integer('Node port of the health endpoint; required for NodePort'),
    annotations: map("Annotations that a cloud's load balancers are set up by"),
  }),
});

export const GATEWAY_POLICY_PROPS = object('Who may use the gateway', {
  namespace: NAMESPACE,
  sourceNetworks: texts('Networks in CIDR notation that clients come from; default all'),
  scrapers: serviceAccounts('ServiceAccounts that may read the metrics of the proxies; default that of linkerd-viz'),
});

export const REMOTE_ACCESS_PROPS = object(
  'What a source cluster may read',
  {
    sourceCluster: text('Name of the source cluster'),
    name: text('Name of the ServiceAccount; default linkerd-service-mirror-remote-access-<source cluster>'),
    namespace: NAMESPACE,
    flat: flag('Also what flat and federated mode take; default false'),
    exportNamespaces: texts('The only namespaces that may be read; default all'),
    linkerdController: flag("Also what Linkerd's own controller and `linkerd multicluster check` read; default true"),
    token: choice('Default secret', 'secret', 'none'),
  },
  'sourceCluster',
);

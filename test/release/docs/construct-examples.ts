/**
 * The examples of docs/constructs/: one for each construct, named as it is. Its page shows the text of the function
 * and, below it, what the function renders.
 */
import type { Chart } from 'cdk8s';
import { Service } from 'cdk8s-plus-27';
import {
  Alerts,
  ArgoCd,
  ClusterProperty,
  ClusterSet,
  CredentialsReference,
  Dashboard,
  EndpointMirror,
  Exported,
  Federated,
  FederatedService,
  Gateway,
  GatewayPolicy,
  GatewayProbe,
  Grant,
  HeadlessMirror,
  Link,
  LinkCrd,
  LinkCredentials,
  McsCrds,
  MirrorOperator,
  MirrorService,
  Monitor,
  Monitoring,
  Multicluster,
  RemoteAccess,
  ServiceExport,
  ServiceFailover,
  ServiceFailoverCrd,
  ServiceImport,
  ServiceRoute,
  TrafficSplit,
} from '../../../constructs/index.ts';

/** In place of what a program reads from where its secrets are. */
const caData = Buffer.from('-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n').toString('base64');
const token = 'token';

/** Renders all clusters that use each other's Services. Each cluster gets a chart with its side of every pair that it is part of. Here east mirrors from west. */
export const clusterSet = (chart: Chart): void => {
  new ClusterSet(chart, 'ClusterSet', {
    members: [
      { name: 'east', networks: ['198.51.100.0/24'] },
      { name: 'west', gatewayAddresses: ['gateway.west.example.com'] },
    ],
    topology: { type: 'pairs', pairs: [{ source: 'east', target: 'west' }] },
    operator: { image: 'registry.example.com/linkspan:0.1.0' },
  });
};

/** Renders what Argo CD needs to apply the folders that `writeClusterSet` writes, or `linkspan synth`: an Application for each cluster, their project, and an Application for the Applications, so that a commit adds or removes a cluster. Objects are applied in waves. */
export const argoCd = (chart: Chart): void => {
  const clusterSet = new ClusterSet(chart, 'ClusterSet', {
    members: [{ name: 'east' }, { name: 'west', gatewayAddresses: ['gateway.west.example.com'] }],
    topology: { type: 'pairs', pairs: [{ source: 'east', target: 'west' }] },
    operator: { image: 'registry.example.com/linkspan:0.1.0' },
  });
  new ArgoCd(chart, 'ArgoCd', { clusterSet, repoUrl: 'https://git.example.com/platform/mesh.git' });
};

/** Renders everything that one cluster needs, as a target and as a source. Its parts are described below, and take the same props there. */
export const multicluster = (chart: Chart): void => {
  new Multicluster(chart, 'Multicluster', {
    sourceNetworks: ['198.51.100.0/24'],
    sources: [{ sourceCluster: 'east' }],
    operator: { image: 'registry.example.com/linkspan:0.1.0' },
    links: [{ targetCluster: 'east', gatewayAddresses: ['203.0.113.10'] }],
  });
};

/** Renders the gateway that receives requests of other clusters: a Deployment whose pods do nothing but run Linkerd's proxy, and its Service. */
export const gateway = (chart: Chart): void => {
  new Gateway(chart, 'Gateway', {
    service: { externalTrafficPolicy: 'Local', loadBalancerSourceRanges: ['198.51.100.0/24'] },
  });
};

/** Limits who may use the gateway: clients of the mesh, from the networks of the source clusters. Without `sourceNetworks` they may come from any network, which an annotation records. */
export const gatewayPolicy = (chart: Chart): void => {
  new GatewayPolicy(chart, 'Policy', { sourceNetworks: ['198.51.100.0/24'] });
};

/** Lets one source cluster read what is exported here. Each source cluster has its own account, so that each can be revoked alone. */
export const remoteAccess = (chart: Chart): void => {
  new RemoteAccess(chart, 'East', { sourceCluster: 'east' });
};

/** Renders the operator: two replicas, one of which leads, with the rights that it needs and no others. */
export const mirrorOperator = (chart: Chart): void => {
  new MirrorOperator(chart, 'Operator', {
    image: 'registry.example.com/linkspan:0.1.0',
    targetClusters: ['west'],
    enableHeadlessServices: true,
    mirrorNamespaces: ['shop'],
  });
};

/** Renders the CRD of Links, as `linkspan crds` prints it. It is a superset of Linkerd's. This page leaves out its schemas. */
export const linkCrd = (chart: Chart): void => {
  new LinkCrd(chart, 'Crd');
};

/** Renders the CRD of ServiceFailovers, as `linkspan crds` prints it. This page leaves out its schemas. */
export const serviceFailoverCrd = (chart: Chart): void => {
  new ServiceFailoverCrd(chart, 'FailoverCrd');
};

/** Renders a Link: which cluster is mirrored from, how its gateway is reached, and what is mirrored. */
export const link = (chart: Chart): void => {
  new Link(chart, 'West', {
    targetCluster: 'west',
    gatewayAddresses: ['203.0.113.10', 'gateway.west.example.com'],
    probe: { period: '5s' },
    excludedLabels: ['team.example.com/*'],
  });
};

/** Renders the credentials of a target cluster, for the operator and for Linkerd's destination controller. They hold a token, so keep them out of Git. */
export const linkCredentials = (chart: Chart): void => {
  new LinkCredentials(chart, 'Credentials', {
    targetCluster: 'west',
    server: 'https://api.west.example.com:6443',
    caData,
    token,
  });
};

/** Renders the same credentials without the token, for Git. external-secrets adds the token; without the prop `token`, you do. */
export const credentialsReference = (chart: Chart): void => {
  new CredentialsReference(chart, 'Credentials', {
    targetCluster: 'west',
    server: 'https://api.west.example.com:6443',
    caData,
    token: { store: { name: 'vault' }, key: 'linkspan/east/west' },
    copies: 'link',
  });
};

/** Exports a Service, or every Service of a construct tree, to the clusters that link to this one. */
export const exported = (chart: Chart): void => {
  const service = new Service(chart, 'Service', {
    metadata: { name: 'podinfo', namespace: 'test' },
    ports: [{ name: 'http', port: 9898 }],
  });
  Exported.of(service);
};

/** Makes a Service, or every Service of a construct tree, a member of the federated Service of its name, `<service>-federated`, in its own cluster and in those that link to it. */
export const federated = (chart: Chart): void => {
  const service = new Service(chart, 'Service', {
    metadata: { name: 'podinfo', namespace: 'test' },
    ports: [{ name: 'http', port: 9898 }],
  });
  Federated.of(service);
};

/** Exports a Service to the other clusters of the set by the MCS API, as `Exported.of(service, { api: 'mcs' })` does. [mcs.md](mcs.md) shows what becomes of it. */
export const serviceExport = (chart: Chart): void => {
  new ServiceExport(chart, 'Export', {
    service: 'podinfo',
    namespace: 'test',
    exportedLabels: { team: 'shop' },
  });
};

/** Says what the cluster is called in its set. The prop `mcs` of ClusterSet renders it for every cluster. */
export const clusterProperty = (chart: Chart): void => {
  new ClusterProperty(chart, 'ClusterId', { name: 'cluster.clusterset.k8s.io', value: 'east' });
};

/** Renders the CRDs of ServiceExport, ServiceImport and ClusterProperty, as `linkspan crds --mcs` prints them. This page leaves out their schemas. */
export const mcsCrds = (chart: Chart): void => {
  new McsCrds(chart, 'McsCrds');
};

/** Divides requests to a Service among Services and mirrors, with SMI's TrafficSplit. */
export const trafficSplit = (chart: Chart): void => {
  new TrafficSplit(chart, 'Split', {
    service: 'podinfo',
    namespace: 'test',
    backends: [
      { service: 'podinfo', weight: 50 },
      { service: 'podinfo', targetCluster: 'east', weight: 50 },
    ],
  });
};

/** Divides HTTP requests to a Service among Services and mirrors, with an HTTPRoute of the Gateway API. `failover` is recorded in an annotation. */
export const serviceRoute = (chart: Chart): void => {
  new ServiceRoute(chart, 'Route', {
    service: 'podinfo',
    namespace: 'test',
    port: 9898,
    backends: [
      { service: 'podinfo', weight: 50 },
      { service: 'podinfo', targetCluster: 'east', weight: 50 },
    ],
    failover: [{ service: 'podinfo' }, { service: 'podinfo', targetCluster: 'east' }],
  });
};

/** Sends the requests to a Service to the first backend that is ready: here the pods of this cluster while half of them are ready, else those of east. The operator makes the routes, and changes their weights. */
export const serviceFailover = (chart: Chart): void => {
  new ServiceFailover(chart, 'Failover', {
    service: 'podinfo',
    namespace: 'test',
    backends: [
      { service: 'podinfo', minReady: '50%' },
      { service: 'podinfo', targetCluster: 'east' },
    ],
    holdDown: '1m',
  });
};

/** Renders the mirror of a Service of another cluster. The operator creates mirrors, and keeps their endpoints up to date. For a cluster that must not run the operator, `static` renders the endpoints, too. */
export const mirrorService = (chart: Chart): void => {
  new MirrorService(chart, 'Mirror', {
    service: 'podinfo',
    namespace: 'test',
    targetCluster: 'west',
    ports: [{ name: 'http', port: 9898 }],
    endpoints: { addresses: ['203.0.113.10'], port: 4143 },
    static: true,
  });
};

/** Renders the mirror of a headless Service. Its name resolves to the endpoint mirrors of the pods. */
export const headlessMirror = (chart: Chart): void => {
  new HeadlessMirror(chart, 'Mirror', {
    service: 'nginx-svc',
    namespace: 'default',
    targetCluster: 'west',
    ports: [{ name: 'http', port: 80 }],
    endpoints: {
      subsets: [{ addresses: [{ hostname: 'nginx-set-0', ip: '10.43.0.17' }], ports: [{ name: 'http', port: 80 }] }],
    },
    static: true,
  });
};

/** Renders the endpoint mirror of one pod of a headless Service. */
export const endpointMirror = (chart: Chart): void => {
  new EndpointMirror(chart, 'Mirror', {
    hostname: 'nginx-set-0',
    service: 'nginx-svc',
    namespace: 'default',
    targetCluster: 'west',
    ports: [{ name: 'http', port: 80 }],
  });
};

/** Renders the probe Service of a Link: the target's gateway on its probe port. */
export const gatewayProbe = (chart: Chart): void => {
  new GatewayProbe(chart, 'Probe', {
    link: 'west',
    targetCluster: 'west',
    port: 4191,
    addresses: ['203.0.113.10'],
    static: true,
  });
};

/** Renders the Service that joins the Services of one name in several clusters, on a flat network. The operator makes them of the Services that are members. */
export const federatedService = (chart: Chart): void => {
  new FederatedService(chart, 'FederatedService', {
    service: 'web',
    namespace: 'shop',
    ports: [{ name: 'http', port: 80, targetPort: 8080 }],
    members: [{ targetCluster: 'west' }, { targetCluster: 'north' }],
    local: {},
  });
};

/** Renders the import of a Service by the MCS API: the ServiceImport, which CoreDNS reads, the Service that is derived from it, and a slice of the gateway of each cluster. The operator writes ServiceImports itself; this is for clusters in which it does not run, where `static` renders the slices, too. */
export const serviceImport = (chart: Chart): void => {
  new ServiceImport(chart, 'ServiceImport', {
    service: 'podinfo',
    namespace: 'test',
    ports: [{ name: 'http', port: 9898 }],
    ips: ['10.43.0.42'],
    clusters: [
      {
        id: 'west',
        targetCluster: 'west',
        endpoints: {
          addresses: ['203.0.113.10'],
          port: 4143,
          identity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
        },
      },
    ],
    static: true,
  });
};

/** Renders a ServiceMonitor, alerts and a dashboard for an operator. The prop `monitoring` of ClusterSet and Multicluster renders the same. */
export const monitoring = (chart: Chart): void => {
  const operator = new MirrorOperator(chart, 'Operator', { image: 'registry.example.com/linkspan:0.1.0' });
  new Monitoring(chart, 'Monitoring', { operator, labels: { release: 'kube-prometheus-stack' }, dashboard: false });
};

/** Renders a ServiceMonitor, by which a Prometheus of the Prometheus Operator scrapes the operator. Dashboard and Alerts read these metrics. */
export const monitor = (chart: Chart): void => {
  const operator = new MirrorOperator(chart, 'Operator', { image: 'registry.example.com/linkspan:0.1.0' });
  new Monitor(chart, 'Monitor', { operator, labels: { release: 'kube-prometheus-stack' } });
};

/** Renders a dashboard of the operator's metrics for Grafana, which Grafana's sidecar finds by its label. This page leaves out the dashboard itself. */
export const dashboard = (chart: Chart): void => {
  new Dashboard(chart, 'Dashboard', { namespace: 'monitoring', folder: 'Linkerd' });
};

/** Renders alerts on the operator's metrics. Each alert can be changed or left out. Apply them to each cluster with an operator: one of them fires when the operator is absent. */
export const alerts = (chart: Chart): void => {
  new Alerts(chart, 'Alerts', {
    labels: { release: 'kube-prometheus-stack' },
    alerts: {
      GatewayNotAlive: { for: '2m', severity: 'page' },
      ConvergenceSlow: { threshold: 60 },
      MirrorsFailed: false,
    },
  });
};

/** Grants rights to a ServiceAccount, in the whole cluster or in one namespace. The other constructs use it for their accounts. */
export const grant = (chart: Chart): void => {
  new Grant(chart, 'Grant', {
    to: { name: 'linkspan-operator', namespace: 'linkerd-multicluster' },
    namespace: 'shop',
    rules: [{ group: '', resources: ['services'], verbs: ['list', 'watch'] }],
    labels: { 'linkerd.io/extension': 'multicluster' },
  });
};

/**
 * The examples of docs/constructs.md: one for each construct, named as it is. The page shows the text of each function
 * and, below it, what the function renders.
 */
import type { Chart } from 'cdk8s';
import { Service } from 'cdk8s-plus-27';
import {
  Alerts,
  ArgoCd,
  ClusterSet,
  CredentialsReference,
  Dashboard,
  EndpointMirror,
  Exported,
  Federated,
  Gateway,
  GatewayPolicy,
  GatewayProbe,
  Grant,
  HeadlessMirror,
  Link,
  LinkCrd,
  LinkCredentials,
  MirrorOperator,
  MirrorService,
  Monitor,
  Monitoring,
  Multicluster,
  RemoteAccess,
  ServiceRoute,
  TrafficSplit,
} from '../../../constructs/index.ts';

/** In place of what a program reads from where its secrets are. */
const caData = Buffer.from('-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n').toString('base64');
const token = 'token';

/** Clusters that use each other's Services, said once: each gets a chart of its own with its side of every pair that it is in. Here east mirrors from west. */
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

/** The folders that `linkspan synth` writes, for Argo CD: an Application for each cluster, the project that holds them, and one for these, so that a cluster comes and goes by a commit. Its objects are applied in waves. */
export const argoCd = (chart: Chart): void => {
  const clusterSet = new ClusterSet(chart, 'ClusterSet', {
    members: [{ name: 'east' }, { name: 'west', gatewayAddresses: ['gateway.west.example.com'] }],
    topology: { type: 'pairs', pairs: [{ source: 'east', target: 'west' }] },
    operator: { image: 'registry.example.com/linkspan:0.1.0' },
  });
  new ArgoCd(chart, 'ArgoCd', { clusterSet, repoUrl: 'https://git.example.com/platform/mesh.git' });
};

/** A cluster's whole side: what lets other clusters in, and what reaches out to them. The parts are described below, and take the same props here. */
export const multicluster = (chart: Chart): void => {
  new Multicluster(chart, 'Multicluster', {
    sourceNetworks: ['198.51.100.0/24'],
    sources: [{ sourceCluster: 'east' }],
    operator: { image: 'registry.example.com/linkspan:0.1.0' },
    links: [{ targetCluster: 'east', gatewayAddresses: ['203.0.113.10'] }],
  });
};

/** The gateway that other clusters come in by: pods with nothing but Linkerd's proxy, and their Service. */
export const gateway = (chart: Chart): void => {
  new Gateway(chart, 'Gateway', {
    service: { externalTrafficPolicy: 'Local', loadBalancerSourceRanges: ['198.51.100.0/24'] },
  });
};

/** Who may use the gateway: clients of the mesh, from the networks of the source clusters. Without `sourceNetworks`, from anywhere, and an annotation says so. */
export const gatewayPolicy = (chart: Chart): void => {
  new GatewayPolicy(chart, 'Policy', { sourceNetworks: ['198.51.100.0/24'] });
};

/** What one source cluster may read here: an account of its own, so that each can be revoked alone. */
export const remoteAccess = (chart: Chart): void => {
  new RemoteAccess(chart, 'East', { sourceCluster: 'east' });
};

/** The operator: two replicas of which one leads, with the rights that it needs and no others. */
export const mirrorOperator = (chart: Chart): void => {
  new MirrorOperator(chart, 'Operator', {
    image: 'registry.example.com/linkspan:0.1.0',
    targetClusters: ['west'],
    enableHeadlessServices: true,
    mirrorNamespaces: ['shop'],
  });
};

/** The CRD of Links, as `linkspan crds` prints it: a superset of Linkerd's. Its schemas are left out here. */
export const linkCrd = (chart: Chart): void => {
  new LinkCrd(chart, 'Crd');
};

/** Which target cluster, how it is reached and what is mirrored from it. */
export const link = (chart: Chart): void => {
  new Link(chart, 'West', {
    targetCluster: 'west',
    gatewayAddresses: ['203.0.113.10', 'gateway.west.example.com'],
    probe: { period: '5s' },
    excludedLabels: ['team.example.com/*'],
  });
};

/** The credentials of a target cluster, for the operator and for Linkerd's destination controller. They hold a token: not for Git. */
export const linkCredentials = (chart: Chart): void => {
  new LinkCredentials(chart, 'Credentials', {
    targetCluster: 'west',
    server: 'https://api.west.example.com:6443',
    caData,
    token,
  });
};

/** The same credentials as they may stand in Git: external-secrets puts the token in, or without `token` the team does. */
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

/** Makes a Service, or every Service of a construct tree, a member of the federated Service of its name. Linkerd's controller makes that Service; Linkspan's operator does not yet. */
export const federated = (chart: Chart): void => {
  const service = new Service(chart, 'Service', {
    metadata: { name: 'podinfo', namespace: 'test' },
    ports: [{ name: 'http', port: 9898 }],
  });
  Federated.of(service);
};

/** Divides requests to a Service among Services and mirrors, by SMI. */
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

/** Divides HTTP requests to a Service among Services and mirrors, by the Gateway API. `failover` is kept with it as data. */
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

/** A Service of another cluster, here. The operator makes these, and keeps the endpoints behind them true. In a cluster that must not run it, `static` lets synthesis write the endpoints too; what that means, and what Argo CD must be told, is said where the prop is declared. */
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

/** The mirror of a headless Service, which answers with the mirrors of its pods. */
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

/** The mirror of one pod of a headless Service. */
export const endpointMirror = (chart: Chart): void => {
  new EndpointMirror(chart, 'Mirror', {
    hostname: 'nginx-set-0',
    service: 'nginx-svc',
    namespace: 'default',
    targetCluster: 'west',
    ports: [{ name: 'http', port: 80 }],
  });
};

/** The probe Service of a Link: the target's gateway on its probe port. */
export const gatewayProbe = (chart: Chart): void => {
  new GatewayProbe(chart, 'Probe', {
    link: 'west',
    targetCluster: 'west',
    port: 4191,
    addresses: ['203.0.113.10'],
    static: true,
  });
};

/** All that Prometheus and Grafana need of an operator, in one; `monitoring` of a ClusterSet or a Multicluster is this. */
export const monitoring = (chart: Chart): void => {
  const operator = new MirrorOperator(chart, 'Operator', { image: 'registry.example.com/linkspan:0.1.0' });
  new Monitoring(chart, 'Monitoring', { operator, labels: { release: 'kube-prometheus-stack' }, dashboard: false });
};

/** Has a Prometheus of the Prometheus Operator scrape the operator. Dashboard and Alerts are over what it finds. */
export const monitor = (chart: Chart): void => {
  const operator = new MirrorOperator(chart, 'Operator', { image: 'registry.example.com/linkspan:0.1.0' });
  new Monitor(chart, 'Monitor', { operator, labels: { release: 'kube-prometheus-stack' } });
};

/** The operator's metrics in Grafana: Links, gateways, mirrors, and the work behind them. Grafana's sidecar finds it by its label. The dashboard itself is left out here. */
export const dashboard = (chart: Chart): void => {
  new Dashboard(chart, 'Dashboard', { namespace: 'monitoring', folder: 'Linkerd' });
};

/** What to be woken for, and what to look at in the morning. Each alert can be set or left out. They belong where an operator runs: one of them tells of its absence. */
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

/** Rights of a ServiceAccount: a role and its binding, in the cluster or in one namespace. The other constructs are given theirs by it. */
export const grant = (chart: Chart): void => {
  new Grant(chart, 'Grant', {
    to: { name: 'linkspan-operator', namespace: 'linkerd-multicluster' },
    namespace: 'shop',
    rules: [{ group: '', resources: ['services'], verbs: ['list', 'watch'] }],
    labels: { 'linkerd.io/extension': 'multicluster' },
  });
};

/**
 * What every construct renders is accepted by a real API server that refuses unknown fields, and applied again it
 * changes nothing: what Argo CD and `kubectl diff` would otherwise show for ever.
 */
import { Service } from 'cdk8s-plus-27';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Alerts } from '../../constructs/monitoring/alerts.ts';
import type { PodProps } from '../../constructs/common/pod-props.ts';
import { CredentialsReference } from '../../constructs/link/credentials-reference.ts';
import { Dashboard } from '../../constructs/monitoring/dashboard.ts';
import { EndpointMirror } from '../../constructs/rendered/mirror/endpoint-mirror.ts';
import { Exported } from '../../constructs/services/exported.ts';
import { FederatedService } from '../../constructs/rendered/federated/federated-service.ts';
import { GatewayProbe } from '../../constructs/rendered/mirror/gateway-probe.ts';
import { HeadlessMirror } from '../../constructs/rendered/mirror/headless-mirror.ts';
import { LinkCredentials } from '../../constructs/link/link-credentials.ts';
import { MirrorOperator } from '../../constructs/operator/mirror-operator.ts';
import { MirrorService } from '../../constructs/rendered/mirror/mirror-service.ts';
import { Monitor } from '../../constructs/monitoring/monitor.ts';
import { Multicluster, type MulticlusterProps } from '../../constructs/cluster-set/multicluster.ts';
import { type ApiJson, render } from '../../constructs/rendered/render.ts';
import { ServiceRoute } from '../../constructs/rendered/route/service-route.ts';
import { ServiceImport } from '../../constructs/rendered/import/service-import.ts';
import { ClusterProperty } from '../../constructs/services/cluster-property.ts';
import { ServiceExport } from '../../constructs/services/service-export.ts';
import { ServiceFailover } from '../../constructs/services/service-failover.ts';
import { TrafficSplit } from '../../constructs/services/traffic-split.ts';
import { failoverCrd, linkCrd, mcsCrds } from '../../crds/index.ts';
import { CERTIFICATE } from '../cluster/certificate.ts';
import { borrowCluster, type TestCluster } from '../cluster/index.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { type Api, api, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { namespace } from '../support/builders.ts';
import { meshCrds } from '../support/mesh-crds.ts';
import { applyStrict, applyTwice } from '../support/strict.ts';

type Compose = Parameters<typeof render>[0];

const multicluster =
  (props: MulticlusterProps): Compose =>
  (chart) => {
    new Multicluster(chart, 'multicluster', props);
  };

const GATEWAY = { addresses: ['203.0.113.10', '2001:db8::10'], port: 4143, identity: 'gateway.identity' };
const TARGET = { service: 'web', namespace: 'shop', targetCluster: 'west' };
const PORTS = [{ name: 'http', port: 80, targetPort: 8080, appProtocol: 'kubernetes.io/h2c' }];
const BACKENDS = [
  { service: 'podinfo', weight: 50 },
  { service: 'podinfo', targetCluster: 'west', weight: 50 },
];

const pool = { matchExpressions: [{ key: 'pool', operator: 'In' as const, values: ['edge'] }] };

/** What users say about pods. */
const PODS: PodProps = {
  imagePullSecrets: ['registry', 'mirror'],
  podLabels: { team: 'mesh' },
  podAnnotations: { 'config.linkerd.io/proxy-cpu-request': '100m' },
  deploymentAnnotations: { 'example.com/owner': 'mesh' },
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [pool] },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, preference: pool }],
  },
  terminationGracePeriod: '1m30s',
  revisionHistoryLimit: 3,
  runAsUser: 2103,
  runAsGroup: 2104,
};

const compositions: Readonly<Record<string, Compose>> = {
  'a cluster that is target and source': multicluster({
    sourceNetworks: ['198.51.100.0/24'],
    sources: [{ sourceCluster: 'west' }, { sourceCluster: 'north', flat: true, longLivedToken: true }],
    operator: {
      image: 'linkspan:test',
      enableNamespaceCreation: true,
      endpoints: 'slices',
      scrapers: [{ name: 'prometheus', namespace: 'linkerd-viz' }],
    },
    links: [{ targetCluster: 'west', gatewayAddresses: ['203.0.113.7'] }, { targetCluster: 'north' }],
  }),
  'a gateway with every setting': multicluster({
    namespace: 'mesh',
    podSecurity: 'restricted',
    scrapers: [
      { name: 'prometheus', namespace: 'linkerd-viz' },
      { name: 'agent', namespace: 'monitoring' },
    ],
    gateway: {
      replicas: 5,
      antiAffinity: 'required',
      topologySpread: [{ topologyKey: 'rack', maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule' }],
      nodeSelector: { pool: 'edge' },
      tolerations: [{ operator: 'Exists' }, { key: 'edge', value: 'a', effect: 'NoExecute', tolerationSeconds: 60 }],
      resources: { requests: { cpu: '10m', memory: '1.5Mi' }, limits: { memory: '16Mi' } },
      ...PODS,
      service: {
        loadBalancerClass: 'example.com/internal',
        loadBalancerIP: '203.0.113.7',
        loadBalancerSourceRanges: ['198.51.100.0/24', '2001:db8::/32'],
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 30100,
        port: 443,
        probePort: 8443,
        nodePort: 30143,
        probeNodePort: 30191,
        annotations: { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' },
      },
    },
  }),
  'an operator with every setting': multicluster({
    namespace: 'mesh2',
    gateway: { service: { type: 'NodePort' } },
    operator: {
      image: 'linkspan:test',
      imagePullPolicy: 'Always',
      meshed: false,
      mirrorNamespaces: ['shop'],
      adminHost: '::',
      adminPort: 8080,
      networkPolicy: { from: [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }] },
      replicas: 3,
      antiAffinity: 'none',
      topologySpread: [],
      ...PODS,
      env: { HTTPS_PROXY: 'http://proxy.example.com:3128' },
    },
  }),
  'a mirror': (chart) => {
    new MirrorService(chart, 'mirror', { ...TARGET, ports: PORTS, endpoints: GATEWAY });
  },
  'a mirror with slices': (chart) => {
    const endpoints = { ...GATEWAY, kind: 'slices' as const };
    new MirrorService(chart, 'mirror', { ...TARGET, service: 'sliced', ports: PORTS, endpoints });
  },
  'a mirror in flat mode': (chart) => {
    new MirrorService(chart, 'mirror', { ...TARGET, service: 'flat', ports: PORTS, mode: 'remote-discovery' });
  },
  'a headless mirror': (chart) => {
    const ports = [{ name: 'http', port: 8080 }];
    const subsets = [{ addresses: [{ hostname: 'db-0', ip: '10.96.7.7' }], ports }];
    new HeadlessMirror(chart, 'mirror', { ...TARGET, service: 'db', ports: PORTS, endpoints: { subsets } });
    new EndpointMirror(chart, 'endpoint', { ...TARGET, service: 'db', hostname: 'db-0', ports, endpoints: GATEWAY });
  },
  'a federated Service in flat mode': (chart) => {
    const members = [{ targetCluster: 'west' }, { targetCluster: 'north' }];
    new FederatedService(chart, 'federated', { service: 'web', namespace: 'shop', ports: PORTS, members, local: {} });
  },
  'a federated Service in gateway mode': (chart) => {
    const targetRef = {
      kind: 'Pod',
      name: 'web-abc12',
      namespace: 'shop',
      uid: '1b4e28ba-2fa1-11d2-883f-0016d3cca427',
    };
    const local = {
      slices: [
        {
          name: 'web-x7k2p',
          addressType: 'IPv4' as const,
          endpoints: [
            { addresses: ['10.1.0.7'], conditions: { ready: true, serving: true, terminating: false }, targetRef },
            { addresses: ['10.1.0.8'], conditions: { ready: false }, nodeName: 'node-1', zone: 'zone-a' },
            { addresses: ['10.1.0.9'] },
          ],
          ports: [{ name: 'http', port: 8080, appProtocol: 'kubernetes.io/h2c' }],
        },
      ],
    };
    new FederatedService(chart, 'federated', {
      service: 'sliced',
      namespace: 'shop',
      mode: 'gateway',
      ports: PORTS,
      members: [
        { targetCluster: 'west', endpoints: GATEWAY },
        { targetCluster: 'north', endpoints: { ...GATEWAY, alive: false } },
        { targetCluster: 'south', endpoints: { ...GATEWAY, ready: false } },
      ],
      local,
    });
  },
  'a probe': (chart) => {
    new GatewayProbe(chart, 'probe', { link: 'west', targetCluster: 'west', ...GATEWAY, port: 4191 });
  },
  credentials: (chart) => {
    new LinkCredentials(chart, 'credentials', {
      targetCluster: 'west',
      server: 'https://203.0.113.9:6443',
      caData: Buffer.from(CERTIFICATE).toString('base64'),
      token: 'secret',
    });
  },
  'a placeholder of credentials': (chart) => {
    new CredentialsReference(chart, 'credentials', {
      targetCluster: 'north',
      server: 'https://203.0.113.9:6443',
      caData: Buffer.from(CERTIFICATE).toString('base64'),
    });
  },
  'credentials whose token is in a store': (chart) => {
    new CredentialsReference(chart, 'credentials', {
      targetCluster: 'south',
      server: 'https://203.0.113.9:6443',
      caData: Buffer.from(CERTIFICATE).toString('base64'),
      token: { store: { name: 'vault', kind: 'SecretStore' }, key: 'linkspan/east/south', property: 'token' },
    });
  },
  'what watches over the operator': (chart) => {
    const operator = new MirrorOperator(chart, 'operator', { image: 'linkspan:test' });
    const labels = { release: 'prometheus' };
    new Monitor(chart, 'monitor', { operator, labels, interval: '15s' });
    new Alerts(chart, 'alerts', { labels, alerts: { LinkNotReady: { for: '1h30m', severity: 'page' } } });
    new Dashboard(chart, 'dashboard', { folder: 'Linkerd' });
  },
  'an exported Service, split and routed': (chart) => {
    const service = new Service(chart, 'service', {
      metadata: { name: 'podinfo', namespace: 'shop' },
      ports: [{ port: 9898 }],
    });
    Exported.of(service);
    const common = { service: 'podinfo', namespace: 'shop', backends: BACKENDS, failover: BACKENDS };
    new TrafficSplit(chart, 'split', common);
    new ServiceRoute(chart, 'route', { ...common, port: 9898 });
    new ServiceFailover(chart, 'failover', {
      service,
      backends: [
        { service, minReady: '50%', weight: 90 },
        { service, targetCluster: 'west', minReady: 1, weight: 10 },
      ],
      holdDown: '1m',
      routeKind: 'GRPCRoute',
    });
  },
  'what the MCS API imports, and what it exports': (chart) => {
    new ServiceExport(chart, 'export', {
      service: 'web',
      namespace: 'shop',
      exportedLabels: { team: 'shop' },
      exportedAnnotations: { 'example.com/team': 'shop' },
    });
    new ClusterProperty(chart, 'id', { name: 'cluster.clusterset.k8s.io', value: 'east' });
    new ServiceImport(chart, 'import', {
      service: 'web',
      namespace: 'shop',
      ports: [
        { port: 80, appProtocol: 'kubernetes.io/h2c' },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
      ipFamilies: ['IPv4'],
      sessionAffinity: 'ClientIP',
      sessionAffinitySeconds: 10,
      internalTrafficPolicy: 'Local',
      trafficDistribution: 'PreferClose',
      labels: { team: 'shop' },
      opaquePorts: '80',
      clusters: [{ id: 'west', targetCluster: 'west', endpoints: GATEWAY }],
    });
    new ServiceImport(chart, 'headless', {
      service: 'db',
      namespace: 'shop',
      type: 'Headless',
      ports: [{ name: 'pg', port: 5432 }],
      clusters: [
        {
          id: 'west',
          targetCluster: 'west',
          endpoints: GATEWAY,
          pods: [
            { hostname: 'db-0', ports: [{ name: 'pg', port: 15432 }], ips: ['10.96.200.123'] },
            { address: '10.1.0.7', ports: [{ name: 'pg', port: 15432 }], ready: false },
          ],
        },
      ],
    });
  },
};

onReal('what the constructs render', () => {
  let cluster: TestCluster;
  let client: Api;
  beforeAll(async () => {
    cluster = await borrowCluster('real', 'east');
    client = api(cluster);
    for (const crd of [linkCrd as unknown as ObjectRef, failoverCrd as unknown as ObjectRef, ...mcsCrds, ...meshCrds])
      await installCrd(cluster, crd);
    for (const name of ['shop', 'linkerd', 'linkerd-multicluster']) await client.apply(namespace(name));
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  const check = (object: ApiJson): Promise<KubeObject> => applyStrict(client, object, { dryRun: 'All' });

  test.each(Object.entries(compositions))(
    'is accepted to the last field, and stays as it is: %s',
    async (_, compose) => {
      for (const object of render(compose)) {
        await check(object);
        await applyTwice(client, object);
      }
    },
  );

  test('is refused if a field is misspelt, whichever kind it is', async () => {
    const objects = Object.values(compositions).flatMap(render);
    const byKind = new Map(objects.map((object) => [`${object.apiVersion} ${object.kind}`, object]));
    for (const object of byKind.values()) {
      if (object.spec === undefined || object.kind === 'CustomResourceDefinition') continue;
      const misspelt = { ...object, spec: { ...object.spec, podSelektor: {} } };
      await expect(check(misspelt), object.kind).rejects.toThrow('podSelektor');
    }
  });

  test('runs where only pods of the restricted security standard may', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await client.apply({ ...namespace('strict'), metadata: { name: 'strict', labels } } as ObjectRef);
    for (const object of render(compositions['a cluster that is target and source']!)) {
      if (object.kind !== 'Deployment') continue;
      const { template } = object.spec as { readonly template: { readonly metadata: object; readonly spec: object } };
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        spec: template.spec,
        metadata: { ...template.metadata, name: object.metadata.name, namespace: 'strict' },
      };
      await check(pod);
      const unrestricted = { ...pod, spec: { ...pod.spec, hostNetwork: true } };
      await expect(check(unrestricted)).rejects.toThrow('violates PodSecurity');
    }
  });
});

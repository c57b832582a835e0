/** The ServiceImport, what is derived from it, and the slices that DNS and Linkerd read (rules K2 to K4). */
import { describe, expect, test } from 'vitest';
import type { ImportedCluster, ImportedPod, ServiceImportProps } from '../../../../constructs/rendered/import/props.ts';
import { type ApiJson, render } from '../../../../constructs/rendered/render.ts';
import { ServiceImport } from '../../../../constructs/rendered/import/service-import.ts';
import { errorsOf } from '../../errors-of.ts';

const WEST: ImportedCluster = {
  id: 'id-west',
  targetCluster: 'west',
  targetClusterDomain: 'west.local',
  endpoints: { addresses: ['203.0.113.1'], port: 4143, identity: 'gateway.west' },
};

const slice = (hostname?: string) => ({
  name: 'web-abc12',
  addressType: 'IPv4' as const,
  endpoints: [
    {
      addresses: ['10.1.0.7'],
      conditions: { ready: true },
      ...(hostname !== undefined && { hostname }),
      targetRef: { kind: 'Pod', name: 'web-0', namespace: 'shop' },
      nodeName: 'node-1',
    },
  ],
  ports: [
    { name: 'http', port: 8080 },
    { name: 'other', port: 9 },
  ],
});

const LOCAL: ImportedCluster = { id: 'id-east', slices: [slice('web-0')] };

const WEB: ServiceImportProps = {
  service: 'web',
  namespace: 'shop',
  ports: [
    { name: 'http', port: 80, appProtocol: 'kubernetes.io/h2c' },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ],
  ips: ['10.96.0.42'],
  ipFamilies: ['IPv4'],
  clusters: [WEST, LOCAL],
};

const rendered = (props: Partial<ServiceImportProps> = {}): readonly ApiJson[] =>
  render((chart) => {
    new ServiceImport(chart, 'web', { ...WEB, ...props });
  });

const slicesIn = (objects: readonly ApiJson[]) => objects.filter(({ kind }) => kind === 'EndpointSlice');

const OWN = { 'linkspan.dev/service-import': 'web' };

describe('a ServiceImport of type ClusterSetIP, through gateways', () => {
  const [serviceImport, derived, ...slices] = rendered({
    sessionAffinity: 'ClientIP',
    sessionAffinitySeconds: 10,
    internalTrafficPolicy: 'Local',
    trafficDistribution: 'PreferClose',
    labels: { team: 'shop', 'argocd.argoproj.io/instance': 'west' },
    annotations: { 'example.com/team': 'shop', 'multicluster.linkerd.io/remote-discovery': 'evil@west' },
    opaquePorts: '80',
  });

  test('says what is imported, with the metadata that is exported, and none that other software would act on (K2)', () => {
    expect(serviceImport).toEqual({
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceImport',
      metadata: {
        name: 'web',
        namespace: 'shop',
        labels: { team: 'shop', ...OWN },
        annotations: {
          'example.com/team': 'shop',
          'multicluster.kubernetes.io/derived-service': 'web-clusterset',
        },
      },
      spec: {
        type: 'ClusterSetIP',
        ports: [
          { name: 'http', protocol: 'TCP', port: 80, appProtocol: 'kubernetes.io/h2c' },
          { name: 'dns', protocol: 'UDP', port: 53 },
        ],
        ips: ['10.96.0.42'],
        ipFamilies: ['IPv4'],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
        internalTrafficPolicy: 'Local',
        trafficDistribution: 'PreferClose',
      },
    });
  });

  test('has a derived Service with its address, which is nothing that others export or join, nor local (K3)', () => {
    expect(derived).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'web-clusterset',
        namespace: 'shop',
        labels: OWN,
        annotations: { 'config.linkerd.io/opaque-ports': '80' },
      },
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.96.0.42',
        clusterIPs: ['10.96.0.42'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        ports: [
          { name: 'http', protocol: 'TCP', port: 80, targetPort: 80, appProtocol: 'kubernetes.io/h2c' },
          { name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 },
        ],
      },
    });
  });

  test('has a slice of each gateway, for TCP, and copies of its own, without hostnames or ports of no export (K3, K4)', () => {
    const common = {
      ...OWN,
      'kubernetes.io/service-name': 'web-clusterset',
      'multicluster.kubernetes.io/service-name': 'web',
    };
    const managedBy = { 'endpointslice.kubernetes.io/managed-by': 'linkspan.dev' };
    expect(slices).toEqual([
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: 'web-clusterset.from-west-ipv4',
          namespace: 'shop',
          labels: {
            ...common,
            ...managedBy,
            'multicluster.kubernetes.io/source-cluster': 'id-west',
            'linkspan.dev/imported-from': 'west',
          },
          annotations: {
            'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.west.local',
            'mirror.linkerd.io/remote-gateway-identity': 'gateway.west',
          },
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['203.0.113.1'], conditions: { ready: true } }],
        ports: [{ name: 'http', port: 4143, protocol: 'TCP' }],
      },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: 'web-clusterset.local.web-abc12',
          namespace: 'shop',
          labels: { ...common, ...managedBy, 'multicluster.kubernetes.io/source-cluster': 'id-east' },
        },
        addressType: 'IPv4',
        endpoints: [
          {
            addresses: ['10.1.0.7'],
            conditions: { ready: true },
            targetRef: { kind: 'Pod', name: 'web-0', namespace: 'shop' },
            nodeName: 'node-1',
          },
        ],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ]);
  });

  test('sends requests to a port only to clusters that expose it, under its name and number (K3)', () => {
    const ports = [
      { name: 'http', port: 81 },
      { name: 'dns', port: 53, protocol: 'UDP' as const },
    ];
    const [fromWest] = slicesIn(rendered({ clusters: [{ ...WEST, ports }, LOCAL] }));
    expect(fromWest?.metadata.name).toBe('web-clusterset.local.web-abc12');
    const [mine] = slicesIn(rendered({ clusters: [{ ...LOCAL, ports: [{ name: 'http', port: 81 }] }] }));
    expect(mine).toBeUndefined();
  });

  test('gives the derived Service a name for a port without one, beside others', () => {
    const objects = rendered({
      ports: [{ port: 80 }, { name: 'unnamed', port: 81 }],
      clusters: [WEST, { id: 'id-east', slices: [{ ...slice(), ports: [{ port: 8080 }] }] }],
    });
    const named = { name: 'unnamed-0' };
    expect(objects[0]?.spec).toMatchObject({ ports: [{ port: 80 }, { name: 'unnamed', port: 81 }] });
    expect(objects[1]?.spec).toMatchObject({ ports: [named, { name: 'unnamed' }] });
    expect(slicesIn(objects).map(({ ports }) => (ports as readonly object[])[0])).toMatchObject([named, named]);
    expect(rendered({ ports: [{ port: 80 }], clusters: [] })[1]?.spec).toMatchObject({ ports: [{ port: 80 }] });
  });

  test('gives a long name of a Service a derived one that fits, and no other Service has', () => {
    const service = 'w'.repeat(63);
    const name = rendered({ service, clusters: [] })[1]?.metadata.name ?? '';
    expect(name).toMatch(/^w+-[0-9a-f]{8}-clusterset$/);
    expect(name).toHaveLength(63);
    expect(rendered({ service: `${'w'.repeat(62)}x`, clusters: [] })[1]?.metadata.name).not.toBe(name);
  });
});

describe('a ServiceImport of type ClusterSetIP, on a flat network', () => {
  test('names its members for Linkerd; its slices are for others, and belong to no Service (K3, K4)', () => {
    const [, derived, ...slices] = rendered({
      mode: 'remote-discovery',
      clusters: [{ id: 'id-west', targetCluster: 'west', slices: [slice('web-0')] }, LOCAL],
    });
    expect(derived?.metadata.annotations).toEqual({
      'multicluster.linkerd.io/remote-discovery': 'web@west',
      'multicluster.linkerd.io/local-discovery': 'web',
    });
    expect(slices.map(({ metadata }) => metadata.name)).toEqual([
      'web-clusterset.from-west.web-abc12',
      'web-clusterset.local.web-abc12',
    ]);
    for (const { metadata } of slices) expect(metadata.labels).not.toHaveProperty('kubernetes.io/service-name');
    // A pod of another cluster is none of this one's.
    expect(slices[0]?.endpoints).toEqual([{ addresses: ['10.1.0.7'], conditions: { ready: true } }]);
  });
});

describe('a headless ServiceImport (K3)', () => {
  const headless = (mode: 'gateway' | 'remote-discovery', ...clusters: readonly ImportedCluster[]) =>
    rendered({ type: 'Headless', ips: [], ipFamilies: ['IPv4'], opaquePorts: '8080', mode, clusters });

  const PODS = [
    { hostname: 'web-0', ports: [{ name: 'http', port: 8080 }], ips: ['10.96.0.7', 'fd00::7'] },
    { address: '10.2.0.9', ports: [{ name: 'http', port: 8080 }], ips: ['10.96.0.8'], ready: false },
    { hostname: 'web-2', ports: [{ name: 'http', port: 8080 }] },
    { hostname: 'web-3', ports: [{ name: 'other', port: 9 }], ips: ['10.96.0.10'] },
  ];
  const THROUGH_GATEWAY: ImportedCluster = { ...WEST, pods: PODS };

  test('has no derived Service, but one for each pod behind a gateway, on the port that the pod listens on', () => {
    const objects = headless('gateway', THROUGH_GATEWAY);
    expect(objects[0]?.spec).toMatchObject({ type: 'Headless', ipFamilies: ['IPv4'] });
    expect(objects[0]?.spec).not.toHaveProperty('ips');
    const services = objects.filter(({ kind }) => kind === 'Service');
    expect(services.map(({ metadata }) => metadata.labels?.['linkspan.dev/imported-pod'])).toEqual([
      'web-0',
      '10-2-0-9',
      'web-2',
    ]);
    const name = services[0]?.metadata.name;
    expect(name).toMatch(/^clusterset-web-0-[0-9a-f]{8}$/);
    expect(services[0]).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name,
        namespace: 'shop',
        labels: { ...OWN, 'linkspan.dev/imported-from': 'west', 'linkspan.dev/imported-pod': 'web-0' },
        annotations: { 'config.linkerd.io/opaque-ports': '8080' },
      },
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.96.0.7',
        clusterIPs: ['10.96.0.7', 'fd00::7'],
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
        ports: [{ name: 'http', protocol: 'TCP', port: 8080, targetPort: 8080, appProtocol: 'kubernetes.io/h2c' }],
      },
    });
    expect(services[2]?.spec).toMatchObject({ ipFamilies: ['IPv4'] });
    expect(services[2]?.spec).not.toHaveProperty('clusterIP');
  });

  test('leads through the gateway to a pod by its hostname, or else to the Service', () => {
    const [named, unnamed] = slicesIn(headless('gateway', THROUGH_GATEWAY));
    const name = named?.metadata.labels?.['kubernetes.io/service-name'] ?? '';
    expect(named).toEqual({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `${name}-ipv4`,
        namespace: 'shop',
        labels: {
          ...OWN,
          'linkspan.dev/imported-from': 'west',
          'linkspan.dev/imported-pod': 'web-0',
          'kubernetes.io/service-name': expect.stringMatching(/^clusterset-web-0-/) as unknown,
          'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
        },
        annotations: {
          'mirror.linkerd.io/remote-svc-fq-name': 'web-0.web.shop.svc.west.local',
          'mirror.linkerd.io/remote-gateway-identity': 'gateway.west',
        },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['203.0.113.1'], conditions: { ready: true } }],
      ports: [{ name: 'http', port: 4143, protocol: 'TCP' }],
    });
    expect(unnamed?.metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name']).toBe('web.shop.svc.west.local');
  });

  test('lists for DNS the addresses of these Services, with hostnames and the ports of the pods (K4)', () => {
    const mcs = slicesIn(headless('gateway', THROUGH_GATEWAY, LOCAL)).filter(
      ({ metadata }) => metadata.labels?.['multicluster.kubernetes.io/service-name'] === 'web',
    );
    expect(mcs.map(({ metadata }) => metadata.name)).toEqual([
      'web-clusterset.from-west-ipv4',
      'web-clusterset.from-west-ipv6',
      'web-clusterset.local.web-abc12',
    ]);
    const [ipv4, ipv6] = mcs;
    expect(ipv4?.endpoints).toEqual([
      { addresses: ['10.96.0.8'], conditions: { ready: false }, hostname: '10-2-0-9' },
      { addresses: ['10.96.0.7'], conditions: { ready: true }, hostname: 'web-0' },
    ]);
    expect(ipv6?.endpoints).toMatchObject([{ addresses: ['fd00::7'], hostname: 'web-0' }]);
    expect(ipv4?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' }]);
    expect(ipv4?.metadata.labels).toMatchObject({ 'multicluster.kubernetes.io/source-cluster': 'id-west' });
    expect(ipv4?.metadata.annotations).toBeUndefined();
    for (const { metadata } of mcs) expect(metadata.labels).not.toHaveProperty('kubernetes.io/service-name');
  });

  test('has the Services of pods alone while the gateway has no address', () => {
    const objects = headless('gateway', { ...THROUGH_GATEWAY, endpoints: undefined });
    expect(objects.map(({ kind }) => kind)).toEqual(['ServiceImport', 'Service', 'Service', 'Service']);
  });

  test('tells pods of one hostname apart, in other clusters and Services, and fits long hostnames', () => {
    const nameOf = (hostname: string, targetCluster = 'west', service = 'web') =>
      rendered({
        service,
        type: 'Headless',
        ips: [],
        clusters: [{ id: 'x', targetCluster, pods: [{ hostname, ports: [{ name: 'http', port: 80 }] }] }],
      })[1]?.metadata.name ?? '';
    const long = nameOf('w'.repeat(63));
    expect(long).toHaveLength(63);
    const names = [
      long,
      nameOf(`${'w'.repeat(62)}x`),
      nameOf('web-0'),
      nameOf('web-0', 'north'),
      nameOf('web-0', 'west', 'db'),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  test('has one port of a number, although pods listen on it under two names', () => {
    const both = [
      { name: 'b', port: 8080 },
      { name: 'a', port: 8080 },
    ];
    const objects = rendered({
      type: 'Headless',
      ips: [],
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
      clusters: [{ ...WEST, pods: [{ hostname: 'web-0', ports: both, ips: ['10.96.0.7'] }] }],
    });
    expect(objects[1]?.spec).toMatchObject({ ports: [{ name: 'a', port: 8080 }] });
    expect(slicesIn(objects).at(-1)?.ports).toMatchObject([{ name: 'a' }, { name: 'b' }]);
  });

  test('has the pods of a flat network', () => {
    const [west] = slicesIn(
      headless('remote-discovery', { id: 'id-west', targetCluster: 'west', slices: [slice('web-0')] }),
    );
    expect(west?.endpoints).toEqual([{ addresses: ['10.1.0.7'], conditions: { ready: true }, hostname: 'web-0' }]);
  });
});

describe('invalid props of a ServiceImport', () => {
  const withPods = (...pods: readonly Partial<ImportedPod>[]): Partial<ServiceImportProps> => ({
    type: 'Headless',
    ips: [],
    clusters: [{ ...WEST, pods: pods.map((pod) => ({ ports: [], ...pod })) }],
  });

  test.each<readonly [Partial<ServiceImportProps>, string]>([
    [{ service: 'Web' }, 'service: "Web" must be a valid Service name'],
    [{ namespace: 'a.b' }, 'namespace: "a.b" must be a valid DNS label'],
    [{ ports: [] }, 'ports: [] must not be empty'],
    [{ ports: [{ port: 80 }, { name: 'b', port: 80 }] }, 'ports[1].port: "80/TCP" must be unique'],
    [{ ports: [{ name: 'a b', port: 80 }] }, 'ports[0].name: "a b" must be a valid DNS label'],
    [{ ports: [{ port: 80, appProtocol: 'a b' }] }, 'ports[0].appProtocol: "a b" must be a valid label key'],
    [{ type: 'Headless' }, 'ips: ["10.96.0.42"] must not be set if type is Headless'],
    [
      { ips: ['10.0.0.1', '10.0.0.2'], ipFamilies: [] },
      'ips: ["10.0.0.1","10.0.0.2"] must have one address of each family',
    ],
    [{ ipFamilies: ['IPv6'] }, 'ipFamilies: ["IPv6"] must be the families of ips, in the same order'],
    [{ ips: [], ipFamilies: ['IPv4', 'IPv4'] }, 'ipFamilies: ["IPv4","IPv4"] must name each family once'],
    [{ sessionAffinitySeconds: 10 }, 'sessionAffinitySeconds: 10 may only be set if sessionAffinity is ClientIP'],
    [
      { sessionAffinity: 'ClientIP', sessionAffinitySeconds: 0 },
      'sessionAffinitySeconds: 0 must be between 1 and 86400',
    ],
    [{ labels: { 'a b': '' } }, 'labels["a b"]: "a b" must be a valid label key'],
    [{ clusters: [{ ...WEST, id: 'a.b' }] }, 'clusters[0].id: "a.b" must be a valid DNS label'],
    [{ clusters: [WEST, { ...WEST, targetCluster: 'north' }] }, 'clusters[1].id: "id-west" must be unique'],
    [{ clusters: [WEST, { ...WEST, id: 'other' }] }, 'clusters[1].targetCluster: "west" must be unique'],
    [{ clusters: [LOCAL, { id: 'other' }] }, 'clusters[1].targetCluster: must be unique'],
    [
      { clusters: [{ ...WEST, slices: [] }] },
      'clusters[0].slices: may only be set on a flat network, or without targetCluster',
    ],
    [
      { clusters: [{ id: 'id-east', slices: [slice('a b')] }] },
      'clusters[0].slices[0].endpoints[0].hostname: "a b" must be a valid DNS label',
    ],
    [
      { clusters: [{ id: 'id-east', slices: [{ ...slice(), ports: [{ port: 80, appProtocol: 'a b' }] }] }] },
      'clusters[0].slices[0].ports[0].appProtocol: "a b" must be a valid label key',
    ],
    [{ mode: 'remote-discovery' }, 'clusters[0].endpoints: may only be set for a gateway'],
    [{ clusters: [{ ...WEST, pods: [] }] }, 'clusters[0].pods: may only be set for a gateway, if type is Headless'],
    [withPods({}), 'clusters[0].pods[0].hostname: is required without address'],
    [withPods({ hostname: 'a.b' }), 'clusters[0].pods[0].hostname: "a.b" must be a valid DNS label'],
    [withPods({ address: 'evil' }), 'clusters[0].pods[0].address: "evil" must be a valid IP address'],
    [withPods({ address: '::1' }), 'clusters[0].pods[0].address: "--1" must be a valid DNS label'],
    [
      withPods({ address: '10.0.0.1' }, { hostname: '10-0-0-1' }),
      'clusters[0].pods[1].hostname: "10-0-0-1" must be unique',
    ],
    [
      withPods({ hostname: 'a', ports: [{ port: 0 }] }),
      'clusters[0].pods[0].ports[0].port: 0 must be between 1 and 65535',
    ],
    [
      withPods({ hostname: 'a', ips: ['10.0.0.1', '10.0.0.2'] }),
      'clusters[0].pods[0].ips: ["10.0.0.1","10.0.0.2"] must have one address of each family',
    ],
    [{ clusters: [], static: true }, 'static: true must not be set without endpoints'],
  ])('%j', (props, expected) => {
    expect(errorsOf(() => rendered(props))).toContain(expected);
  });
});

import { JsonPatch } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import type { GatewayEndpoints } from '../../../../constructs/rendered/mirror/gateway-endpoints.ts';
import { MirrorService, type MirrorServiceProps } from '../../../../constructs/rendered/mirror/mirror-service.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import { errorsOf } from '../../errors-of.ts';

const WEB: MirrorServiceProps = {
  service: 'web',
  namespace: 'shop',
  targetCluster: 'west',
  labels: { app: 'web', 'mirror.linkerd.io/exported': 'true', 'argocd.argoproj.io/instance': 'shop' },
  annotations: { 'config.linkerd.io/opaque-ports': '3306', 'cloud.google.com/neg': '{}', owner: 'team-a' },
  ports: [
    { name: 'http', port: 80, targetPort: 'web', appProtocol: 'kubernetes.io/h2c' },
    { name: 'mysql', port: 3306, targetPort: 13306, protocol: 'TCP' },
  ],
  remoteResourceVersion: '1234',
};

const GATEWAY: GatewayEndpoints = {
  addresses: ['198.51.100.9', '192.0.2.1', '198.51.100.9'],
  port: 4143,
  identity: 'gateway.identity.west',
};

const mirror = (props: Partial<MirrorServiceProps> = {}) =>
  render((chart) => {
    new MirrorService(chart, 'web', { ...WEB, ...props });
  });

const endpointsOf = (gateway: Partial<GatewayEndpoints>, props: Partial<MirrorServiceProps> = {}) =>
  mirror({ ...props, endpoints: { ...GATEWAY, ...gateway } }).slice(1);

const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'web-west',
    namespace: 'shop',
    labels: { app: 'web', 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
    annotations: {
      'config.linkerd.io/opaque-ports': '3306',
      owner: 'team-a',
      'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local',
      'mirror.linkerd.io/remote-resource-version': '1234',
    },
  },
  spec: {
    type: 'ClusterIP',
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, targetPort: 'web', appProtocol: 'kubernetes.io/h2c' },
      { name: 'mysql', protocol: 'TCP', port: 3306, targetPort: 13306 },
    ],
  },
};

const ENDPOINTS_METADATA = {
  name: 'web-west',
  namespace: 'shop',
  labels: { app: 'web', 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
  annotations: {
    'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local',
    'mirror.linkerd.io/remote-gateway-identity': 'gateway.identity.west',
  },
};

const ENDPOINTS_PORTS = [
  { name: 'http', protocol: 'TCP', port: 4143 },
  { name: 'mysql', protocol: 'TCP', port: 4143 },
];

describe('the Service of a mirror in gateway mode', () => {
  test('B1 B2 B3 B4: is written to the letter of the contract, without endpoints unless they are given', () => {
    expect(mirror()).toEqual([SERVICE]);
  });

  test('B1: spells out what the API server would default, and no empty name', () => {
    const [service] = mirror({ ports: [{ name: '', port: 80, appProtocol: '' }] });

    expect(service!.spec).toEqual({ type: 'ClusterIP', ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }] });
  });

  test('B2: leaves out what the Link excludes', () => {
    const [service] = mirror({ excludedLabels: ['app'], excludedAnnotations: ['owner', 'config.linkerd.io/*'] });

    expect(service!.metadata.labels).not.toHaveProperty('app');
    expect(Object.keys(service!.metadata.annotations!)).toEqual([
      'config.linkerd.io/opaque-ports',
      'mirror.linkerd.io/remote-resource-version',
      'mirror.linkerd.io/remote-svc-fq-name',
    ]);
  });

  test('B4: records no version where none is known', () => {
    const [service] = mirror({ remoteResourceVersion: undefined });

    expect(service!.metadata.annotations).not.toHaveProperty(['mirror.linkerd.io/remote-resource-version']);
  });

  test('names the target in the domain of its cluster', () => {
    const [service] = mirror({ targetClusterDomain: 'west.example.com' });

    expect(service!.metadata.annotations).toHaveProperty(
      ['mirror.linkerd.io/remote-svc-fq-name'],
      'web.shop.svc.west.example.com',
    );
  });

  test('renders a target whose labels are named as properties of objects', () => {
    const [service] = mirror({ labels: { constructor: 'x', value: '1', resolve: '2', toString: '3' } });

    expect(service!.metadata.labels).toMatchObject({ value: '1', resolve: '2', toString: '3' });
  });

  test('A5: leaves out UDP and SCTP ports, and says which', () => {
    const ports = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53 },
      { name: 'sig', port: 2905, protocol: 'SCTP' },
    ] as const;
    let omitted: readonly unknown[] = [];
    const [service, endpoints] = render((chart) => {
      omitted = new MirrorService(chart, 'dns', { ...WEB, ports, endpoints: GATEWAY }).omittedPorts;
    });

    expect(service!.spec).toHaveProperty('ports', [{ name: 'dns-tcp', protocol: 'TCP', port: 53, targetPort: 53 }]);
    expect(endpoints!.subsets).toHaveProperty('[0].ports', [{ name: 'dns-tcp', protocol: 'TCP', port: 4143 }]);
    expect(omitted).toEqual([ports[0], ports[2]]);
  });

  test('A5: is refused if no port is left', () => {
    expect(errorsOf(() => mirror({ ports: [{ port: 53, protocol: 'UDP' }] }))).toEqual([
      'ports: [{"port":53,"protocol":"UDP"}] must have a TCP port: UDP and SCTP do not cross a gateway',
    ]);
  });
});

describe('C1: the endpoints of a mirror', () => {
  test('are the addresses of the gateway, sorted, each once, on the port of the gateway', () => {
    expect(mirror({ endpoints: GATEWAY })).toEqual([
      SERVICE,
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: ENDPOINTS_METADATA,
        subsets: [{ addresses: [{ ip: '192.0.2.1' }, { ip: '198.51.100.9' }], ports: ENDPOINTS_PORTS }],
      },
    ]);
  });

  test('are not ready while the gateway is not alive', () => {
    expect(endpointsOf({ alive: false })).toMatchObject([
      { subsets: [{ notReadyAddresses: [{ ip: '192.0.2.1' }, { ip: '198.51.100.9' }], ports: ENDPOINTS_PORTS }] },
    ]);
    expect(JSON.stringify(endpointsOf({ alive: false }))).not.toContain('"addresses"');
  });

  test.each([{ ready: false }, { ready: false, alive: false }, { addresses: [] }])(
    'have no subsets given %o',
    (gateway) => {
      expect(endpointsOf(gateway)).toEqual([{ apiVersion: 'v1', kind: 'Endpoints', metadata: ENDPOINTS_METADATA }]);
    },
  );

  test('carry no identity where the Link has none', () => {
    expect(endpointsOf({ identity: '' })[0]!.metadata.annotations).toEqual({
      'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local',
    });
  });
});

describe('C1: the endpoints of a mirror as slices', () => {
  const slice = (family: 'ipv4' | 'ipv6', endpoints: readonly unknown[]) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...ENDPOINTS_METADATA,
      name: `web-west-${family}`,
      labels: {
        ...ENDPOINTS_METADATA.labels,
        'kubernetes.io/service-name': 'web-west',
        'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
      },
    },
    addressType: family === 'ipv4' ? 'IPv4' : 'IPv6',
    endpoints,
    ports: ENDPOINTS_PORTS,
  });
  const dual = { kind: 'slices', addresses: ['2001:db8::1', '198.51.100.9', '192.0.2.1'] } as const;

  test('are one slice for each address family there is', () => {
    expect(endpointsOf(dual)).toEqual([
      slice('ipv4', [
        { addresses: ['192.0.2.1'], conditions: { ready: true } },
        { addresses: ['198.51.100.9'], conditions: { ready: true } },
      ]),
      slice('ipv6', [{ addresses: ['2001:db8::1'], conditions: { ready: true } }]),
    ]);
    expect(endpointsOf({ kind: 'slices', addresses: ['2001:db8::1'] })).toEqual([
      slice('ipv6', [{ addresses: ['2001:db8::1'], conditions: { ready: true } }]),
    ]);
  });

  test('are not ready while the gateway is not alive', () => {
    expect(endpointsOf({ kind: 'slices', addresses: ['192.0.2.1'], alive: false })).toEqual([
      slice('ipv4', [{ addresses: ['192.0.2.1'], conditions: { ready: false } }]),
    ]);
  });

  test('stay, empty, while no endpoint is ready behind the target', () => {
    expect(endpointsOf({ ...dual, ready: false })).toEqual([slice('ipv4', []), slice('ipv6', [])]);
    expect(endpointsOf({ kind: 'slices', addresses: [], ready: false })).toEqual([]);
  });

  test('name an unnamed port "", as the API server stores it', () => {
    expect(endpointsOf({ kind: 'slices' }, { ports: [{ port: 80 }] })[0]!.ports).toEqual([
      { name: '', protocol: 'TCP', port: 4143 },
    ]);
  });
});

describe('a mirror in flat mode', () => {
  test('A1 B1: adds the labels by which Linkerd finds the remote pods, and keeps every port', () => {
    expect(mirror({ mode: 'remote-discovery', ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] })).toEqual([
      {
        ...SERVICE,
        metadata: {
          ...SERVICE.metadata,
          labels: {
            ...SERVICE.metadata.labels,
            'multicluster.linkerd.io/remote-discovery': 'west',
            'multicluster.linkerd.io/remote-service': 'web',
          },
        },
        spec: { type: 'ClusterIP', ports: [{ name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 }] },
      },
    ]);
  });

  test('is refused endpoints, which it must not have', () => {
    expect(errorsOf(() => mirror({ mode: 'remote-discovery', endpoints: { addresses: [], port: 4143 } }))).toEqual([
      'endpoints: {"addresses":[],"port":4143} must not be set for a mirror in flat mode',
    ]);
  });
});

describe('a mirror with invalid props', () => {
  test('is refused with every reason at once', () => {
    expect(
      errorsOf(() =>
        mirror({
          service: 'Web',
          namespace: 'shop.eu',
          targetCluster: '-west',
          targetClusterDomain: 'a..b',
          ports: [
            { port: 0 },
            { name: 'http', port: 80, targetPort: 'Way_Off' },
            { name: 'http', port: 80, targetPort: 70000 },
          ],
          endpoints: { addresses: ['gateway.example.com', '192.0.2.256', '127.0.0.1', '::zz'], port: 1.5 },
        }),
      ),
    ).toEqual([
      'endpoints.port: 1.5 must be an integer',
      'service: "Web" must be a valid Service name',
      'namespace: "shop.eu" must be a valid DNS label',
      'targetCluster: "-west" must be a valid DNS label',
      'targetClusterDomain: "a..b" must be a valid DNS subdomain',
      'name: "Web--west" must be a valid Service name',
      'ports[0].port: 0 must be between 1 and 65535',
      'ports[0].name: is required when there are several ports',
      'ports[1].targetPort: "Way_Off" must be a valid port name',
      'ports[2].port: "80/TCP" must be unique',
      'ports[2].name: "http" must be unique',
      'ports[2].targetPort: 70000 must be between 1 and 65535',
      'endpoints.addresses[0]: "gateway.example.com" must be a valid IP address',
      'endpoints.addresses[1]: "192.0.2.256" must be a valid IP address or host name',
      'endpoints.addresses[2]: "127.0.0.1" must not be a loopback, link-local or unspecified address: Endpoints cannot hold one',
      'endpoints.addresses[3]: "::zz" must be a valid IP address or host name',
    ]);
  });

  test('A4: is refused a name that is too long once suffixed', () => {
    expect(errorsOf(() => mirror({ service: 'a'.repeat(59) }))).toEqual([
      `name: "${'a'.repeat(59)}-we… must be a valid Service name`,
    ]);
  });

  test('is refused without a port', () => {
    expect(errorsOf(() => mirror({ ports: [] }))).toEqual(['ports: [] must not be empty']);
  });

  test('names itself in the message', () => {
    expect(() => mirror({ ports: [] })).toThrow('MirrorService shop/web-west: ports: ');
  });
});

test('patches to the API objects that a mirror exposes reach what is rendered', () => {
  const [service, endpoints] = render((chart) => {
    const { service, endpoints } = new MirrorService(chart, 'web', { ...WEB, endpoints: GATEWAY });
    service.addJsonPatch(JsonPatch.add('/spec/sessionAffinity', 'ClientIP'));
    service.metadata.addLabel('patched', 'yes');
    endpoints[0]!.addJsonPatch(JsonPatch.remove('/subsets/0/addresses/0'));
  });

  expect(service!.spec).toHaveProperty('sessionAffinity', 'ClientIP');
  expect(service!.metadata.labels).toHaveProperty('patched', 'yes');
  expect(endpoints!.subsets).toHaveProperty('[0].addresses', [{ ip: '198.51.100.9' }]);
});

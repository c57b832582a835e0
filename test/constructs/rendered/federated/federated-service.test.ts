/** The federated Service, field by field: what Linkerd's destination controller reads, and the slices of our own shape. */
import { describe, expect, test } from 'vitest';
import type { FederatedMember } from '../../../../constructs/rendered/federated/members.ts';
import {
  FederatedService,
  type FederatedServiceProps,
} from '../../../../constructs/rendered/federated/federated-service.ts';
import { type ApiJson, render } from '../../../../constructs/rendered/render.ts';
import { errorsOf } from '../../errors-of.ts';

const WEB: FederatedServiceProps = {
  service: 'web',
  namespace: 'shop',
  labels: {
    app: 'web',
    'mirror.linkerd.io/federated': 'member',
    'argocd.argoproj.io/instance': 'shop',
    'linkspan.dev/federation': 'gateway',
  },
  annotations: {
    'config.linkerd.io/opaque-ports': '3306',
    'timeout.linkerd.io/request': '1s',
    'multicluster.linkerd.io/remote-discovery': 'evil@west',
    'multicluster.linkerd.io/local-discovery': 'evil',
  },
  ports: [
    { name: 'http', port: 80, targetPort: 'web', appProtocol: 'kubernetes.io/h2c' },
    { name: 'mysql', port: 3306, targetPort: 13306 },
  ],
  members: [{ targetCluster: 'west' }, { targetCluster: 'north' }],
};

const rendered = (props: Partial<FederatedServiceProps> = {}): readonly ApiJson[] =>
  render((chart) => {
    new FederatedService(chart, 'web', { ...WEB, ...props });
  });

const PORTS = [
  { name: 'http', protocol: 'TCP', port: 80, targetPort: 'web', appProtocol: 'kubernetes.io/h2c' },
  { name: 'mysql', protocol: 'TCP', port: 3306, targetPort: 13306 },
];

const COPIED = { 'config.linkerd.io/opaque-ports': '3306', 'timeout.linkerd.io/request': '1s' };

describe('a federated Service in flat mode (rule I4)', () => {
  test('is what Linkerd writes, with its clusters sorted, and has no endpoints', () => {
    expect(rendered({ local: {} })).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'web-federated',
          namespace: 'shop',
          labels: { app: 'web', 'mirror.linkerd.io/mirrored-service': 'true' },
          annotations: {
            ...COPIED,
            'multicluster.linkerd.io/remote-discovery': 'web@north,web@west',
            'multicluster.linkerd.io/local-discovery': 'web',
          },
        },
        spec: { type: 'ClusterIP', ports: PORTS },
      },
    ]);
  });

  test('has the annotation of local and of remote members only where there are such', () => {
    const annotationsOf = (props: Partial<FederatedServiceProps>) => rendered(props)[0]?.metadata.annotations;
    expect(annotationsOf({})).toEqual({ ...COPIED, 'multicluster.linkerd.io/remote-discovery': 'web@north,web@west' });
    expect(annotationsOf({ members: [], local: {} })).toEqual({
      ...COPIED,
      'multicluster.linkerd.io/local-discovery': 'web',
    });
  });

  test('leaves out what its user excludes, and keeps UDP ports, as Linkerd does', () => {
    const ports = [{ name: 'dns', port: 53, protocol: 'UDP' as const }];
    const [service] = rendered({ ports, excludedLabels: ['app'], excludedAnnotations: ['timeout.linkerd.io/*'] });
    expect(service?.metadata.labels).toEqual({ 'mirror.linkerd.io/mirrored-service': 'true' });
    expect(service?.metadata.annotations).not.toHaveProperty('timeout.linkerd.io/request');
    expect(service?.spec).toMatchObject({ ports: [{ name: 'dns', protocol: 'UDP' }] });
  });
});

const WEST: FederatedMember = {
  targetCluster: 'west',
  targetClusterDomain: 'west.example.com',
  endpoints: { addresses: ['198.51.100.9', '192.0.2.1'], port: 4143, identity: 'gateway.identity.west' },
};

const NORTH: FederatedMember = { targetCluster: 'north', endpoints: { addresses: ['203.0.113.9'], port: 31443 } };

const inGatewayMode = (props: Partial<FederatedServiceProps> = {}): readonly ApiJson[] =>
  rendered({ mode: 'gateway', members: [WEST, NORTH], ...props });

const sliceOf = (objects: readonly ApiJson[], name: string): ApiJson | undefined =>
  objects.find(({ kind, metadata }) => kind === 'EndpointSlice' && metadata.name === name);

const MARKS = {
  'mirror.linkerd.io/mirrored-service': 'true',
  'linkspan.dev/federation': 'gateway',
};

const SLICE_LABELS = {
  ...MARKS,
  'kubernetes.io/service-name': 'web-federated',
  'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
};

describe('a federated Service in gateway mode (rule I5)', () => {
  test('has neither annotation, since either one hides the slices from Linkerd, and is marked as ours', () => {
    const [service, ...slices] = inGatewayMode({ local: { slices: [] } });
    expect(service?.metadata).toEqual({
      name: 'web-federated',
      namespace: 'shop',
      labels: { app: 'web', ...MARKS },
      annotations: COPIED,
    });
    expect(service?.spec).toEqual({ type: 'ClusterIP', ports: PORTS });
    expect(slices.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'EndpointSlice web-federated.west-ipv4',
      'EndpointSlice web-federated.north-ipv4',
    ]);
  });

  test('has a slice for each cluster: its gateway, its identity, its name', () => {
    expect(sliceOf(inGatewayMode(), 'web-federated.west-ipv4')).toEqual({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'web-federated.west-ipv4',
        namespace: 'shop',
        labels: { ...SLICE_LABELS, 'linkspan.dev/federation-member': 'west' },
        annotations: {
          'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.west.example.com',
          'mirror.linkerd.io/remote-gateway-identity': 'gateway.identity.west',
        },
      },
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['192.0.2.1'], conditions: { ready: true } },
        { addresses: ['198.51.100.9'], conditions: { ready: true } },
      ],
      ports: [
        { name: 'http', port: 4143, protocol: 'TCP' },
        { name: 'mysql', port: 4143, protocol: 'TCP' },
      ],
    });
    const north = sliceOf(inGatewayMode(), 'web-federated.north-ipv4');
    expect(north?.metadata.annotations).toEqual({
      'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local',
    });
    expect(north?.ports).toMatchObject([{ port: 31443 }, { port: 31443 }]);
  });

  test('has one slice for each family of addresses of a gateway', () => {
    const endpoints = { addresses: ['2001:db8::1', '192.0.2.1'], port: 4143 };
    const names = inGatewayMode({ members: [{ ...WEST, endpoints }] }).map(({ metadata }) => metadata.name);
    expect(names).toEqual(['web-federated', 'web-federated.west-ipv4', 'web-federated.west-ipv6']);
  });

  test('takes the addresses of a dead gateway, and of a Service without ready pods, out', () => {
    const [dead, empty] = [{ alive: false }, { ready: false }].map((state) =>
      sliceOf(
        inGatewayMode({ members: [{ ...WEST, endpoints: { ...WEST.endpoints!, ...state } }, NORTH] }),
        'web-federated.west-ipv4',
      ),
    );
    expect(dead?.endpoints).toMatchObject([{ conditions: { ready: false } }, { conditions: { ready: false } }]);
    expect(empty?.endpoints).toEqual([]);
  });

  test('leaves out of a slice the ports that its cluster does not have under that name, number and protocol', () => {
    const portsOf = (ports: FederatedMember['ports']) =>
      sliceOf(inGatewayMode({ members: [{ ...WEST, ports }, NORTH] }), 'web-federated.west-ipv4')?.ports;
    expect(portsOf([{ name: 'http', port: 80 }])).toMatchObject([{ name: 'http' }]);
    expect(
      portsOf([
        { name: 'http', port: 8080 },
        { name: 'mysql', port: 3306, protocol: 'TCP' },
      ]),
    ).toMatchObject([{ name: 'mysql' }]);
    expect(portsOf([{ name: 'web', port: 80 }])).toBeUndefined();
    expect(portsOf([{ name: 'http', port: 80, protocol: 'UDP' }])).toBeUndefined();
  });

  test('copies the slices of the local member, so that Linkerd finds the identity of each pod', () => {
    const targetRef = { kind: 'Pod', name: 'web-0', namespace: 'shop', uid: 'uid' };
    const conditions = { ready: false, serving: true, terminating: true };
    const local = {
      slices: [
        {
          name: 'web-x7k2p',
          addressType: 'IPv4' as const,
          endpoints: [{ addresses: ['10.1.0.7'], conditions, targetRef, nodeName: 'node', zone: 'a' }],
          ports: [{ name: 'http', port: 8080 }],
        },
      ],
    };
    expect(sliceOf(inGatewayMode({ local }), 'web-federated.local.web-x7k2p')).toEqual({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'web-federated.local.web-x7k2p', namespace: 'shop', labels: SLICE_LABELS },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.7'], conditions, targetRef, nodeName: 'node', zone: 'a' }],
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    });
  });

  test('leaves out UDP and SCTP ports, and says which', () => {
    const dns = { name: 'dns', port: 53, protocol: 'UDP' as const };
    render((chart) => {
      const made = new FederatedService(chart, 'web', { ...WEB, mode: 'gateway', ports: [...WEB.ports, dns] });
      expect(made.omittedPorts).toEqual([dns]);
      expect(made.endpoints).toEqual([]);
    });
  });
});

describe('what is refused', () => {
  test.each<readonly [string, Partial<FederatedServiceProps>, readonly string[]]>([
    ['no member', { members: [] }, ['members: [] must not be empty']],
    [
      'a name that is too long with its suffix',
      { service: 'w'.repeat(54) },
      [expect.stringMatching(/^name: "w+-federat… must be a valid Service name$/)],
    ],
    [
      'a cluster that is listed twice',
      { members: [WEST, WEST], mode: 'gateway' },
      ['members[1].targetCluster: "west" must be unique'],
    ],
    [
      'a cluster name that would be two entries',
      { members: [{ targetCluster: 'a,b@c' }] },
      ['members[0].targetCluster: "a,b@c" must be a valid DNS label'],
    ],
    [
      'no port that crosses a gateway',
      { mode: 'gateway', ports: [{ port: 53, protocol: 'UDP' }] },
      ['ports: [{"port":53,"protocol":"UDP"}] must have a TCP port: UDP and SCTP do not cross a gateway'],
    ],
    ['static endpoints in flat mode', { static: true }, ['static: true must not be set without endpoints']],
    [
      'a mode that there is not',
      { mode: 'flat' as 'gateway' },
      ['mode: "flat" must be one of gateway, remote-discovery'],
    ],
    [
      'an address of a gateway that is none',
      { mode: 'gateway', members: [{ ...WEST, endpoints: { addresses: ['127.0.0.1'], port: 0 } }] },
      [
        'members[0].endpoints.port: 0 must be between 1 and 65535',
        'members[0].endpoints.addresses[0]: "127.0.0.1" must not be a loopback, link-local or unspecified address: Endpoints cannot hold one',
      ],
    ],
  ])('%s', (_, props, errors) => {
    expect(errorsOf(() => rendered(props))).toEqual(errors);
  });

  test('gateways, ports and slices in flat mode, where no slice is rendered', () => {
    const local = { slices: [] };
    const members = [{ ...WEST, ports: [] }];
    const found = errorsOf(() => rendered({ members, local })).map((text) => text.slice(0, text.indexOf(':')));
    expect(found).toEqual(['members[0].ports', 'members[0].endpoints', 'local.slices']);
  });

  test('a local slice whose copy would have too long a name, or whose address is none', () => {
    const slice = { addressType: 'IPv4' as const, endpoints: [{ addresses: ['web'] }], ports: [{ port: 80 }] };
    const local = { slices: [{ ...slice, name: `${'w.'.repeat(120)}w` }] };
    const found = errorsOf(() => inGatewayMode({ local }));
    expect(found).toEqual([
      expect.stringContaining('would have 261 characters, over 253'),
      expect.stringContaining('local.slices[0].endpoints[0].addresses[0]: "web" must be a valid IP address'),
    ]);
  });
});

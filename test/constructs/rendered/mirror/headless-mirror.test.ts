import { JsonPatch } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import {
  HeadlessMirror,
  type HeadlessMirrorEndpoints,
  type HeadlessMirrorProps,
} from '../../../../constructs/rendered/mirror/headless-mirror.ts';
import { render } from '../../../../constructs/rendered/render.ts';
import { errorsOf } from '../../errors-of.ts';

const NGINX: HeadlessMirrorProps = {
  service: 'nginx-svc',
  namespace: 'default',
  targetCluster: 'west',
  labels: { app: 'nginx', 'mirror.linkerd.io/exported': 'true' },
  ports: [{ name: 'http', port: 80, targetPort: 8080 }],
  remoteResourceVersion: '7',
};

const PORTS = [{ name: 'http', port: 8080, appProtocol: 'http' }];

const PODS: HeadlessMirrorEndpoints = {
  identity: 'gateway.identity.west',
  subsets: [
    {
      addresses: [
        { hostname: 'nginx-set-1', ip: '10.96.0.11' },
        { hostname: 'nginx-set-0', ip: '10.96.0.10' },
      ],
      ports: PORTS,
    },
  ],
};

const mirror = (props: Partial<HeadlessMirrorProps> = {}) =>
  render((chart) => {
    new HeadlessMirror(chart, 'nginx', { ...NGINX, ...props });
  });

const endpointsOf = (endpoints: Partial<HeadlessMirrorEndpoints>) =>
  mirror({ endpoints: { ...PODS, ...endpoints } }).slice(1);

const LABELS = { app: 'nginx', 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const REMOTE = { 'mirror.linkerd.io/remote-svc-fq-name': 'nginx-svc.default.svc.cluster.local' };
const ENDPOINTS_METADATA = {
  name: 'nginx-svc-west',
  namespace: 'default',
  labels: LABELS,
  annotations: { ...REMOTE, 'mirror.linkerd.io/remote-gateway-identity': 'gateway.identity.west' },
};

describe('D1: a headless mirror', () => {
  test('is a headless Service, and Endpoints that name the endpoint mirror of each pod', () => {
    expect(mirror({ endpoints: PODS })).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'nginx-svc-west',
          namespace: 'default',
          labels: LABELS,
          annotations: { ...REMOTE, 'mirror.linkerd.io/remote-resource-version': '7' },
        },
        spec: {
          type: 'ClusterIP',
          clusterIP: 'None',
          ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: ENDPOINTS_METADATA,
        subsets: [
          {
            addresses: [
              { hostname: 'nginx-set-0', ip: '10.96.0.10' },
              { hostname: 'nginx-set-1', ip: '10.96.0.11' },
            ],
            ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'http' }],
          },
        ],
      },
    ]);
  });

  test('renders no endpoints unless they are given', () => {
    expect(mirror().map(({ kind }) => kind)).toEqual(['Service']);
  });

  test('D2: stays when it has no pods left', () => {
    expect(endpointsOf({ subsets: [] })).toEqual([
      { apiVersion: 'v1', kind: 'Endpoints', metadata: ENDPOINTS_METADATA },
    ]);
    expect(endpointsOf({ subsets: [{ addresses: [], ports: PORTS }] })[0]).not.toHaveProperty('subsets');
  });

  test('renders the same whatever the order of pods and subsets', () => {
    const first = {
      addresses: [
        { hostname: 'b', ip: '10.96.0.2' },
        { hostname: 'a', ip: '10.96.0.1' },
      ],
      ports: PORTS,
    };
    const second = { addresses: [{ hostname: 'c', ip: '10.96.0.3' }], ports: [{ name: 'http', port: 9090 }] };
    const reversed = { ...first, addresses: first.addresses.toReversed() };

    expect(endpointsOf({ subsets: [second, first] })).toEqual(endpointsOf({ subsets: [reversed, second] }));
    expect(endpointsOf({ subsets: [second, first] })[0]).toHaveProperty('subsets[0].addresses[0].hostname', 'a');
  });

  test('lists a pod once that the target lists in both address families', () => {
    const pod = { hostname: 'a', ip: '10.96.0.1' };

    expect(endpointsOf({ subsets: [{ addresses: [pod, pod], ports: PORTS }] })[0]).toHaveProperty(
      'subsets[0].addresses',
      [pod],
    );
  });

  test('A5: leaves out UDP and SCTP ports', () => {
    const udp = { name: 'udp', port: 53, protocol: 'UDP' } as const;
    const addresses = [{ hostname: 'a', ip: '10.96.0.1' }];
    const [service, endpoints] = mirror({
      ports: [udp, ...NGINX.ports],
      endpoints: {
        subsets: [
          { addresses, ports: [udp, ...PORTS] },
          { addresses, ports: [udp] },
        ],
      },
    });

    expect(service!.spec).toHaveProperty('ports.length', 1);
    expect(endpoints!.subsets).toEqual([
      { addresses, ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'http' }] },
    ]);
  });
});

describe('the endpoints of a headless mirror as slices', () => {
  test('are one slice for each family and subset, always ready, with hostnames', () => {
    const slice = (
      suffix: string,
      addressType: string,
      endpoints: readonly [hostname: string, ip: string][],
      port: number,
    ) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        ...ENDPOINTS_METADATA,
        name: `nginx-svc-west-${suffix}`,
        labels: {
          ...LABELS,
          'kubernetes.io/service-name': 'nginx-svc-west',
          'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
        },
      },
      addressType,
      endpoints: endpoints.map(([hostname, ip]) => ({ hostname, addresses: [ip], conditions: { ready: true } })),
      ports: [{ name: 'http', protocol: 'TCP', port }],
    });

    expect(
      endpointsOf({
        kind: 'slices',
        subsets: [
          { addresses: [{ hostname: 'c', ip: '10.96.0.3' }], ports: [{ name: 'http', port: 9090 }] },
          {
            addresses: [
              { hostname: 'b', ip: 'fd00::2' },
              { hostname: 'a', ip: '10.96.0.1' },
            ],
            ports: [{ name: 'http', port: 8080 }],
          },
        ],
      }),
    ).toEqual([
      slice('ipv4', 'IPv4', [['a', '10.96.0.1']], 8080),
      slice('ipv4-2', 'IPv4', [['c', '10.96.0.3']], 9090),
      slice('ipv6', 'IPv6', [['b', 'fd00::2']], 8080),
    ]);
  });

  describe('of many pods (D10)', () => {
    const podsOf = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        hostname: `web-${index}`,
        ip: `10.96.${index >> 8}.${index & 255}`,
      }));
    const slicesOf = (addresses: ReturnType<typeof podsOf>): ReadonlyMap<string, readonly string[]> =>
      new Map(
        endpointsOf({ kind: 'slices', subsets: [{ addresses, ports: PORTS }] }).map(({ metadata, endpoints }) => [
          metadata.name,
          (endpoints as { hostname: string }[]).map(({ hostname }) => hostname),
        ]),
      );
    const changed = (a: ReadonlyMap<string, readonly string[]>, b: ReadonlyMap<string, readonly string[]>) =>
      [...new Set([...a.keys(), ...b.keys()])].filter((name) => a.get(name)?.join() !== b.get(name)?.join());

    test('are one slice for up to 100, and each pod once in slices of at most 100 for more', () => {
      expect([...slicesOf(podsOf(100)).keys()]).toEqual(['nginx-svc-west-ipv4']);
      const slices = slicesOf(podsOf(5000));
      const hostnames = [...slices.values()].flat();
      expect(hostnames.sort()).toEqual(
        podsOf(5000)
          .map(({ hostname }) => hostname)
          .sort(),
      );
      expect(Math.max(...[...slices.values()].map(({ length }) => length))).toBeLessThanOrEqual(100);
      expect(slices.size).toBeLessThan(5000 / 40);
      expect([...slices.keys()].every((name) => /^nginx-svc-west-ipv4-b[01]+$/.test(name))).toBe(true);
    });

    test('are filled by the pods alone, whatever their order', () => {
      expect(slicesOf(podsOf(1000).reverse())).toEqual(slicesOf(podsOf(1000)));
    });

    test.each([0, 1, 499, 998])('change in one slice, or divide or join two, when pod %i goes', (gone) => {
      const all = podsOf(999);
      expect(changed(slicesOf(all), slicesOf(all.toSpliced(gone, 1))).length).toBeLessThanOrEqual(3);
    });
  });

  test('are none without pods', () => {
    expect(endpointsOf({ kind: 'slices', subsets: [] })).toEqual([]);
  });
});

test('invalid props are refused with every reason at once', () => {
  expect(
    errorsOf(() =>
      mirror({
        targetCluster: 'West',
        ports: [{ port: 53, protocol: 'UDP' }],
        endpoints: { subsets: [{ addresses: [{ hostname: '', ip: 'x' }], ports: [{ port: -1 }] }] },
      }),
    ),
  ).toEqual([
    'targetCluster: "West" must be a valid DNS label',
    'name: "nginx-svc-West" must be a valid Service name',
    'ports: [{"port":53,"protocol":"UDP"}] must have a TCP port: UDP and SCTP do not cross a gateway',
    'endpoints.subsets[0].addresses[0].hostname: "" must be a valid DNS label',
    'endpoints.subsets[0].addresses[0].ip: "x" must be a valid IP address',
    'endpoints.subsets[0].ports[0].port: -1 must be between 1 and 65535',
  ]);
});

test('patches to the API objects that a headless mirror exposes reach what is rendered', () => {
  const [service, endpoints] = render((chart) => {
    const { service, endpoints } = new HeadlessMirror(chart, 'nginx', { ...NGINX, endpoints: PODS });
    service.addJsonPatch(JsonPatch.add('/spec/publishNotReadyAddresses', true));
    endpoints[0]!.addJsonPatch(JsonPatch.remove('/subsets'));
  });

  expect(service!.spec).toHaveProperty('publishNotReadyAddresses', true);
  expect(endpoints).not.toHaveProperty('subsets');
});

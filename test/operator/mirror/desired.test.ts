import { describe, expect, it, test } from 'vitest';
import type { Endpoints, EndpointSlice, KubeObject, Service } from '../../../operator/kube/objects.ts';
import { desired, endpointsId, gatewayRefreshed, type Manifests, serviceId } from '../../../operator/mirror/desired.ts';
import { NameClaims } from '../../../operator/mirror/names.ts';
import { claimsOf, shapeOf } from '../../../operator/mirror/shape.ts';
import {
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedService,
  targetService,
  targetSlice,
} from './observed.ts';

const OWNER = 'shop/web@west';

/** What must exist for an observed state, where nobody else wants its names. */
function manifestsOf(options: ObservedOptions, others = new NameClaims()): Manifests {
  const state = observed(options);
  const shape = shapeOf(state);
  const claims = claimsOf(state, shape, OWNER);
  others.replace(OWNER, 'shop', claims);
  return desired(state, shape, new Map(claims.map((claim) => [claim.id, others.resolve('shop', claim)])), OWNER);
}

const names = (list: readonly { readonly object: KubeObject }[]) =>
  list.map(({ object }) => object.metadata.name).sort();
const mirrors = (...list: readonly (readonly [string, string])[]) => ({
  owned: { ...NOTHING_OWNED, services: list.map(([name, ip]) => ownedService(name, ip)) },
});
const there = mirrors(['web-west', '10.96.0.1']);
const subsetsOf = (manifests: Manifests, name = 'web-west') =>
  (manifests.endpoints.find(({ object }) => object.metadata.name === name)?.object as Endpoints | undefined)?.subsets;

const gatewayPorts = [{ name: 'http', port: 4143, protocol: 'TCP' }];
const gatewayIps = [{ ip: '203.0.113.1' }, { ip: '203.0.113.2' }];

describe('a ClusterIP mirror', () => {
  it('is the Service first, and its endpoints once the Service is ours', () => {
    const first = manifestsOf({});
    expect([names(first.services), names(first.endpoints)]).toEqual([['web-west'], []]);
    const then = manifestsOf(there);
    expect([names(then.services), names(then.endpoints)]).toEqual([['web-west'], ['web-west']]);
  });

  test.each<[string, ObservedOptions, unknown]>([
    ['the gateway, ready', {}, [{ addresses: gatewayIps, ports: gatewayPorts }]],
    [
      'the gateway, not ready, when it is not alive',
      { gateway: { alive: false } },
      [{ notReadyAddresses: gatewayIps, ports: gatewayPorts }],
    ],
    ['nobody, when nothing is ready behind the Service', { slices: [targetSlice([{ ready: false }])] }, undefined],
    [
      'nobody, when nothing is behind the Service, whatever the gateway (L12)',
      { slices: [], gateway: { alive: false } },
      undefined,
    ],
    [
      'the gateway, ready, before the first verdict on it (F2)',
      { gateway: { alive: undefined } },
      [{ addresses: gatewayIps, ports: gatewayPorts }],
    ],
  ])('has behind it %s (C1)', (_, options, expected) => {
    expect(subsetsOf(manifestsOf({ ...there, ...options }))).toEqual(expected);
  });

  it('stays as it was before a verdict on the gateway, and before its name is resolved (F2, C2)', () => {
    const before: Endpoints = {
      metadata: { name: 'web-west', namespace: 'shop' },
      subsets: [{ notReadyAddresses: [{ ip: '203.0.113.7' }], ports: gatewayPorts }],
    };
    const state = { owned: { ...there.owned, endpoints: [before] }, gateway: { alive: undefined, addresses: [] } };
    expect(subsetsOf(manifestsOf(state))).toEqual([
      { notReadyAddresses: [{ ip: '203.0.113.7' }], ports: gatewayPorts },
    ]);
  });

  it('keeps its endpoints, whatever they are, while those of the target are not known', () => {
    const { endpoints, kept } = manifestsOf({ ...there, slices: undefined });
    expect(endpoints).toEqual([]);
    expect([...kept]).toEqual([endpointsId('web-west')]);
  });

  it('has the identity on its endpoints, or none', () => {
    const annotations = (options: ObservedOptions) =>
      manifestsOf({ ...there, ...options }).endpoints[0]?.object.metadata.annotations;
    expect(annotations({})).toMatchObject({
      'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local',
      'mirror.linkerd.io/remote-gateway-identity': 'gw.id',
    });
    expect(annotations({ link: { gateway: { port: 4143 } } })).not.toHaveProperty(
      'mirror.linkerd.io/remote-gateway-identity',
    );
  });

  it('may have slices instead', () => {
    const { endpoints } = manifestsOf({ ...there, link: { endpointsKind: 'slices' } });
    expect(names(endpoints)).toEqual(['web-west-ipv4']);
    expect((endpoints[0]?.object as EndpointSlice).endpoints).toHaveLength(2);
  });

  it('comes with its namespace, if that is missing and may be created (A3)', () => {
    const { namespaces } = manifestsOf({ namespaceState: 'missing', link: { createNamespaces: true } });
    expect(namespaces[0]?.object.metadata).toEqual({
      name: 'shop',
      labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
    });
  });
});

describe('a flat mirror', () => {
  const ports = [
    { name: 'http', port: 80, protocol: 'TCP' },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ];

  it("has all of the target's ports, says where the pods are, and never has endpoints", () => {
    const { services, endpoints } = manifestsOf({
      ...there,
      mode: 'remote-discovery',
      service: targetService({ ports }),
    });
    const service = services[0]?.object as Service;
    expect(service.spec?.ports?.map(({ name, port, protocol }) => [name, port, protocol])).toEqual([
      ['http', 80, 'TCP'],
      ['dns', 53, 'UDP'],
    ]);
    expect(service.metadata.labels).toMatchObject({
      'multicluster.linkerd.io/remote-discovery': 'west',
      'multicluster.linkerd.io/remote-service': 'web',
    });
    expect(endpoints).toEqual([]);
  });
});

describe('a headless mirror', () => {
  const pods = {
    service: headlessService(),
    slices: [targetSlice([{ hostname: 'web-0' }, { hostname: 'web-1', ready: false }], 8080)],
  };
  const all = mirrors(['web-west', 'None'], ['web-0-west', '10.96.0.10'], ['web-1-west', '10.96.0.11']);

  it('is a headless Service and an endpoint mirror of each pod, ready or not (D1, D5)', () => {
    const { services } = manifestsOf(pods);
    expect(names(services)).toEqual(['web-0-west', 'web-1-west', 'web-west']);
    const spec = (name: string) =>
      (services.find(({ object }) => object.metadata.name === name)?.object as Service).spec;
    expect(spec('web-west')?.clusterIP).toBe('None');
    expect(spec('web-0-west')?.ports).toMatchObject([{ name: 'http', port: 8080, targetPort: 8080 }]);
  });

  it('points each ready pod at the ClusterIP of its endpoint mirror', () => {
    const manifests = manifestsOf({ ...pods, ...all });
    expect(subsetsOf(manifests)).toEqual([
      { addresses: [{ hostname: 'web-0', ip: '10.96.0.10' }], ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] },
    ]);
    expect(subsetsOf(manifests, 'web-1-west')).toEqual([{ addresses: gatewayIps, ports: gatewayPorts }]);
  });

  it('lists its pods as ready also when the gateway is not alive: their endpoint mirrors are not', () => {
    const manifests = manifestsOf({ ...pods, ...all, gateway: { alive: false } });
    expect(subsetsOf(manifests)?.[0]?.addresses).toHaveLength(1);
    expect(subsetsOf(manifests, 'web-0-west')).toEqual([{ notReadyAddresses: gatewayIps, ports: gatewayPorts }]);
  });

  it('leaves out a pod until its endpoint mirror has a ClusterIP', () => {
    expect(subsetsOf(manifestsOf({ ...pods, ...mirrors(['web-west', 'None']) }))).toBeUndefined();
  });

  it('keeps every endpoint mirror while the endpoints of the target are not known', () => {
    const { kept, endpoints } = manifestsOf({ ...pods, ...all, slices: undefined });
    expect(endpoints).toEqual([]);
    expect([...kept].sort()).toEqual([serviceId('web-0-west'), serviceId('web-1-west')]);
  });

  it('gives a pod that lost its name to another a longer one, and says of a Service that it lost (A7)', () => {
    const others = new NameClaims();
    const since = '2020-01-01T00:00:00Z';
    others.replace('shop/web-0@west', 'shop', [{ id: 'shop/web-0@west', names: ['web-0-west'], since }]);
    expect(names(manifestsOf(pods, others).services)).toEqual(['web-0-web-west', 'web-1-west', 'web-west']);
    others.replace('shop/web@x', 'shop', [{ id: 'shop/web@x', names: ['web-west'], since }]);
    expect(manifestsOf(pods, others)).toMatchObject({
      services: [],
      refusals: [{ reason: 'NameConflict', message: expect.stringContaining('shop/web@x is older') as string }],
    });
  });

  it('says which pod cannot be mirrored, and mirrors the others', () => {
    const slices = [targetSlice([{ hostname: '0' }, { hostname: 'web-1' }])];
    const { services, refusals } = manifestsOf({ ...pods, slices });
    expect(names(services)).toEqual(['web-1-west', 'web-west']);
    expect(refusals).toMatchObject([{ message: expect.stringContaining('pod 0') as string }]);
  });
});

describe('while the target cannot be read', () => {
  const endpoints = (name: string, subsets: Endpoints['subsets']): Endpoints => ({
    metadata: {
      name,
      namespace: 'shop',
      labels: { a: 'b' },
      annotations: { 'mirror.linkerd.io/remote-gateway-identity': 'old' },
    },
    ...(subsets === undefined ? {} : { subsets }),
  });
  const was = endpoints('web-west', [{ addresses: [{ ip: '203.0.113.9' }], ports: [{ name: 'http', port: 1 }] }]);
  const refreshed = (options: ObservedOptions, ...list: readonly Endpoints[]) =>
    gatewayRefreshed(observed({ ...options, owned: { ...(options.owned ?? there.owned), endpoints: list } })).map(
      ({ object }) => object,
    );

  it('endpoints follow the gateway, and nothing else of them changes (C1, C4)', () => {
    expect(refreshed({ gateway: { alive: false } }, was)).toEqual([
      {
        metadata: {
          name: 'web-west',
          namespace: 'shop',
          labels: { a: 'b' },
          annotations: { 'mirror.linkerd.io/remote-gateway-identity': 'gw.id' },
        },
        subsets: [{ notReadyAddresses: gatewayIps, ports: [{ name: 'http', port: 4143 }] }],
      },
    ]);
  });

  it('what is empty stays empty, and a headless mirror points at its endpoint mirrors', () => {
    const hosts = endpoints('db-west', [{ addresses: [{ ip: '10.96.0.1', hostname: 'db-0' }] }]);
    expect(
      refreshed({ ...mirrors(['web-west', '10.0.0.1'], ['db-west', 'None']) }, endpoints('web-west', undefined), hosts),
    ).toEqual([]);
  });

  it('nothing changes while nothing is known of the gateway', () => {
    const [now] = refreshed(
      { gateway: { addresses: [], alive: undefined }, link: { gateway: { port: 1, identity: 'old' } } },
      was,
    );
    expect(now).toEqual(was);
  });

  it('slices follow it too, each with the addresses of its family', () => {
    const slice: EndpointSlice = {
      metadata: { name: 'web-west-ipv4', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web-west' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['203.0.113.9'], conditions: { ready: true } }],
      ports: [{ name: 'http', port: 1 }],
    };
    const state = observed({
      gateway: { addresses: ['203.0.113.1', '2001:db8::1'], alive: false },
      owned: { ...there.owned, slices: [slice] },
    });
    expect(gatewayRefreshed(state).map(({ object }) => object)).toMatchObject([
      {
        addressType: 'IPv4',
        endpoints: [{ addresses: ['203.0.113.1'], conditions: { ready: false } }],
        ports: [{ port: 4143 }],
      },
    ]);
  });
});

import { describe, expect, it, test } from 'vitest';
import type { Endpoints, EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import { gatewayEndpoints, gatewayReadiness, refreshedEndpoints } from '../../../operator/mirror/gateway-endpoints.ts';
import { NOTHING_OWNED, observed, type ObservedOptions, ownedEndpoints, ownedService, ownedSlice } from './observed.ts';

const IDENTITY = 'mirror.linkerd.io/remote-gateway-identity';
const PORTS = [{ name: 'http', port: 1, protocol: 'TCP' }];
const GATEWAY_IPS = [{ ip: '203.0.113.1' }, { ip: '203.0.113.2' }];

/** What is ours, with a Service for each of the endpoints. */
const owned = (
  {
    endpoints = [],
    slices = [],
  }: { readonly endpoints?: readonly Endpoints[]; readonly slices?: readonly EndpointSlice[] },
  services: readonly Service[] = [ownedService('web-west')],
): ObservedOptions => ({ owned: { services, endpoints, slices } });

const ready = ownedEndpoints('web-west', [{ addresses: [{ ip: '203.0.113.9' }], ports: PORTS }]);
const notReady = ownedEndpoints('web-west', [{ notReadyAddresses: [{ ip: '203.0.113.9' }], ports: PORTS }]);
/** As a mirror that was headless left them. */
const ofPods = ownedEndpoints('web-west', [{ addresses: [{ ip: '10.0.0.7', hostname: 'web-0' }], ports: PORTS }]);
const sliceOfPods: EndpointSlice = {
  ...ownedSlice('web-west-ipv4', 'web-west', { addresses: [], ready: true }),
  endpoints: [{ addresses: ['10.0.0.7'], hostname: 'web-0', conditions: { ready: true } }],
};
/** As Kubernetes made them while somebody had given our Service a selector. */
const ofSelector = ownedEndpoints('web-west', [
  { addresses: [{ ip: '10.0.0.8', targetRef: { kind: 'Pod', name: 'web' } }], ports: PORTS },
]);
const withIdentity = (each: EndpointSlice, identity: string): EndpointSlice => ({
  ...each,
  metadata: { ...each.metadata, annotations: { [IDENTITY]: identity } },
});
const slice = (isReady: boolean) =>
  ownedSlice('web-west-ipv4', 'web-west', { addresses: ['203.0.113.9'], ready: isReady });

describe('the gateway behind a mirror', () => {
  const found = (options: ObservedOptions) => gatewayEndpoints(observed(options), 'web-west', true);

  it('is where it was last found, with port and identity', () => {
    expect(found({})).toEqual({
      addresses: ['203.0.113.1', '203.0.113.2'],
      port: 4143,
      identity: 'gw.id',
      alive: true,
      ready: true,
      kind: 'endpoints',
    });
  });

  test.each<[string, ObservedOptions, boolean]>([
    ['as its endpoints say', owned({ endpoints: [ready] }), true],
    ['as its endpoints say that are not ready', owned({ endpoints: [notReady] }), false],
    ['as its slices say', owned({ slices: [slice(true)] }), true],
    ['as its slices say that are not ready', owned({ slices: [slice(false)] }), false],
    ['ready where there are none', owned({}), true],
    [
      'as those of another mirror do not say',
      owned({
        endpoints: [ownedEndpoints('other-west', [{ notReadyAddresses: [{ ip: '203.0.113.9' }] }])],
        slices: [ownedSlice('other-west-ipv4', 'other-west', { addresses: ['203.0.113.9'], ready: false })],
      }),
      true,
    ],
  ])('is alive before its first verdict %s (F2)', (_, options, alive) => {
    expect(found({ ...options, gateway: { alive: undefined } }).alive).toBe(alive);
  });

  it('is as it last was before its first verdict, where a mirror is empty or new (C1)', () => {
    const restarted = (options: ObservedOptions) =>
      found({ ...options, gateway: { alive: undefined, wasAlive: false } }).alive;
    const empty = ownedEndpoints('web-west', []);
    expect([restarted({}), restarted(owned({ endpoints: [empty] }))]).toEqual([false, false]);
    expect([restarted(owned({ endpoints: [ready] })), restarted(owned({ endpoints: [notReady] }))]).toEqual([
      true,
      false,
    ]);
  });

  test.each([
    ['Endpoints', owned({ endpoints: [ofPods] })],
    ['slices', owned({ slices: [sliceOfPods] })],
    ['Endpoints of a selector', owned({ endpoints: [ofSelector] })],
  ])('is as it last was, and nowhere, where %s list pods (C1)', (_, options) => {
    const gateway = { alive: undefined, addresses: [] };
    expect(found({ ...options, gateway: { ...gateway, wasAlive: false } })).toMatchObject({
      alive: false,
      addresses: [],
    });
    expect(found({ ...options, gateway: { ...gateway, wasAlive: true } })).toMatchObject({
      alive: true,
      addresses: [],
    });
  });

  it('was found alive or not by what leads to it, not by what lists pods (F2)', () => {
    const services = [ownedService('web-west')];
    expect(gatewayReadiness({ ...NOTHING_OWNED, services, endpoints: [notReady], slices: [sliceOfPods] })).toEqual([
      false,
    ]);
    expect(gatewayReadiness({ ...NOTHING_OWNED, services, endpoints: [ofSelector], slices: [slice(false)] })).toEqual([
      false,
    ]);
    expect(gatewayReadiness({ ...NOTHING_OWNED, services, endpoints: [ready] })).toEqual([true]);
    const headless = [ownedService('web-west', 'None')];
    expect(gatewayReadiness({ ...NOTHING_OWNED, services: headless, endpoints: [notReady] })).toEqual([false]);
  });

  it('is not alive after the verdict that it is not, whatever endpoints say (C1)', () => {
    expect(found({ ...owned({ endpoints: [ready] }), gateway: { alive: false } }).alive).toBe(false);
    expect(found({ ...owned({ endpoints: [notReady] }), gateway: { alive: true } }).alive).toBe(true);
  });

  test.each([
    ['ready Endpoints', owned({ endpoints: [ready] })],
    ['Endpoints that are not ready', owned({ endpoints: [notReady] })],
    ['slices', owned({ slices: [slice(true)] })],
  ])('is where %s lead before its name is resolved (C2)', (_, options) => {
    expect(found({ ...options, gateway: { addresses: [] } }).addresses).toEqual(['203.0.113.9']);
  });

  test.each([
    ['Endpoints', owned({ endpoints: [ownedEndpoints('web-west', ready.subsets!, { [IDENTITY]: 'former.id' })] })],
    ['slices', owned({ slices: [withIdentity(slice(true), 'former.id')] })],
  ])('has until then the port and the identity that %s have (L157)', (_, options) => {
    const unresolved = { ...options, gateway: { addresses: [], alive: true } };
    expect(found(unresolved)).toMatchObject({ addresses: ['203.0.113.9'], port: 1, identity: 'former.id' });
    expect(found({ ...options, gateway: { alive: undefined } })).toMatchObject({
      addresses: ['203.0.113.1', '203.0.113.2'],
      port: 4143,
      identity: 'gw.id',
    });
    const plaintext = { ...owned({ endpoints: [ready] }), gateway: { addresses: [], alive: true } };
    expect(found(plaintext).identity).toBeUndefined();
  });

  it('is nowhere before its name is resolved for the first time', () => {
    expect(found({ gateway: { addresses: [] } }).addresses).toEqual([]);
  });
});

describe('while the target cannot be read, endpoints follow the gateway', () => {
  const refreshed = (options: ObservedOptions) =>
    refreshedEndpoints(observed(options), new Rendered().staying('shop/web')).map(({ object }) => object);

  it('and nothing else of them changes (C1, C4)', () => {
    const was = { ...ready, metadata: { ...ready.metadata, annotations: { c: 'd', [IDENTITY]: 'old' } } };
    expect(refreshed({ ...owned({ endpoints: [was] }), gateway: { alive: false } })).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: {
          name: 'web-west',
          namespace: 'shop',
          labels: { a: 'b' },
          annotations: { c: 'd', [IDENTITY]: 'gw.id' },
        },
        subsets: [{ notReadyAddresses: GATEWAY_IPS, ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }],
      },
    ]);
  });

  it('and lose an identity that the Link has no more (C4)', () => {
    const was = { ...ready, metadata: { ...ready.metadata, annotations: { [IDENTITY]: 'old' } } };
    const [now] = refreshed({ ...owned({ endpoints: [was] }), gateway: { identity: undefined } });
    expect(now?.metadata).not.toHaveProperty(['annotations', IDENTITY]);
  });

  test.each([
    [
      'Endpoints',
      owned({ endpoints: [ready] }),
      { subsets: [{ notReadyAddresses: [{ ip: '203.0.113.9' }], ports: PORTS }] },
    ],
    ['slices', owned({ slices: [slice(true)] }), { endpoints: [{ conditions: { ready: false } }], ports: PORTS }],
  ])('and %s are not ready once the Link has no gateway, but stay as they are (C1)', (_, options, body) => {
    expect(refreshed({ ...options, gateway: null })).toMatchObject([body]);
  });

  test.each([
    ['Endpoints that lead there', owned({ endpoints: [ready] }, []), 1],
    ['slices that lead there', owned({ slices: [slice(true)] }, []), 2],
    ['Endpoints that list pods', owned({ endpoints: [ofPods] }, []), 0],
  ])('and without a Service of ours %s do, if any (F3, L86)', (_, options, count) => {
    const alive = { alive: false, addresses: ['203.0.113.1', '2001:db8::1'] };
    expect(refreshed({ ...options, gateway: alive })).toHaveLength(count);
  });

  it('and what lists the pods of a mirror that was headless does once it is known where that is (C1, C2)', () => {
    const options = owned({ slices: [sliceOfPods] });
    const gateway = { alive: undefined, wasAlive: false };
    expect(refreshed({ ...options, gateway: { ...gateway, addresses: [] } })).toEqual([]);
    expect(refreshed({ ...options, gateway })).toMatchObject([
      {
        endpoints: [
          { addresses: ['203.0.113.1'], conditions: { ready: false } },
          { addresses: ['203.0.113.2'], conditions: { ready: false } },
        ],
      },
    ]);
  });

  it('and slices do too, each with the addresses of its family', () => {
    const objects = refreshed({
      ...owned({ slices: [slice(true)] }),
      gateway: { addresses: ['203.0.113.1', '2001:db8::1'], alive: false },
    });
    expect(objects).toMatchObject(
      [
        ['IPv4', '203.0.113.1'],
        ['IPv6', '2001:db8::1'],
      ].map(([addressType, address]) => ({
        addressType,
        endpoints: [{ addresses: [address], conditions: { ready: false } }],
        ports: [{ name: 'http', port: 4143 }],
      })),
    );
  });

  it('and readiness stays as it was before the first verdict (F2)', () => {
    const [endpoints] = refreshed({ ...owned({ endpoints: [notReady] }), gateway: { alive: undefined } });
    expect(endpoints).toMatchObject({ subsets: [{ notReadyAddresses: GATEWAY_IPS }] });
    const [now] = refreshed({
      ...owned({ slices: [slice(false)] }),
      gateway: { addresses: ['203.0.113.1'], alive: undefined },
    });
    expect(now).toMatchObject({ endpoints: [{ conditions: { ready: false } }] });
  });

  it('and nothing changes while nothing is known of the gateway', () => {
    const was = { ...notReady, metadata: { ...notReady.metadata, annotations: { [IDENTITY]: 'gw.id' } } };
    const gateway = { addresses: [], alive: undefined, port: 4143, identity: 'next.id' };
    expect(refreshed({ ...owned({ endpoints: [was] }), gateway })).toEqual([
      { apiVersion: 'v1', kind: 'Endpoints', ...was },
    ]);
  });

  test.each([
    [
      'Endpoints',
      owned({ endpoints: [ready] }, [ownedService('web-west', 'None')]),
      { notReadyAddresses: GATEWAY_IPS },
    ],
    ['slices', owned({ slices: [slice(true)] }, [ownedService('web-west', 'None')]), undefined],
  ])('and %s that a headless mirror has of the one in whose place it came do too (C1)', (_, options, subset) => {
    const dead = refreshed({ ...options, gateway: { alive: false } });
    const listed = { conditions: { ready: false } };
    expect(dead).toMatchObject([subset ? { subsets: [subset] } : { endpoints: [listed, listed] }]);
    const without = refreshed({ ...options, gateway: null });
    const former = { notReadyAddresses: [{ ip: '203.0.113.9' }] };
    expect(without).toMatchObject([subset ? { subsets: [former] } : { endpoints: [listed] }]);
  });

  const headless = [ownedService('web-west', 'None')];
  test.each<[string, ObservedOptions]>([
    ['empty Endpoints', owned({ endpoints: [ownedEndpoints('web-west', [])] })],
    ['Endpoints of a headless mirror', owned({ endpoints: [ofPods] }, headless)],
    ['empty slices', owned({ slices: [ownedSlice('web-west-ipv4', 'web-west', undefined)] })],
    ['slices of a headless mirror', owned({ slices: [sliceOfPods] }, headless)],
    ['endpoints that are not there', owned({})],
    ['endpoints where nothing may be written (E8)', { ...owned({ endpoints: [ready] }), namespaceState: 'forbidden' }],
    ['endpoints that cannot be read', { ...owned({ endpoints: [ready] }), namespaceState: 'unreadable' }],
  ])('but not %s', (_, options) => {
    expect(refreshed(options)).toEqual([]);
  });

  test.each([
    ['ready', 'addresses'],
    ['not ready', 'notReadyAddresses'],
  ])(
    'and pods of this cluster are taken out that Kubernetes has listed as %s for a headless mirror (C3, L179)',
    (_, of) => {
      const pod = { ip: '10.1.0.7', targetRef: { kind: 'Pod', name: 'own-1' } };
      const endpoints = [ownedEndpoints('web-west', [{ [of]: [pod], ports: PORTS }])];
      const [now, ...others] = refreshed({ ...owned({ endpoints }, headless), gateway: null });
      expect(now).toMatchObject({ kind: 'Endpoints', metadata: { name: 'web-west', labels: { a: 'b' } } });
      expect([now, others]).toEqual([expect.not.objectContaining({ subsets: expect.anything() as unknown }), []]);
      // Those of a Service that somebody has made his own are his.
      expect(refreshed(owned({ endpoints }, []))).toEqual([]);
    },
  );

  it('each of an endpoint mirror too, but the headless mirror that points at it', () => {
    const services = [ownedService('web-west', 'None'), ownedService('web-0-west', '10.96.0.10')];
    const endpoints = [
      ownedEndpoints('web-west', [{ addresses: [{ ip: '10.96.0.10', hostname: 'web-0' }] }]),
      ownedEndpoints('web-0-west', [{ addresses: [{ ip: '203.0.113.9' }], ports: PORTS }]),
    ];
    const objects = refreshed({ owned: { ...NOTHING_OWNED, services, endpoints } });
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(['web-0-west']);
  });
});

import { describe, expect, it, test } from 'vitest';
import type { Endpoints, EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import {
  gatewayAddresses,
  gatewayEndpoints,
  gatewayReadiness,
  refreshedEndpoints,
} from '../../../operator/mirror/gateway-endpoints.ts';
import type { Observed } from '../../../operator/mirror/observed.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import { observed, type ObservedOptions, ownedEndpoints, ownedService, ownedSlice } from './observed.ts';

const PORTS = [{ name: 'http', port: 1, protocol: 'TCP' }];
const [GATEWAY, OTHER, POD] = ['203.0.113.9', '203.0.113.8', '10.1.0.7'];

const owned = (endpoints: readonly Endpoints[], slices: readonly EndpointSlice[] = [], clusterIP?: string) => {
  const services: readonly Service[] = [ownedService('web-west', clusterIP)];
  return { services, endpoints, slices };
};
const slice = ownedSlice('web-west-ipv4', 'web-west', { addresses: [GATEWAY], ready: true });
/** One of pods, which somebody has given our labels. */
const ofPods: EndpointSlice = {
  ...slice,
  metadata: { ...slice.metadata, name: 'web-west-own' },
  endpoints: [{ addresses: [POD], conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'own-1' } }],
};
const pod = { ip: POD, targetRef: { kind: 'Pod', name: 'own-1' } };

const found = (options: ObservedOptions) => gatewayEndpoints(observed(options), 'web-west', true);
const refreshed = (options: ObservedOptions) =>
  refreshedEndpoints(observed(options), new Rendered().staying('shop/web')).map(({ object }) => object);

describe('the addresses of a gateway that our endpoints list', () => {
  it('are those of both kinds, ready or not, each once (C4)', () => {
    const endpoints = ownedEndpoints('web-west', [
      { addresses: [{ ip: GATEWAY }], notReadyAddresses: [{ ip: OTHER }], ports: PORTS },
    ]);
    expect(gatewayAddresses(owned([endpoints], [slice]), 'web-west')).toEqual([GATEWAY, OTHER]);
    expect(gatewayAddresses(owned([endpoints], [slice]), 'other-west')).toEqual([]);
  });

  test.each<[string, Observed['owned']]>([
    ['Endpoints', owned([ownedEndpoints('web-west', [{ addresses: [{ ip: GATEWAY }, pod], ports: PORTS }])])],
    ['slices', owned([], [slice, ofPods])],
  ])('are never those of pods that are in %s beside it (C3)', (_, all) => {
    expect(gatewayAddresses(all, 'web-west')).not.toContain(POD);
    expect(found({ owned: all, gateway: { addresses: [] } }).addresses).not.toContain(POD);
  });
});

describe('a gateway before its first verdict', () => {
  const before = { alive: undefined, addresses: [] };

  it('is alive by slices that say nothing of readiness, which means ready (F2)', () => {
    const silent = { ...slice, endpoints: [{ addresses: [GATEWAY] }] };
    expect(gatewayReadiness(owned([], [silent]))).toEqual([true]);
    expect(found({ owned: owned([], [silent]), gateway: { ...before, wasAlive: false } }).alive).toBe(true);
  });

  test.each([null, []])('is as it last was where a slice lists nobody: %j (F2)', (endpoints) => {
    const all = owned([], [{ ...slice, endpoints }]);
    expect(gatewayReadiness(all)).toEqual([]);
    const gateway = { ...before, wasAlive: false };
    expect(found({ owned: all, gateway })).toMatchObject({ alive: false, addresses: [] });
  });

  test.each<[string, Observed['owned']]>([
    ['Endpoints', owned([ownedEndpoints('web-west', [{ addresses: [{ ip: GATEWAY }] }])])],
    ['slices', owned([], [{ ...slice, ports: null }])],
  ])('has the port that the Link says where %s have none (C2)', (_, all) => {
    expect(found({ owned: all, gateway: before })).toMatchObject({ addresses: [GATEWAY], port: 4143 });
  });
});

describe('endpoints of a mirror that was headless', () => {
  const former = ownedEndpoints('web-west', [{ addresses: [{ ip: '10.96.0.7', hostname: 'web-0' }], ports: PORTS }]);

  it('stay until it is known where the gateway is (C1, C2)', () => {
    expect(refreshed({ owned: owned([former]), gateway: { addresses: [] } })).toEqual([]);
  });

  it('are not ready once the Link has no gateway (C1)', () => {
    const [now] = refreshed({ owned: owned([former]), gateway: null });
    expect(now).toMatchObject({ subsets: [{ notReadyAddresses: [{ ip: '10.96.0.7' }] }] });
  });
});

it('Endpoints of a headless mirror in which Kubernetes lists pods are emptied, whatever else they list (C3)', () => {
  const mixed = { addresses: [{ ip: '10.96.0.7', hostname: 'web-0' }], notReadyAddresses: [pod], ports: PORTS };
  const [now] = refreshed({ owned: owned([ownedEndpoints('web-west', [mixed])], [], 'None') });
  expect(now).toMatchObject({ kind: 'Endpoints', metadata: { name: 'web-west' } });
  expect(now).not.toHaveProperty('subsets');
});

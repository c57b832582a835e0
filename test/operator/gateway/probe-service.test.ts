import { describe, expect, it } from 'vitest';
import { desiredProbe, type ProbeObserved } from '../../../operator/gateway/probe-service.ts';
import { NOTHING } from '../../../operator/mirror/manifests.ts';
import { NOTHING_OWNED, ownedEndpoints, ownedService } from '../mirror/observed.ts';

const PROBE = { path: '/ready', port: 4191, periodMs: 3000, timeoutMs: 1000, failureThreshold: 3 };
const GATEWAY = { addresses: ['203.0.113.1'], port: 4143, identity: 'gw.id', alive: true, probe: PROBE };

const observed = (over: Partial<ProbeObserved> = {}): ProbeObserved => ({
  settings: { name: 'west-link', cluster: 'west' },
  gateway: GATEWAY,
  namespace: 'linkerd-multicluster',
  endpointsKind: 'endpoints',
  owned: NOTHING_OWNED,
  isForeign: () => false,
  ...over,
});

const SERVICE = ownedService('probe-west-link');
const there = { owned: { ...NOTHING_OWNED, services: [SERVICE] } };
const names = (list: readonly { readonly object: { readonly metadata: { readonly name: string } } }[]) =>
  list.map(({ object }) => object.metadata.name);

describe('the probe Service (F4)', () => {
  it("exposes the Link's own probe port, and leads to the gateway", () => {
    const { services, endpoints } = desiredProbe(observed(there));
    expect(services.map(({ object }) => object)).toMatchObject([
      {
        metadata: { name: 'probe-west-link', namespace: 'linkerd-multicluster' },
        spec: { ports: [{ port: 4191, targetPort: 4191 }] },
      },
    ]);
    expect(endpoints.map(({ object }) => object)).toMatchObject([
      {
        metadata: { annotations: { 'mirror.linkerd.io/remote-gateway-identity': 'gw.id' } },
        subsets: [{ addresses: [{ ip: '203.0.113.1' }], ports: [{ port: 4191 }] }],
      },
    ]);
  });

  it('comes after its Endpoints, as a mirror does (A6)', () => {
    const first = desiredProbe(observed());
    expect([names(first.services), names(first.endpoints), first.isPartial]).toEqual([[], ['probe-west-link'], true]);
    const endpoints = [ownedEndpoints('probe-west-link', [])];
    const then = desiredProbe(observed({ owned: { ...NOTHING_OWNED, endpoints } }));
    expect([names(then.services), then.isPartial]).toEqual([['probe-west-link'], false]);
    expect(then.services[0]?.endpointsProven).toBe(true);
  });

  it('may have slices', () => {
    const { endpoints } = desiredProbe(observed({ ...there, endpointsKind: 'slices' }));
    expect(endpoints.map(({ object }) => object)).toMatchObject([{ kind: 'EndpointSlice', addressType: 'IPv4' }]);
  });

  it("keeps labels and annotations of others, as Linkerd's chart puts them there (A8)", () => {
    const { services, endpoints } = desiredProbe(observed(there));
    expect(services.map(({ comparison }) => comparison?.extraMetadata)).toEqual(['ignored']);
    expect(endpoints.map(({ comparison }) => comparison?.extraMetadata)).toEqual([undefined]);
  });

  it("is nothing where somebody else's Service has its name (A6)", () => {
    const isForeign = (name: string) => name === 'probe-west-link';
    expect(desiredProbe(observed({ isForeign }))).toMatchObject({
      services: [],
      endpoints: [],
      isBlocked: true,
      refusals: [{ reason: 'NameConflict' }],
    });
  });

  it('is nothing where the gateway is not probed', () => {
    expect(desiredProbe(observed({ ...there, gateway: { ...GATEWAY, probe: undefined } }))).toEqual(NOTHING);
  });
});

import { describe, expect, it } from 'vitest';
import type { Endpoints } from '../../../operator/kube/objects.ts';
import { desired, stayingAs } from '../../../operator/mirror/desired.ts';
import type { Manifests } from '../../../operator/mirror/manifests.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import { shapeOf } from '../../../operator/mirror/shape.ts';
import { decided } from './decided.ts';
import {
  endpointMirror,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedEndpoints,
  ownedService,
  targetService,
} from './observed.ts';

const PORTS = [{ name: 'http', port: 4143, protocol: 'TCP' }];
const GATEWAY_IPS = [{ ip: '203.0.113.1' }, { ip: '203.0.113.2' }];
const leading = (name: string) => ownedEndpoints(name, [{ addresses: [{ ip: '203.0.113.9' }], ports: PORTS }]);
const owned = {
  ...NOTHING_OWNED,
  services: [ownedService('web-west'), endpointMirror('web-0', '10.96.0.10')],
  endpoints: [leading('web-west'), leading('web-0-west')],
};

const manifestsOf = (options: ObservedOptions): Manifests => decided(options).manifests;
const names = (list: Manifests['services']) => list.map(({ object }) => object.metadata.name).sort();

describe('nothing is desired of a Service', () => {
  it('that is no longer exported, and nothing is said of it (A2)', () => {
    const nothing = { services: [], endpoints: [], namespaces: [], refusals: [] };
    expect(manifestsOf({ service: null, owned })).toMatchObject(nothing);
  });

  it('that cannot be mirrored, but what is said of it: its mirror goes with its endpoints (A4)', () => {
    const { services, endpoints, refusals } = manifestsOf({ service: targetService({ type: 'ExternalName' }), owned });
    expect([services, endpoints]).toEqual([[], []]);
    expect(refusals).toMatchObject([{ reason: 'InvalidService' }]);
  });

  it('for which no name is valid, but what is said of it (A4)', () => {
    const state = observed();
    const { services, endpoints, refusals } = desired(state, shapeOf(state), { nameOf: () => undefined, revision: 0 });
    expect([services, endpoints]).toEqual([[], []]);
    expect(refusals).toMatchObject([{ reason: 'NameConflict' }]);
    expect(refusals[0]?.message).toMatch(/web-west.*no name for it is a valid Service name/);
  });
});

it('a namespace that exists is not written (A3)', () => {
  expect(manifestsOf({ link: { createNamespaces: true } }).namespaces).toEqual([]);
});

it('a Service that has a ClusterIP now keeps nothing of its pods while its own endpoints are not known (D4)', () => {
  const { services, endpoints } = manifestsOf({ slices: undefined, owned });
  expect([names(services), names(endpoints)]).toEqual([['web-west'], ['web-west']]);
});

describe('a mirror that cannot be replaced stays', () => {
  it('as it is, and follows the gateway; nothing else is written (D3)', () => {
    const state = observed({ owned, gateway: { alive: false } });
    const { services, endpoints } = stayingAs(state, new Rendered(), new Set(['web-west']));
    expect([services, names(endpoints)]).toEqual([[], ['web-west']]);
    expect((endpoints[0]?.object as Endpoints).subsets).toEqual([{ notReadyAddresses: GATEWAY_IPS, ports: PORTS }]);
  });

  it('without being rendered again while nothing of it changes (E10)', () => {
    const rendered = new Rendered();
    const [one, other] = [1, 2].map(() => stayingAs(observed({ owned }), rendered, new Set(['web-west'])).endpoints);
    expect(one).toHaveLength(1);
    expect(other?.[0]).toBe(one?.[0]);
  });

  it('with all of its endpoint mirrors, rendered in turns (E10)', () => {
    const all = Array.from({ length: 50 }, (_, at) => `web-${at}-west`);
    const services = all.map((name) => ownedService(name));
    const state = observed({ owned: { ...NOTHING_OWNED, services, endpoints: all.map(leading) } });
    const rendered = new Rendered({ isTurnOver: () => true });
    const turns = Array.from({ length: 3 }, () => stayingAs(state, rendered, new Set(all)));
    expect(turns.map(({ isUnfinished, endpoints }) => [isUnfinished, endpoints.length])).toEqual([
      [true, 0],
      [true, 0],
      [undefined, 50],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Service } from '../../../operator/kube/objects.ts';
import { enterClaims } from '../../../operator/mirror/claims.ts';
import { decide, type Decision } from '../../../operator/mirror/decide.ts';
import { NameClaims } from '../../../operator/mirror/names.ts';
import { groupOf } from '../../../operator/mirror/by-hostname.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import {
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedService,
  ownedSlice,
  targetSlice,
} from './observed.ts';

const PODS = 50;
const names = (count = PODS): readonly string[] => Array.from({ length: count }, (_, at) => `web-${at}`);
const GATEWAY = { addresses: ['203.0.113.9'], ready: true };
const link = { endpointsKind: 'slices', headless: true } as const;

/** A headless Service with all that there is of it, decided by one controller. */
class Controlled {
  readonly claims = new NameClaims();
  readonly rendered: Rendered;
  given: ObservedOptions;

  constructor(rendered = new Rendered()) {
    this.rendered = rendered;
    this.claims.join('west', { createdAt: '2026-01-01T00:00:00Z', name: 'west' }, () => undefined);
    const services = [...names(), 'web'].map((name, at) => ownedService(`${name}-west`, `10.96.0.${at + 1}`));
    const slices = [targetSlice(names().map((hostname) => ({ hostname })))];
    this.given = { link, service: headlessService(), slices, owned: { ...NOTHING_OWNED, services } };
  }

  decide(): Decision {
    const given = observed(this.given);
    return decide(given, enterClaims(given, this.claims), this.rendered);
  }

  /** The objects of each pod, by name. */
  objects(): ReadonlyMap<string, object> {
    const { services, endpoints } = this.decide().manifests;
    return new Map([...services, ...endpoints].map(({ object }) => [`${object.kind} ${object.metadata.name}`, object]));
  }
}

/** Decides until all is rendered: before that, nothing is decided. */
function inTurns(controlled: Controlled): { readonly turns: number; readonly decision: Decision } {
  let turns = 0;
  let decision = controlled.decide();
  while (decision.manifests.isUnfinished) {
    expect(decision.manifests).toMatchObject({ services: [], endpoints: [], refusals: [] });
    decision = controlled.decide();
    turns += 1;
  }
  return { turns, decision };
}

describe('what is rendered for the pods of a headless Service', () => {
  it('is rendered when the pod changes, and not with each event of another (E10)', () => {
    const controlled = new Controlled();
    const before = controlled.objects();
    expect(before.size).toBeGreaterThan(2 * PODS);
    controlled.given = {
      ...controlled.given,
      slices: [
        targetSlice(
          names()
            .slice(1)
            .map((hostname) => ({ hostname })),
        ),
        targetSlice([{ hostname: 'web-0' }], 9999),
      ],
    };
    const changed = [...controlled.objects()].filter(([name, object]) => before.get(name) !== object);
    expect(changed.map(([name]) => name).filter((name) => /web-\d/.test(name))).toEqual([
      'Service web-0-west',
      'EndpointSlice web-0-west-ipv4',
    ]);
  });

  it('is not rendered anew for another version of the Service alone (B4)', () => {
    const controlled = new Controlled();
    const before = controlled.objects();
    const service = headlessService();
    const newer: Service = { ...service, metadata: { ...service.metadata, resourceVersion: '4711' } };
    controlled.given = { ...controlled.given, service: newer };
    const after = controlled.objects();
    expect(after.get('Service web-7-west')).toBe(before.get('Service web-7-west'));
    expect(after.get('Service web-west')).toMatchObject({
      metadata: { annotations: { 'mirror.linkerd.io/remote-resource-version': '4711' } },
    });
  });

  it('is not rendered anew for annotations of the Service, which it does not have (D7)', () => {
    const controlled = new Controlled();
    const before = controlled.objects();
    const service = headlessService();
    const annotated: Service = { ...service, metadata: { ...service.metadata, annotations: { 'example.com/a': 'b' } } };
    controlled.given = { ...controlled.given, service: annotated };
    const after = controlled.objects();
    expect(after.get('Service web-7-west')).toBe(before.get('Service web-7-west'));
    expect(after.get('Service web-west')).toMatchObject({ metadata: { annotations: { 'example.com/a': 'b' } } });
  });

  it('is rendered in turns: nothing is decided before all of it is there (E10)', () => {
    const controlled = new Controlled(new Rendered({ isTurnOver: () => true }));
    const { turns, decision } = inTurns(controlled);
    expect(turns).toBe(2);
    expect(decision.manifests.services).toHaveLength(PODS + 1);
  });

  it('is rendered in turns where all are looked at together, too (E10)', () => {
    const controlled = new Controlled(new Rendered({ isTurnOver: () => true }));
    const together = Array.from({ length: 20_000 }, (_, at) => `web-${at}`).filter((name) => groupOf(name) === 0);
    expect(together.length).toBeGreaterThan(60);
    const slices = [targetSlice(together.slice(0, 60).map((hostname) => ({ hostname })))];
    controlled.given = { ...controlled.given, slices };
    const { turns, decision } = inTurns(controlled);
    expect(turns).toBe(2);
    expect(decision.manifests.services).toHaveLength(61);
  });

  describe('while its endpoints in the target are not known', () => {
    /** All mirrors are kept, and follow a gateway. */
    const kept = (rendered = new Rendered()): Controlled => {
      const controlled = new Controlled(rendered);
      const slices = names().map((name) => ownedSlice(`${name}-west-ipv4`, `${name}-west`, GATEWAY));
      const services = [...names().map((name) => ownedService(`${name}-west`)), ownedService('web-west', 'None')];
      const owned = { ...NOTHING_OWNED, services, slices };
      return Object.assign(controlled, { given: { ...controlled.given, slices: undefined, owned } });
    };

    it('is kept as it was rendered, until its gateway is another (E10)', () => {
      const controlled = kept();
      const before = controlled.objects();
      expect(before.size).toBeGreaterThan(PODS);
      const again = controlled.objects();
      expect([...again].filter(([name, object]) => /web-\d/.test(name) && before.get(name) !== object)).toEqual([]);
      const more = controlled.objects();
      expect([...more].filter(([name, object]) => /web-\d/.test(name) && before.get(name) !== object)).toEqual([]);
      // A plan knows it by that.
      const [one, other] = [controlled.decide(), controlled.decide()].map(({ manifests }) => manifests.endpoints);
      expect(one?.every((each, at) => each === other?.[at])).toBe(true);
      controlled.given = { ...controlled.given, gateway: { alive: false } };
      expect(controlled.objects().get('EndpointSlice web-7-west-ipv4')).toMatchObject({
        endpoints: Array(2).fill({ conditions: { ready: false } }),
      });
    });

    it('is rendered in turns, and then all of it is there (E10)', () => {
      const controlled = kept(new Rendered({ isTurnOver: () => true }));
      const { turns, decision } = inTurns(controlled);
      expect(turns).toBe(2);
      expect(decision.manifests.endpoints).toHaveLength(PODS);
    });

    it('is forgotten once they are known', () => {
      const controlled = kept();
      controlled.decide();
      expect(controlled.rendered.size).toBe(PODS);
      controlled.given = { ...controlled.given, slices: [targetSlice([{ hostname: 'web-1' }])] };
      controlled.decide();
      expect(controlled.rendered.size).toBe(1);
    });
  });

  it('is forgotten with the pod, and with the Service', () => {
    const controlled = new Controlled();
    controlled.decide();
    expect(controlled.rendered.size).toBe(PODS);
    controlled.given = { ...controlled.given, slices: [targetSlice([{ hostname: 'web-1' }])] };
    controlled.decide();
    expect(controlled.rendered.size).toBe(1);
    controlled.given = { ...controlled.given, service: null };
    controlled.decide();
    expect(controlled.rendered.size).toBe(0);
  });
});

describe('what is derived from a Service', () => {
  const decided = (given: ObservedOptions): Decision => Object.assign(new Controlled(), { given }).decide();

  it('may take no more bytes than the Link has left: what is there stays, and the status says so (E10)', () => {
    const bytes: number[] = [];
    const { given } = new Controlled();
    const admitsBytes = (of: number): boolean => bytes.push(of) < 0;
    const { shape, manifests } = decided({ ...given, admitsBytes });
    expect(shape).toMatchObject({ kind: 'refused', existing: 'keep' });
    expect(manifests.refusals).toMatchObject([{ reason: 'LimitExceeded' }]);
    expect(manifests.refusals[0]?.message).toContain('--max-written-mib');
    expect(bytes).toHaveLength(1);
  });

  it('counts whole, also while only a part of it can be written yet (E10)', () => {
    const bytes: number[] = [];
    const admitsBytes = (of: number): boolean => bytes.push(of) > 0;
    const { given } = new Controlled();
    decided({ ...given, owned: NOTHING_OWNED, admitsBytes });
    decided({ ...given, admitsBytes });
    const [before = 0, after = 0] = bytes;
    // The slices of the headless mirror list ClusterIPs, which are known only later.
    expect(before / after).toBeGreaterThan(0.8);
  });

  it('has at most so many pods of one headless Service: those that there are, then the first by hostname (E10)', () => {
    const { given } = new Controlled();
    const services = ['web-40', 'web-41', 'web'].map((name) => ownedService(`${name}-west`));
    const owned = { ...NOTHING_OWNED, services: services.map((each, at) => (at === 2 ? each : endpointMirror(each))) };
    const { manifests, shape } = decided({ ...given, link: { ...link, maxServicePods: 4 }, owned });
    const names = manifests.services.map(({ object }) => object.metadata.name);
    expect(names.sort()).toEqual(['web-0-west', 'web-1-west', 'web-40-west', 'web-41-west', 'web-west']);
    expect('note' in shape && shape.note).toMatch(/^46 of its pods .*--max-service-pods/);
  });
});

const endpointMirror = (service: Service): Service => {
  const { name, labels } = service.metadata;
  const annotations = {
    'mirror.linkerd.io/remote-svc-fq-name': `${name.replace('-west', '')}.web.shop.svc.cluster.local`,
  };
  const ofMirror = { ...labels, 'mirror.linkerd.io/headless-mirror-svc-name': 'web-west' };
  return { ...service, metadata: { ...service.metadata, labels: ofMirror, annotations } };
};

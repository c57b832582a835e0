import { describe, expect, it } from 'vitest';
import type { Service } from '../../../operator/kube/objects.ts';
import { decide, type Decision } from '../../../operator/mirror/decide.ts';
import { NameClaims } from '../../../operator/mirror/names.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import {
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedService,
  targetSlice,
} from './observed.ts';

const PODS = 50;
const names = (count = PODS): readonly string[] => Array.from({ length: count }, (_, at) => `web-${at}`);
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
    return decide(observed(this.given), this.claims, this.rendered);
  }

  /** The objects of each pod, by name. */
  objects(): ReadonlyMap<string, object> {
    const { services, endpoints } = this.decide().manifests;
    return new Map([...services, ...endpoints].map(({ object }) => [`${object.kind} ${object.metadata.name}`, object]));
  }
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

  it('is rendered in turns: nothing is decided before all of it is there (E10)', () => {
    const controlled = new Controlled(new Rendered({ isTurnOver: () => true }));
    let turns = 0;
    let decision = controlled.decide();
    while (decision.manifests.isUnfinished) {
      expect(decision.manifests).toMatchObject({ services: [], endpoints: [], refusals: [] });
      decision = controlled.decide();
      turns += 1;
    }
    expect(turns).toBe(2);
    expect(decision.manifests.services).toHaveLength(PODS + 1);
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

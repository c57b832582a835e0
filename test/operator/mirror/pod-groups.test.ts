import { describe, expect, it } from 'vitest';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { enterClaims } from '../../../operator/mirror/claims.ts';
import { decide, type Decision } from '../../../operator/mirror/decide.ts';
import { type Claim, NameClaims } from '../../../operator/mirror/names.ts';
import type { Observed } from '../../../operator/mirror/observed.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import { headlessService, NOTHING_OWNED, observed, ownedService, targetSlice } from './observed.ts';

const IN_SLICE = 50;
const SERVICE = headlessService();

/** A headless Service with pods in slices, decided about again and again; which pods are looked at is counted. */
class Decided {
  readonly claims = new NameClaims();
  readonly #rendered: Rendered;
  slices: readonly EndpointSlice[];
  services: readonly Service[];
  /** Number of pods that were looked at with the last decision. */
  pods = 0;

  constructor(pods: number, rendered = new Rendered()) {
    this.#rendered = rendered;
    for (const cluster of ['west', 'bar-west'])
      this.claims.join(cluster, { createdAt: cluster === 'west' ? '2026' : '2025', name: cluster }, () => undefined);
    this.slices = Array.from({ length: pods / IN_SLICE }, (_, at) => sliceOf(at));
    const names = Array.from({ length: pods }, (_, at) => `web-${at}-west`);
    this.services = [...names.map((name, at) => ownedService(name, ipOf(at))), ownedService('web-west', 'None')];
  }

  decide(rendered = this.#rendered): Decision {
    const given: Observed = observed({
      link: { endpointsKind: 'slices', headless: true },
      service: SERVICE,
      slices: this.slices,
      owned: { ...NOTHING_OWNED, services: this.services },
      areAllPodsAdmitted: true,
    });
    this.pods = 0;
    const { nameOf, ...named } = enterClaims(given, this.claims);
    const counted = (hostname?: string) => {
      this.pods += hostname === undefined ? 0 : 1;
      return nameOf(hostname);
    };
    return decide(given, { ...named, nameOf: counted }, rendered);
  }

  /** What is desired, by kind and name. */
  objects(rendered?: Rendered): ReadonlyMap<string, object> {
    return named(this.decide(rendered).manifests);
  }
}

/** Desired objects by kind and name. */
const named = ({ services, endpoints }: Decision['manifests']): ReadonlyMap<string, object> =>
  new Map([...services, ...endpoints].map(({ of, object }) => [`${of.kind} ${object.metadata.name}`, object]));

const ipOf = (at: number): string => `10.96.${at >> 8}.${at & 255}`;

const sliceOf = (at: number, unready = -1): EndpointSlice => {
  const pods = Array.from({ length: IN_SLICE }, (_, pod) => ({
    hostname: `web-${at * IN_SLICE + pod}`,
    ready: pod !== unready,
  }));
  const slice = targetSlice(pods);
  return { ...slice, metadata: { ...slice.metadata, name: `web-${at}` } };
};

/** Pods that are looked at with one event of a Service of so many pods: one of them is not ready any more. */
const lookedAt = (pods: number): number => {
  const service = new Decided(pods);
  service.decide();
  expect(service.pods).toBe(pods);
  service.decide();
  expect(service.pods).toBe(0);
  service.slices = service.slices.with(1, sliceOf(1, 7));
  service.decide();
  return service.pods;
};

describe('an event of one pod', () => {
  it('costs what a few pods cost, however many the Service has (E10)', () => {
    for (const pods of [100, 1_000, 2_000]) expect(lookedAt(pods)).toBeLessThanOrEqual(1 + Math.ceil(pods / 100));
  });

  it('costs no more if the pod comes, or gets its endpoint mirror (E10)', () => {
    const service = new Decided(1_000);
    service.decide();
    const { services } = service;
    service.services = services.filter(({ metadata }) => metadata.name !== 'web-7-west');
    service.decide();
    expect(service.pods).toBeLessThan(20);
    service.services = services;
    service.decide();
    expect(service.pods).toBeLessThan(20);
    service.slices = [...service.slices, { ...targetSlice([{ hostname: 'new-0' }]) }];
    service.decide();
    expect(service.pods).toBeLessThan(20);
  });

  it('leads to what is decided of all pods at once', () => {
    const service = new Decided(250);
    for (let step = 0; step < 15; step += 1) {
      const at = step % 5;
      service.slices = service.slices.with(at, sliceOf(at, step % 3 === 0 ? -1 : (step * 7) % IN_SLICE));
      if (step % 5 === 0) service.services = service.services.filter((_, index) => index % 101 !== step);
      if (step % 7 === 0) service.slices = service.slices.slice(1).concat(sliceOf(5 + step));
      while (service.slices.length < 5) service.slices = [...service.slices, sliceOf(30 + step)];
      const kept = service.objects();
      const anew = service.objects(new Rendered());
      expect(new Set(kept.keys())).toEqual(new Set(anew.keys()));
      for (const [name, object] of anew) expect(kept.get(name), name).toEqual(object);
    }
  });
});

describe('what was decided of pods does not stand', () => {
  it('where somebody else wants the name of one (A7)', () => {
    const service = new Decided(100);
    expect(service.objects().has('Service web-7-west')).toBe(true);
    // An older Link has it for the Service web-7 of a cluster of its own.
    const owner = { cluster: 'bar-west', key: 'shop/web-7' };
    const claim: Claim = { owner, names: ['web-7-west'], since: '2025-01-01T00:00:00Z' };
    service.claims.replace(owner, 'shop', [claim]);
    const after = service.objects();
    expect([after.has('Service web-7-west'), after.has('Service web-7-web-west')]).toEqual([false, true]);
    service.claims.withdraw(owner);
    expect(service.objects().has('Service web-7-west')).toBe(true);
  });

  it('where its endpoint mirror goes: it has no address in the headless mirror (C3)', () => {
    const service = new Decided(100);
    const addresses = (): number => JSON.stringify([...service.objects().values()]).split('10.96.').length - 1;
    const before = addresses();
    service.services = service.services.slice(1);
    expect(addresses()).toBe(before - 1);
  });
});

describe('a decision about all pods of a Service', () => {
  /** A Service none of whose endpoint mirrors is there, so that nothing stands; each turn is over at once. */
  const unwritten = (pods: number): Decided => {
    const service = new Decided(pods, new Rendered({ isTurnOver: () => true }));
    service.services = [];
    return service;
  };
  /** Decides in turns. Returns how many pods were looked at in each. */
  const inTurns = (service: Decided, between: (turn: number) => void = () => undefined) => {
    const looked: number[] = [];
    for (let turn = 0; ; turn += 1) {
      const { manifests } = service.decide();
      looked.push(service.pods);
      if (manifests.isUnfinished !== true) return { looked, manifests };
      between(turn);
    }
  };

  it('is made in turns, be they rendered before or not, and looks at each pod once or twice (E10)', () => {
    const service = unwritten(1_000);
    // Every other pod is in the headless mirror, which is rendered in turns, too.
    for (const services of [[], new Decided(1_000).services.filter((_, at) => at % 2 === 0)]) {
      service.services = services;
      for (let again = 0; again < 2; again += 1) {
        const { looked } = inTurns(service);
        expect(Math.max(...looked)).toBeLessThan(60);
        // A group that is rendered in two turns is looked at twice.
        expect(looked.reduce((sum, each) => sum + each, 0)).toBeLessThan(2_000);
      }
    }
  });

  it('comes to what is decided at once, whatever changes between the turns', () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const service = unwritten(250);
      const half = new Decided(250).services.filter((_, at) => at % 2 === 0);
      service.services = half;
      inTurns(service);
      const { manifests } = inTurns(service, (turn) => {
        const at = turn % 5;
        if (turn % 3 === seed % 3) service.slices = service.slices.with(at, sliceOf(at, (turn * seed) % IN_SLICE));
        if (turn === seed) service.services = half.slice(seed);
        if (turn === 2 * seed) service.services = half;
      });
      expect(named(manifests)).toEqual(service.objects(new Rendered()));
    }
  });
});

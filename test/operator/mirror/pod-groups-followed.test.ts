/** What was decided of the pods of a headless Service follows all that decides about them, whatever stood before. */
import { describe, expect, it, test } from 'vitest';
import { enterClaims } from '../../../operator/mirror/claims.ts';
import { decide, type Decision } from '../../../operator/mirror/decide.ts';
import { type Claim, NameClaims } from '../../../operator/mirror/names.ts';
import type { GatewayView } from '../../../operator/mirror/observed.ts';
import { isSamePod, type PodProps } from '../../../operator/mirror/pod-groups.ts';
import { Rendered } from '../../../operator/mirror/rendered.ts';
import {
  endpointMirrorOf,
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedService,
  ownedSlice,
  targetSlice,
} from './observed.ts';

const PODS = 40;
const hostnames = Array.from({ length: PODS }, (_, at) => `web-${at}`);
const mirrorOf = (name: string, ip: string) => ownedService(name, ip);
const services = [
  ...hostnames.map((each, at) => mirrorOf(`${each}-west`, `10.96.0.${at + 1}`)),
  mirrorOf('web-west', 'None'),
];
const listing = (isReady: (hostname: string) => boolean) => [
  targetSlice(hostnames.map((hostname) => ({ hostname, ready: isReady(hostname) }))),
];

/** A headless Service, decided about again and again. */
class Session {
  readonly claims = new NameClaims();
  readonly rendered: Rendered;
  given: ObservedOptions = {
    service: headlessService(),
    link: { endpointsKind: 'slices' },
    slices: listing(() => true),
    owned: { ...NOTHING_OWNED, services },
  };

  constructor(rendered = new Rendered()) {
    this.rendered = rendered;
    this.claims.join('west', { createdAt: '2026-01-01T00:00:00Z', name: 'west' }, () => undefined);
    this.claims.join('bar-west', { createdAt: '2025-01-01T00:00:00Z', name: 'bar-west' }, () => undefined);
  }

  decide(rendered = this.rendered): Decision['manifests'] {
    const given = observed(this.given);
    return decide(given, enterClaims(given, this.claims), rendered).manifests;
  }

  /** Decides in as many turns as it takes, with something that happens after the first. */
  inTurns(between: () => void = () => undefined): Decision['manifests'] {
    for (let turn = 1; turn < 50; turn += 1) {
      const manifests = this.decide();
      if (manifests.isUnfinished !== true) return manifests;
      if (turn === 1) between();
    }
    throw new Error('no decision is reached');
  }

  /** An older Link wants a name. */
  claim(name: string): void {
    const owner = { cluster: 'bar-west', key: 'shop/rival' };
    const claim: Claim = { owner, names: [name], since: '2020-01-01T00:00:00Z' };
    this.claims.replace(owner, 'shop', [claim]);
  }
}

const objectsOf = ({ services: of, endpoints }: Decision['manifests']): ReadonlyMap<string, object> =>
  new Map([...of, ...endpoints].map(({ of: { kind }, object }) => [`${kind} ${object.metadata.name}`, object]));

/** What is decided is what is decided by who has decided nothing before. */
const expectAsAnew = (session: Session, manifests = session.decide()): void => {
  const anew = session.decide(new Rendered());
  expect(objectsOf(manifests)).toEqual(objectsOf(anew));
  expect(manifests.refusals).toEqual(anew.refusals);
};

const slicesOfPods = (manifests: Decision['manifests']): readonly object[] =>
  [...objectsOf(manifests)].filter(([name]) => /^EndpointSlice web-\d+-west/.test(name)).map(([, object]) => object);

describe('every endpoint mirror of a headless Service follows its gateway, whatever was decided before (C1, C4)', () => {
  const ready = (is: boolean) => ({ endpoints: Array(2).fill({ conditions: { ready: is } }) as object[] });
  const addressed = (...addresses: readonly string[]) => ({
    endpoints: addresses.map((each) => ({ addresses: [each] })),
  });

  test.each<[string, Partial<GatewayView>, object]>([
    ['that is not alive', { alive: false }, ready(false)],
    ['with another port', { port: 4144 }, { ports: [{ name: 'http', port: 4144 }] }],
    [
      'with another identity',
      { identity: 'other.id' },
      { metadata: { annotations: { 'mirror.linkerd.io/remote-gateway-identity': 'other.id' } } },
    ],
    ['with another address', { addresses: ['203.0.113.1', '203.0.113.3'] }, addressed('203.0.113.1', '203.0.113.3')],
    ['with fewer addresses', { addresses: ['203.0.113.2'] }, addressed('203.0.113.2')],
  ])('one %s, and back', (_, gateway, expected) => {
    const session = new Session();
    const before = session.decide();
    session.given = { ...session.given, gateway };
    const after = session.decide();
    expect(slicesOfPods(after)).toHaveLength(PODS);
    for (const each of slicesOfPods(after)) expect(each).toMatchObject(expected);
    expectAsAnew(session, after);
    session.given = { ...session.given, gateway: {} };
    expect(objectsOf(session.decide())).toEqual(objectsOf(before));
  });

  it('and so does each while nothing is known of the gateway, before that and after it (F2)', () => {
    const session = new Session();
    const slices = hostnames.map((each, at) =>
      ownedSlice(`${each}-west-ipv4`, `${each}-west`, { addresses: ['203.0.113.9'], ready: at % 2 === 0 }),
    );
    session.given = { ...session.given, owned: { ...NOTHING_OWNED, services, slices } };
    for (const gateway of [{}, { alive: undefined }, { alive: undefined, addresses: [] }, { alive: false }, {}]) {
      session.given = { ...session.given, gateway };
      expect(slicesOfPods(session.decide())).toHaveLength(PODS);
      expectAsAnew(session);
    }
  });

  it('and all are emptied when the last pod is not ready any more, though nothing else changes of the others', () => {
    const session = new Session();
    session.given = { ...session.given, slices: listing((hostname) => hostname === 'web-7') };
    for (const each of slicesOfPods(session.decide())) expect(each).toMatchObject(ready(true));
    session.given = { ...session.given, slices: listing(() => false) };
    const after = session.decide();
    expect(slicesOfPods(after).every((each) => !JSON.stringify(each).includes('203.0.113'))).toBe(true);
    expectAsAnew(session, after);
  });

  it('and is written as v1 Endpoints, or as slices, whichever the operator writes now', () => {
    const session = new Session();
    session.decide();
    for (const endpointsKind of ['endpoints', 'slices'] as const) {
      session.given = { ...session.given, link: { endpointsKind } };
      expectAsAnew(session);
    }
  });
});

describe('a pod that is not settled is decided about with every event of its Service', () => {
  it('as one whose name a foreign Service had: it has its endpoint mirror once that is gone (A6)', () => {
    const session = new Session();
    const others = services.filter(({ metadata }) => metadata.name !== 'web-7-west');
    const isForeign = (name: string) => name === 'web-7-west';
    session.given = { ...session.given, owned: { ...NOTHING_OWNED, services: others }, isForeign };
    expect(session.decide().refusals).toMatchObject([{ reason: 'NameConflict' }]);
    session.given = { ...session.given, isForeign: () => false };
    const after = session.decide();
    expect(after.refusals).toEqual([]);
    expect(objectsOf(after).has('Service web-7-west')).toBe(true);
  });

  it('as one under another name: it is listed once its endpoint mirror has a ClusterIP (A7, D1)', () => {
    const session = new Session();
    session.claim('web-7-west');
    const others = services.filter(({ metadata }) => metadata.name !== 'web-7-west');
    session.given = { ...session.given, owned: { ...NOTHING_OWNED, services: others } };
    const ip = '10.96.7.7';
    expect(JSON.stringify(session.decide())).not.toContain(ip);
    const own = [...others, mirrorOf('web-7-web-west', ip)];
    session.given = { ...session.given, owned: { ...NOTHING_OWNED, services: own } };
    expect(JSON.stringify([...objectsOf(session.decide()).values()])).toContain(`{"addresses":["${ip}"]`);
    expectAsAnew(session);
  });

  it('as one whose ports no construct takes: its endpoint mirror stays, and is freed from what others add (C3, D6)', () => {
    const session = new Session();
    const udp = { ...targetSlice([{ hostname: 'dns-0' }]), ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] };
    const stays = endpointMirrorOf('dns-0', 80);
    const owning = (mirror: typeof stays) => ({ owned: { ...NOTHING_OWNED, services: [...services, mirror] } });
    session.given = { ...session.given, slices: [...session.given.slices!, udp], ...owning(stays) };
    expect(objectsOf(session.decide()).get('Service dns-0-west')).toBe(stays);
    session.given = { ...session.given, ...owning({ ...stays, spec: { ...stays.spec, selector: { app: 'own' } } }) };
    expect(objectsOf(session.decide()).get('Service dns-0-west')).not.toHaveProperty('spec.selector');
  });
});

it('labels of the Service reach the endpoint mirrors that are there already (B2)', () => {
  const session = new Session();
  session.decide();
  const service = headlessService();
  const labelled = { ...service, metadata: { ...service.metadata, labels: { team: 'shop' } } };
  session.given = { ...session.given, service: labelled };
  expect(objectsOf(session.decide()).get('Service web-7-west')).toMatchObject({
    metadata: { labels: { team: 'shop' } },
  });
});

it('what another name changes of one pod has no other rendered anew (A7, E10)', () => {
  const session = new Session();
  const before = objectsOf(session.decide());
  session.claim('web-7-west');
  const after = objectsOf(session.decide());
  expect(after.has('Service web-7-west')).toBe(false);
  const others = [...after].filter(([name]) => /web-\d+-west/.test(name));
  expect(others.filter(([name, object]) => before.get(name) !== object)).toEqual([]);
});

describe('a decision that is made in turns', () => {
  const turns = () => new Session(new Rendered({ isTurnOver: () => true }));

  it('comes to an end also while there is no verdict on the gateway (E10, F2)', () => {
    const session = turns();
    session.given = { ...session.given, gateway: { alive: undefined } };
    expectAsAnew(session, session.inTurns());
  });

  test.each<[string, (session: Session) => void]>([
    [
      'an endpoint mirror is there',
      (session) => (session.given = { ...session.given, owned: { ...NOTHING_OWNED, services } }),
    ],
    ['another wants the name of a pod', (session) => session.claim('web-7-west')],
    ['the gateway is not alive', (session) => (session.given = { ...session.given, gateway: { alive: false } })],
    [
      'there is no verdict on the gateway',
      (session) => (session.given = { ...session.given, gateway: { alive: undefined } }),
    ],
  ])('counts what happens during the first one of all: %s', (_, happens) => {
    const session = turns();
    session.given = { ...session.given, owned: NOTHING_OWNED };
    const manifests = session.inTurns(() => happens(session));
    expectAsAnew(session, manifests);
    expect(session.rendered.size).toBe(PODS);
  });
});

describe('what the plans of a headless Service have found', () => {
  it('is remembered while it is rendered as it was, and forgotten with it (E10)', () => {
    const session = new Session();
    const found = () => session.rendered.settledOf('shop/web');
    expect(found()).toBeUndefined();
    session.decide();
    const first = found();
    expect(first?.services).not.toBe(first?.endpoints);
    session.given = { ...session.given, slices: listing((hostname) => hostname !== 'web-7') };
    session.decide();
    expect([found() === first, first === undefined]).toEqual([true, false]);
    session.given = { ...session.given, service: null };
    session.decide();
    expect(found()).toBeUndefined();
  });
});

describe('the endpoint mirror of a pod is rendered anew for each of its own props', () => {
  const endpoints = {
    addresses: ['203.0.113.1'],
    port: 4143,
    identity: 'gw.id',
    alive: true,
    ready: true,
    kind: 'slices',
  } as const;
  const pod: PodProps = { hostname: 'web-0', name: 'web-0-west', ports: [{ name: 'http', port: 80 }], endpoints };

  test.each<[string, PodProps]>([
    ['name (A7)', { ...pod, name: 'web-0-web-west' }],
    ['ports (D6)', { ...pod, ports: [{ name: 'http', port: 81 }] }],
    ['addresses (C4)', { ...pod, endpoints: { ...endpoints, addresses: ['203.0.113.2'] } }],
    ['gateway port (C4)', { ...pod, endpoints: { ...endpoints, port: 4144 } }],
    ['gateway identity (C4)', { ...pod, endpoints: { ...endpoints, identity: 'other.id' } }],
    ['verdict (C1)', { ...pod, endpoints: { ...endpoints, alive: false } }],
    ['readiness (C1)', { ...pod, endpoints: { ...endpoints, ready: false } }],
    ['kind of endpoints', { ...pod, endpoints: { ...endpoints, kind: 'endpoints' } }],
  ])('%s', (_, other) => {
    expect(isSamePod(pod, other)).toBe(false);
  });

  it('and not for the same ones that were read anew (E10)', () => {
    expect(isSamePod(pod, structuredClone(pod))).toBe(true);
  });
});

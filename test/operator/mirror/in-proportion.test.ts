/**
 * What one decision about a headless Service reads of what there is in the source cluster grows with its pods, and no
 * faster: whatever there is of each pod, whatever is known of its gateway, and whatever the target says of it (E10).
 */
import { describe, expect, it } from 'vitest';
import { enterClaims } from '../../../operator/mirror/claims.ts';
import { decide } from '../../../operator/mirror/decide.ts';
import { NameClaims } from '../../../operator/mirror/names.ts';
import type { Observed } from '../../../operator/mirror/observed.ts';
import {
  headlessService,
  observed,
  type ObservedOptions,
  ownedEndpoints,
  ownedService,
  ownedSlice,
  targetSlice,
} from './observed.ts';
import { Reads } from './reads.ts';

const FEW = 20;
const FACTOR = 4;

/** What there is of each pod. */
const THERE = {
  nothing: [],
  'a Service': ['services'],
  endpoints: ['endpoints', 'slices'],
  'a Service and endpoints': ['services', 'endpoints', 'slices'],
} as const satisfies Readonly<Record<string, readonly (keyof Observed['owned'])[]>>;

const GATEWAYS = {
  'is known': {},
  'has no address yet': { addresses: [] },
  'had no verdict yet': { alive: undefined },
  'is not there': null,
} as const satisfies Readonly<Record<string, Situation['gateway']>>;

const ports = (port: { readonly name: string; readonly port: number; readonly protocol: string }) => ({
  ports: [port],
});

/** What the target says of its pods. */
const TARGETS: Readonly<Record<string, (hostnames: readonly string[]) => Partial<ObservedOptions>>> = {
  'that are ready': (hostnames) => ({ slices: [slice(hostnames)] }),
  'that are not ready': (hostnames) => ({ slices: [slice(hostnames, false)] }),
  'that no construct takes': (hostnames) => ({
    slices: [{ ...slice(hostnames), ...ports({ name: 'dns', port: 53, protocol: 'UDP' }) }],
  }),
  'beyond the limit': (hostnames) => ({ slices: [slice(hostnames)], admitsPod: () => false }),
  'that are gone': () => ({ slices: [] }),
  'that are gone, and stay for now': (hostnames) => ({
    slices: [],
    departed: new Map(hostnames.map((each) => [each, 60_000])),
  }),
  'that are not known': () => ({ slices: undefined }),
  'whose names are taken': (hostnames) => ({ slices: [slice(hostnames)], isForeign: () => true }),
  'of a Service that is not known': () => ({ decidable: false }),
  'of a Service that is not exported': () => ({ service: null }),
};

const slice = (hostnames: readonly string[], ready = true) =>
  targetSlice(hostnames.map((hostname) => ({ hostname, ready })));

interface Situation {
  readonly there: readonly (keyof Observed['owned'])[];
  readonly gateway: NonNullable<ObservedOptions['gateway']> | null;
  readonly target: (hostnames: readonly string[]) => Partial<ObservedOptions>;
  readonly endpointsKind: 'endpoints' | 'slices';
}

/** What one decision reads of so many pods. */
function readsOf(pods: number, { there, gateway, target, endpointsKind }: Situation): number {
  const reads = new Reads();
  const hostnames = Array.from({ length: pods }, (_, at) => `web-${at}`);
  const names = hostnames.map((hostname) => `${hostname}-west`);
  const listed = { addresses: ['203.0.113.9'], ready: true };
  const subsets = [{ addresses: [{ ip: '203.0.113.9' }], ports: [{ name: 'http', port: 4143 }] }];
  const services = names.map((name, at) => podService(name, hostnames[at] ?? '', at));
  const owned = {
    services: [ownedService('web-west', 'None'), ...(there.includes('services') ? services : [])],
    endpoints: there.includes('endpoints') ? names.map((name) => ownedEndpoints(name, subsets)) : [],
    slices: there.includes('slices') ? names.map((name) => ownedSlice(`${name}-mirror`, name, listed)) : [],
  };
  const given = observed({
    link: { endpointsKind, headless: true },
    gateway,
    service: headlessService(),
    ...target(hostnames),
    owned: {
      services: reads.of(owned.services),
      endpoints: reads.of(owned.endpoints),
      slices: reads.of(owned.slices),
    },
  });
  const claims = new NameClaims();
  claims.join('west', { createdAt: '2026-01-01T00:00:00Z', name: 'west' }, () => undefined);
  decide(given, enterClaims(given, claims));
  return reads.count;
}

/** The endpoint mirror of a pod. */
const podService = (name: string, hostname: string, at: number) => {
  const service = ownedService(name, `10.96.${at >> 8}.${at & 255}`);
  return {
    ...service,
    metadata: {
      ...service.metadata,
      labels: { ...service.metadata.labels, 'mirror.linkerd.io/headless-mirror-svc-name': 'web-west' },
      annotations: { 'mirror.linkerd.io/remote-svc-fq-name': `${hostname}.web.shop.svc.cluster.local` },
    },
  };
};

describe.each(['endpoints', 'slices'] as const)('with %s', (endpointsKind) => {
  describe.each(Object.entries(THERE))('and %s of each pod', (_, there) => {
    describe.each(Object.entries(GATEWAYS))('behind a gateway that %s', (_, gateway) => {
      it.each(Object.entries(TARGETS))('a decision about pods %s costs what they cost (L212)', (_, target) => {
        const situation = { there, gateway, target, endpointsKind };
        const few = readsOf(FEW, situation);
        expect(readsOf(FEW * FACTOR, situation)).toBeLessThanOrEqual((few + 20) * FACTOR * 1.1);
      });
    });
  });
});

import { describe, expect, it, test } from 'vitest';
import type { Endpoints, EndpointSlice, KubeObject, Service } from '../../../operator/kube/objects.ts';
import { enterClaims } from '../../../operator/mirror/claims.ts';
import { decide as decideNamed, type Decision } from '../../../operator/mirror/decide.ts';
import { desired } from '../../../operator/mirror/desired.ts';
import type { Manifests } from '../../../operator/mirror/manifests.ts';
import { type Claim, NameClaims } from '../../../operator/mirror/names.ts';
import type { Observed } from '../../../operator/mirror/observed.ts';
import {
  headlessService,
  NOTHING_OWNED,
  observed,
  type ObservedOptions,
  ownedEndpoints,
  ownedService,
  ownedSlice,
  targetService,
  targetSlice,
} from './observed.ts';

/** Claims of the Link of west, and of a younger Link of x. */
function claims(...others: readonly (readonly [string, Claim])[]): NameClaims {
  const all = new NameClaims();
  all.join('west', { createdAt: '2026-01-01T00:00:00Z', name: 'west' }, () => undefined);
  all.join('bar-west', { createdAt: '2025-01-01T00:00:00Z', name: 'bar-west' }, () => undefined);
  for (const [namespace, claim] of others) all.replace(claim.owner, namespace, [claim]);
  return all;
}

/** What must exist for an observed state, where nobody else wants its names. */
const decide = (given: Observed, all: NameClaims): Decision => decideNamed(given, enterClaims(given, all));

function manifestsOf(options: ObservedOptions, all = claims()): Manifests {
  const state = observed(options);
  const { shape, ...claimed } = enterClaims(state, all);
  if (shape instanceof Error) throw shape;
  return desired(state, shape, claimed);
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

describe('a mirror that is kept although it is refused', () => {
  const live = ownedEndpoints('web-west', [{ addresses: [{ ip: '203.0.113.9' }], ports: gatewayPorts }]);
  const owned = { ...there.owned, endpoints: [live] };
  const twice = [1, 2].map((port) => ({ name: 'http', port, protocol: 'TCP' }));
  test.each<[string, ObservedOptions, object]>([
    ['whose Service no construct takes', { service: targetService({ ports: twice }) }, gatewayIps],
    ['beyond the limit (E10)', { isAdmitted: false }, gatewayIps],
    ['whose Link has no gateway any more', { gateway: null }, [{ ip: '203.0.113.9' }]],
  ])('follows its gateway: one %s (C1, F3)', (_, options, notReadyAddresses) => {
    const { manifests } = decide(observed({ gateway: { alive: false }, owned, ...options }), claims());
    expect([manifests.refusals.length, names(manifests.services)]).toEqual([1, []]);
    expect(subsetsOf(manifests)).toEqual([{ notReadyAddresses, ports: gatewayPorts }]);
  });

  const orphan = { gateway: { alive: false }, owned: { ...NOTHING_OWNED, endpoints: [live] } };
  test.each<[string, ObservedOptions]>([
    ['what it must be is not known', { decidable: false }],
    ['it is beyond the limit', { isAdmitted: false }],
    ['the endpoints of the target are not known', { slices: undefined, isForeign: () => true }],
  ])('follows its gateway by endpoints that have no Service of ours, while %s (F3, L86)', (_, options) => {
    const { manifests } = decide(observed({ ...orphan, ...options }), claims());
    expect(subsetsOf(manifests)).toEqual([{ notReadyAddresses: gatewayIps, ports: gatewayPorts }]);
  });

  test.each([targetService(), headlessService()])(
    'follows its gateway though its name is lost, while the endpoints of the target are not known (F3, L86)',
    (target) => {
      const since = '2020-01-01T00:00:00Z';
      const other: Claim = { owner: { cluster: 'bar-west', key: 'shop/web' }, names: ['web-west'], since };
      const given = { service: target, slices: undefined, gateway: { alive: false }, owned };
      const manifests = manifestsOf(given, claims(['shop', other]));
      expect(manifests.refusals).toMatchObject([{ reason: 'NameConflict' }]);
      expect(subsetsOf(manifests)).toEqual([{ notReadyAddresses: gatewayIps, ports: gatewayPorts }]);
    },
  );

  const [web, pod] = ['web-west', 'web-0-west'].map((name) => ownedService(name)) as [Service, Service];
  const ports = [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }];
  const mirrored = { type: 'ClusterIP', ports };
  const added: Service = {
    metadata: { ...web.metadata, annotations: { note: 'x' } },
    spec: { clusterIP: '10.96.0.1', ports, selector: { app: 'own' }, externalIPs: ['192.0.2.1'] },
  };
  const exposed = { clusterIP: 'None', publishNotReadyAddresses: true, ports: [{ ...ports[0]!, nodePort: 30_080 }] };
  const KEPT: readonly (readonly [string, ObservedOptions])[] = [
    ['is not known yet, or whose deletion is held (E6)', { decidable: false }],
    ['is beyond the limit (E10)', { isAdmitted: false }],
  ];
  test.each(KEPT)('is freed from what others have added to lead requests elsewhere: one that %s (C3)', (_, options) => {
    const clean: Service = { ...pod, spec: { clusterIP: '10.96.0.2', ports } };
    const state = { owned: { ...NOTHING_OWNED, services: [added, clean] }, ...options };
    const { services } = decide(observed(state), claims()).manifests;
    const metadata = { name: 'web-west', namespace: 'shop', labels: web.metadata.labels, annotations: { note: 'x' } };
    expect(services.map(({ object }) => object)).toEqual([{ metadata, spec: mirrored }]);
  });

  it('stays headless, or not, whatever others have added (D3)', () => {
    const services = [{ ...web, spec: exposed }];
    const state = { owned: { ...NOTHING_OWNED, services }, isAdmitted: false };
    const freed = decide(observed(state), claims()).manifests.services.map(({ object }) => (object as Service).spec);
    expect(freed).toEqual([{ ...mirrored, clusterIP: 'None' }]);
  });

  it('is freed while the pods of the Service are not known, and written once (C3)', () => {
    const mirror = { ...web, spec: exposed };
    const ofPod = { ...pod, spec: { ...added.spec, ports } };
    const { services } = manifestsOf({
      service: headlessService(),
      slices: undefined,
      owned: { ...NOTHING_OWNED, services: [mirror, ofPod] },
    });
    expect(names(services)).toEqual(['web-0-west', 'web-west']);
  });

  it('is left alone where nothing may be written (A3)', () => {
    const state = { owned: { ...NOTHING_OWNED, services: [added] }, namespaceState: 'forbidden' } as const;
    expect(decide(observed(state), claims()).manifests.services).toEqual([]);
  });
});

describe('a ClusterIP mirror', () => {
  it('is its Endpoints first, which prove that nobody else has the name, then the Service too (A6)', () => {
    const first = manifestsOf({});
    expect([names(first.services), names(first.endpoints), first.isPartial]).toEqual([[], ['web-west'], true]);
    const endpoints = [ownedEndpoints('web-west', [])];
    const then = manifestsOf({ owned: { ...NOTHING_OWNED, endpoints } });
    expect([names(then.services), names(then.endpoints), then.isPartial]).toEqual([['web-west'], ['web-west'], false]);
    expect(then.services[0]?.endpointsProven).toBe(true);
    const last = manifestsOf({ owned: { ...there.owned, endpoints } });
    expect([names(last.services), names(last.endpoints), last.isPartial]).toEqual([['web-west'], ['web-west'], false]);
  });

  it('is the Service first where it has slices, which prove nothing of Endpoints', () => {
    const link = { endpointsKind: 'slices' } as const;
    const first = manifestsOf({ link });
    expect([names(first.services), names(first.endpoints)]).toEqual([['web-west'], []]);
    expect(first.services[0]?.endpointsProven).toBeUndefined();
    const then = manifestsOf({ ...there, link });
    expect([names(then.services), names(then.endpoints)]).toEqual([['web-west'], ['web-west-ipv4']]);
  });

  it("is nothing where somebody else's Service has its name (A6)", () => {
    const blocked = { services: [], endpoints: [], isBlocked: true, refusals: [{ reason: 'NameConflict' }] };
    const isForeign = (name: string) => name === 'web-west';
    expect(manifestsOf({ isForeign })).toMatchObject(blocked);
    const owned = { ...NOTHING_OWNED, endpoints: [ownedEndpoints('web-west', [])] };
    expect(manifestsOf({ isForeign, owned })).toMatchObject(blocked);
  });

  it('is compared without the version of the target Service that it was rendered from (B4)', () => {
    const [service] = manifestsOf(there).services;
    expect([...(service?.comparison?.ignoredAnnotations ?? [])]).toEqual(['mirror.linkerd.io/remote-resource-version']);
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
    const before = ownedEndpoints('web-west', [{ notReadyAddresses: [{ ip: '203.0.113.7' }], ports: gatewayPorts }]);
    const state = { owned: { ...there.owned, endpoints: [before] }, gateway: { alive: undefined, addresses: [] } };
    expect(subsetsOf(manifestsOf(state))).toEqual([
      { notReadyAddresses: [{ ip: '203.0.113.7' }], ports: gatewayPorts },
    ]);
  });

  test.each<[string, boolean, readonly string[]]>([
    ['not ready', false, ['203.0.113.1']],
    ['ready', true, ['203.0.113.1']],
  ])('stays %s in slices too before a verdict on the gateway, whatever its addresses (F2)', (_, ready, addresses) => {
    const slice = ownedSlice('web-west-ipv4', 'web-west', { addresses: ['203.0.113.7'], ready });
    const { endpoints } = manifestsOf({
      owned: { ...there.owned, slices: [slice] },
      gateway: { alive: undefined, addresses },
      link: { endpointsKind: 'slices' },
    });
    expect(endpoints.map(({ object }) => (object as EndpointSlice).endpoints)).toEqual([
      [{ addresses: ['203.0.113.1'], conditions: { ready } }],
    ]);
  });

  it('has no endpoints written while those of the target are not known', () => {
    expect(manifestsOf({ ...there, slices: undefined }).endpoints).toEqual([]);
  });

  it('follows the gateway while the endpoints of the target are not known (F3, G1)', () => {
    const before = ownedEndpoints('web-west', [
      { addresses: [{ ip: '203.0.113.7' }], ports: [{ name: 'a', port: 1 }] },
    ]);
    const owned = { ...there.owned, endpoints: [before] };
    expect(subsetsOf(manifestsOf({ owned, slices: undefined, gateway: { alive: false } }))).toEqual([
      { notReadyAddresses: gatewayIps, ports: [{ name: 'a', port: 4143, protocol: 'TCP' }] },
    ]);
    expect(manifestsOf({ owned, slices: undefined, mode: 'remote-discovery' }).endpoints).toEqual([]);
  });

  it('has the identity on its endpoints, or none', () => {
    const annotations = (options: ObservedOptions) =>
      manifestsOf({ ...there, ...options }).endpoints[0]?.object.metadata.annotations;
    expect(annotations({})).toMatchObject({
      'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local',
      'mirror.linkerd.io/remote-gateway-identity': 'gw.id',
    });
    expect(annotations({ gateway: { identity: undefined } })).not.toHaveProperty(
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
    const { services } = manifestsOf({ ...pods, ...all });
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

  it('says of endpoint mirrors that nobody is behind them while no pod is ready, whatever the gateway (C1)', () => {
    const slices = [targetSlice([{ hostname: 'web-0', ready: false }])];
    expect(subsetsOf(manifestsOf({ ...pods, ...all, slices }), 'web-0-west')).toBeUndefined();
  });

  test.each([
    ['is not there', [['web-west', 'None']]],
    [
      'has no ClusterIP yet',
      [
        ['web-west', 'None'],
        ['web-0-west', ''],
      ],
    ],
    [
      'is headless',
      [
        ['web-west', 'None'],
        ['web-0-west', 'None'],
      ],
    ],
  ] as [string, [string, string][]][])('leaves out a pod whose endpoint mirror %s', (_, services) => {
    expect(subsetsOf(manifestsOf({ ...pods, ...mirrors(...services) }))).toBeUndefined();
  });

  it('has nothing written to endpoints, and no endpoint mirrors, while those of the target are not known', () => {
    const { endpoints, services } = manifestsOf({ ...pods, ...all, slices: undefined });
    expect([names(endpoints), names(services)]).toEqual([[], ['web-west']]);
  });

  it('has endpoint mirrors that follow the gateway while the endpoints of the target are not known (F3, G1)', () => {
    const endpoints = [ownedEndpoints('web-0-west', [{ addresses: [{ ip: '203.0.113.7' }], ports: gatewayPorts }])];
    const owned = { ...all.owned, endpoints };
    const manifests = manifestsOf({ ...pods, owned, slices: undefined, gateway: { alive: false } });
    expect(subsetsOf(manifests, 'web-0-west')).toEqual([{ notReadyAddresses: gatewayIps, ports: gatewayPorts }]);
  });

  it('waits with each Service until its own Endpoints are there', () => {
    const endpoints = [ownedEndpoints('web-0-west', [])];
    const { services, isPartial, ...rest } = manifestsOf({ ...pods, owned: { ...NOTHING_OWNED, endpoints } });
    expect([names(services), isPartial]).toEqual([['web-0-west'], true]);
    expect(names(rest.endpoints)).toEqual(['web-0-west', 'web-1-west', 'web-west']);
  });

  it("mirrors the other pods where somebody else's Service has the name of one (A6)", () => {
    const isForeign = (name: string) => name === 'web-0-west';
    const { endpoints, isBlocked, refusals } = manifestsOf({ ...pods, isForeign });
    expect([names(endpoints), isBlocked]).toEqual([['web-1-west', 'web-west'], true]);
    expect(refusals).toMatchObject([{ message: expect.stringContaining('shop/web-0-west') as string }]);
  });

  it('gives a pod that lost its name to another a longer one, and says of a Service that it lost (A7)', () => {
    const since = '2020-01-01T00:00:00Z';
    const pod: Claim = { owner: { cluster: 'west', key: 'shop/web-0' }, names: ['web-0-west'], since };
    expect(names(manifestsOf(pods, claims(['shop', pod])).endpoints)).toEqual([
      'web-0-web-west',
      'web-1-west',
      'web-west',
    ]);
    const other: Claim = { owner: { cluster: 'bar-west', key: 'shop/web' }, names: ['web-west'], since };
    const message = expect.stringContaining('shop/web@bar-west has it') as string;
    expect(manifestsOf(pods, claims(['shop', other]))).toMatchObject({
      services: [],
      endpoints: [],
      refusals: [{ reason: 'NameConflict', message }],
    });
  });

  it('stands for pods whose hostnames begin with a digit, too (A4)', () => {
    const slices = [targetSlice([{ hostname: '0' }, { hostname: 'web-1' }])];
    const { endpoints, refusals } = manifestsOf({ ...pods, slices });
    expect(names(endpoints)).toEqual(['0-west', 'web-1-west', 'web-west']);
    expect(refusals).toEqual([]);
  });
});

describe('a pod that a construct refuses', () => {
  it('is reported, and the others are mirrored', () => {
    const dns = { ...targetSlice([{ hostname: 'web-2' }]), ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] };
    const { endpoints, refusals } = manifestsOf({
      service: headlessService(),
      slices: [targetSlice([{ hostname: 'web-1' }]), dns],
    });
    expect(names(endpoints)).toEqual(['web-1-west', 'web-west']);
    expect(refusals).toMatchObject([{ reason: 'InvalidService', message: expect.stringContaining('web-2') as string }]);
  });

  it('keeps its endpoint mirror, which follows the gateway (D6)', () => {
    const dns = { ...targetSlice([{ hostname: 'web-2' }]), ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] };
    const endpoints = [ownedEndpoints('web-2-west', [{ addresses: [{ ip: '203.0.113.9' }], ports: gatewayPorts }])];
    const manifests = manifestsOf({
      service: headlessService(),
      slices: [dns],
      gateway: { alive: false },
      owned: { ...mirrors(['web-2-west', '10.96.0.12']).owned, endpoints },
    });
    expect(names(manifests.services)).toEqual(['web-2-west']);
    expect(subsetsOf(manifests, 'web-2-west')).toEqual([{ notReadyAddresses: gatewayIps, ports: gatewayPorts }]);
  });
});

describe('while nothing can be decided', () => {
  it('only endpoints that lead to the gateway are written (E4)', () => {
    const endpoints = [ownedEndpoints('web-west', [{ addresses: [{ ip: '203.0.113.9' }], ports: gatewayPorts }])];
    const manifests = manifestsOf({ decidable: false, owned: { ...there.owned, endpoints } });
    expect(manifests).toMatchObject({ services: [], namespaces: [], refusals: [], isPartial: false });
    expect(subsetsOf(manifests)).toEqual([{ addresses: gatewayIps, ports: gatewayPorts }]);
  });
});

/** The pods of a headless ServiceImport that are reached through gateways (rules K3 to K5, E1, E10). */
import { withoutLabel } from '../mirror/observed.ts';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { decideImport } from '../../../operator/mcs/decide.ts';
import type { ObservedImport } from '../../../operator/mcs/observed.ts';
import { gonePods, readPods } from '../../../operator/mcs/pods.ts';
import {
  flat,
  NOTHING,
  observed,
  type Pod,
  podSlice,
  service,
  settled,
  type Standing,
  step,
  target,
  type TargetOptions,
} from './observed.ts';

const HEADLESS = service({ clusterIP: 'None' });

/** A cluster with pods behind its gateway. */
const west = (pods: readonly Pod[], options: TargetOptions = {}) =>
  target('west', { service: HEADLESS, slices: [podSlice(pods)], ...options });

const after = (given: ObservedImport): Standing => settled(given)[0];

const named = (...hostnames: readonly string[]): readonly Pod[] => hostnames.map((hostname) => ({ hostname }));

/** What DNS answers: hostname, address, readiness. */
const listed = ({ imported }: Standing) =>
  imported
    .filter(({ metadata }) => metadata.labels?.['multicluster.kubernetes.io/service-name'] === 'web')
    .flatMap(({ endpoints }) => endpoints ?? [])
    .map(({ hostname, addresses, conditions }) => [hostname, addresses[0], conditions?.ready] as const);

/** ClusterIPs of the Services of pods, by hostname. */
const addresses = ({ podServices }: Standing): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    podServices.map(({ metadata, spec }) => [metadata.labels?.['linkspan.dev/imported-pod'] ?? '', spec?.clusterIP]),
  );

/** Names that requests to a pod have, by hostname, with the gateway's addresses and their readiness. */
const gateways = ({ imported }: Standing): Readonly<Record<string, readonly unknown[]>> =>
  Object.fromEntries(
    imported
      .filter(({ metadata }) => metadata.labels?.['linkspan.dev/imported-pod'] !== undefined)
      .map(({ metadata, endpoints }) => [
        metadata.labels?.['linkspan.dev/imported-pod'] ?? '',
        [
          metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name'],
          ...(endpoints ?? []).flatMap((each) => [each.addresses[0], each.conditions?.ready]),
        ],
      ]),
  );

const statusOf = ({ live }: Standing) => live?.status;

describe('a headless ServiceImport behind a gateway (K3)', () => {
  test('has a Service for each pod, which leads to it by its hostname, or else to the Service', () => {
    const standing = after(observed([west([{ hostname: 'web-0' }, { address: '10.1.0.7' }])]));
    const ips = addresses(standing);
    expect(listed(standing)).toEqual([
      ['10-1-0-7', ips['10-1-0-7'], true],
      ['web-0', ips['web-0'], true],
    ]);
    expect(gateways(standing)).toEqual({
      '10-1-0-7': ['web.shop.svc.west.local', '203.0.113.23', true],
      'web-0': ['web-0.web.shop.svc.west.local', '203.0.113.23', true],
    });
    expect(standing.derived).toBeUndefined();
    expect(statusOf(standing)).toMatchObject({ endpointSliceObjects: 'Present' });
  });

  test('lists no pod before its Service has an address, and has no slices for a name that may be another’s', () => {
    const first = step(observed([west(named('web-0'))]));
    expect(first.actions.map(({ op, object }) => `${op} ${object.metadata.name.replace(/[0-9a-f]{8}$/, '')}`)).toEqual([
      'create clusterset-web-0-',
    ]);
    const { endpoints } = decideImport(observed([west(named('web-0'))])).manifests;
    expect(endpoints).toEqual([]);
  });

  test('has ports that pods listen on, whatever the port of the Service, so that SRV records are right (D6)', () => {
    const { podServices, imported } = after(observed([west(named('web-0'))]));
    expect(podServices[0]?.spec?.ports).toMatchObject([{ name: 'http', port: 8080, targetPort: 8080 }]);
    expect(imported.map(({ ports }) => ports?.[0]?.port).sort()).toEqual([4143, 8080]);
  });

  test('leaves out a port by which the Service would lead to another one of a pod without hostname', () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'admin', port: 8080, targetPort: 9090 },
    ];
    const both = [
      { name: 'http', port: 8080 },
      { name: 'admin', port: 9090 },
    ];
    const slices = [podSlice([{ hostname: 'web-0' }, { address: '10.1.0.7' }], both)];
    const { podServices } = after(observed([west([], { service: service({ clusterIP: 'None', ports }), slices })]));
    expect(podServices.map(({ spec }) => (spec?.ports ?? []).map(({ port }) => port))).toEqual([[9090], [8080, 9090]]);
  });

  test('has the families of the cluster', () => {
    const dual = after(observed([west(named('web-0'))], { families: ['IPv6', 'IPv4'] }));
    expect(dual.podServices[0]?.spec?.ipFamilies).toEqual(['IPv4']);
    const both = west(named('web-0'), { service: service({ clusterIP: 'None', ipFamilies: ['IPv4', 'IPv6'] }) });
    const standing = after(observed([both], { families: ['IPv6', 'IPv4'] }));
    expect(standing.podServices[0]?.spec?.clusterIPs).toHaveLength(2);
    expect(listed(standing)).toHaveLength(2);
    // A Service keeps the families that it has: the API server would refuse others.
    const single = after(observed([west(named('web-0'))], standing));
    expect(single.podServices).toEqual(standing.podServices);
  });

  test('says which pods are ready, and loses those that are gone, but not the addresses of the others', () => {
    const before = after(observed([west(named('web-0', 'web-1'))]));
    const later = west([{ hostname: 'web-1', ready: false }, { hostname: 'web-2' }]);
    const standing = after(observed([later], before));
    const ips = addresses(standing);
    expect(listed(standing)).toEqual([
      ['web-1', addresses(before)['web-1'], false],
      ['web-2', ips['web-2'], true],
    ]);
    expect(Object.keys(ips)).toEqual(['web-1', 'web-2']);
    expect(Object.keys(gateways(standing)).sort()).toEqual(['web-1', 'web-2']);
  });

  test('takes a pod from DNS before it takes its Service', () => {
    const before = after(observed([west(named('web-0', 'web-1'))]));
    const { actions } = step(observed([west(named('web-0'))], before));
    expect(actions.map(({ op, of }) => `${op} ${of.kind}`)).toEqual(['update EndpointSlice']);
  });

  test('follows the gateway and the readiness behind it (C1)', () => {
    const before = after(observed([west(named('web-0'))]));
    const gateway = { port: 4143, identity: 'gateway.west', addresses: ['203.0.113.99'], alive: false };
    expect(gateways(after(observed([west(named('web-0'), { gateway })], before)))).toEqual({
      'web-0': ['web-0.web.shop.svc.west.local', '203.0.113.99', false],
    });
    const unready = after(observed([west([{ hostname: 'web-0', ready: false }])], before));
    expect(gateways(unready)).toEqual({ 'web-0': ['web-0.web.shop.svc.west.local'] });
  });

  test('keeps its Services while the gateway has no address yet, and has none without a gateway', () => {
    const before = after(observed([west([{ hostname: 'web-0', ready: false }])]));
    const gateway = { port: 4143, identity: undefined, addresses: [], alive: undefined };
    const unresolved = after(observed([west(named('web-0'), { gateway })], before));
    expect({ ...unresolved, live: undefined }).toEqual({ ...before, live: undefined });
    expect(after(observed([west(named('web-0'), { gateway })])).podServices).toEqual([]);
    expect(after(observed([west(named('web-0'), { gateway: undefined })], before)).podServices).toEqual([]);
  });

  test('keeps the port and the identity of the gateway that its slices lead to before a name is resolved (L157)', () => {
    const before = after(observed([west(named('web-0'))]));
    const gateway = { port: 5143, identity: 'next.id', addresses: [], alive: undefined };
    expect(step(observed([west(named('web-0'), { gateway })], before)).actions).toEqual([]);
  });

  test('keeps slices of pods that have lost their label while the cluster is not known (A6)', () => {
    const before = after(observed([west(named('web-0', 'web-1'))]));
    const imported = before.imported.map((each) => withoutLabel(each, 'kubernetes.io/service-name'));
    const gone = west([], { isKnown: false, serviceExport: undefined, service: undefined, slices: undefined });
    expect(after(observed([gone], { ...before, imported })).imported).toEqual(before.imported);
  });

  test('changes its shape in both directions, and its type, and nothing of the former one is left', () => {
    const pods = [podSlice(named('web-0'))];
    const through = after(observed([west(named('web-0'))]));
    const direct = after(observed([flat('west', { service: HEADLESS, slices: pods })], through));
    expect(direct.podServices).toEqual([]);
    expect(listed(direct)).toEqual([['web-0', '10.1.0.9', true]]);
    const back = settled(observed([west(named('web-0'))], direct));
    expect(listed(back[0])).toEqual([['web-0', addresses(back[0])['web-0'], true]]);
    expect(back.every((each) => listed(each).length > 0)).toBe(true);
    const withAddress = after(observed([target('west')], back[0]));
    expect(withAddress.podServices).toEqual([]);
    expect(withAddress.imported.map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'])).toEqual([
      'web-clusterset',
    ]);
    const headless = after(observed([west(named('web-0'))], withAddress));
    expect(headless.derived).toBeUndefined();
    expect(headless.imported).toHaveLength(2);
  });

  test('keeps its Services and slices until the derived Service of another type has an address', () => {
    const before = after(observed([west(named('web-0'))]));
    const [derived] = decideImport(observed([target('west')], before)).manifests.services;
    expect(derived?.object.metadata.name).toBe('web-clusterset');
    const { manifests } = decideImport(observed([target('west')], before));
    expect(manifests.services.map(({ object }) => object)).toEqual(expect.arrayContaining([...before.podServices]));
    const byName = (slices: readonly KubeObject[]): readonly KubeObject[] =>
      slices.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    expect(byName(manifests.endpoints.map(({ object }) => object))).toEqual(byName(before.imported));
  });
});

describe('pods that are gone and keep their Services (D11, K3)', () => {
  const before = after(observed([west([...named('web-0', 'web-1'), { address: '10.1.0.7' }])]));
  const departed = new Map([['web-1', 1_000]]);

  test('are not ready in DNS, and lead to the gateway as ever, at the addresses that they had', () => {
    const standing = after(observed([west(named('web-0'), { departed })], before));
    const ips = addresses(before);
    expect(listed(standing)).toEqual([
      ['web-0', ips['web-0'], true],
      ['web-1', ips['web-1'], false],
    ]);
    expect(gateways(standing)['web-1']).toEqual(gateways(before)['web-1']);
    const back = after(observed([west(named('web-0', 'web-1'))], standing));
    expect(addresses(back)).toEqual(addresses(standing));
    expect(listed(back).map(([, , ready]) => ready)).toEqual([true, true]);
    expect(Object.keys(addresses(after(observed([west(named('web-0'))], standing))))).toEqual(['web-0']);
  });

  test('are those that have a hostname of their own: a pod without one never comes back', () => {
    const standing = { name: 'web', ...before };
    expect(gonePods(standing, west(named('web-0')))).toEqual(['web-1']);
    expect(gonePods(standing, west([]))).toEqual(['web-0', 'web-1']);
    expect(gonePods(standing, west([], { service: undefined, serviceExport: undefined }))).toEqual([]);
    expect(gonePods(standing, target('north', { service: HEADLESS, slices: [] }))).toEqual([]);
  });

  test('are not known while their slices or the cluster are not', () => {
    const standing = { name: 'web', ...before };
    expect(gonePods(standing, west([], { slices: undefined }))).toBeUndefined();
    expect(gonePods(standing, west([], { isKnown: false }))).toBeUndefined();
  });
});

describe('pods that are not known (K5)', () => {
  const before = after(observed([west(named('web-0'))]));

  test('stay, with their Services and slices', () => {
    for (const unknown of [
      west([], { slices: undefined }),
      west([], { isKnown: false, id: undefined, serviceExport: undefined, service: undefined, slices: undefined }),
      flat('west', { service: HEADLESS, slices: undefined }),
    ]) {
      const { imported, podServices } = after(observed([unknown], before));
      expect({ imported, podServices }).toEqual({ imported: before.imported, podServices: before.podServices });
    }
    expect(step(observed([], { ...before, isReadable: false })).actions).toEqual([]);
  });

  test('keep the ports that are imported, and are not in DNS without one', () => {
    const ports = [{ name: 'admin', port: 82, protocol: 'TCP' }];
    const standing = after(
      observed([west([], { service: service({ clusterIP: 'None', ports }), slices: undefined })], before),
    );
    expect(standing.podServices).toEqual(before.podServices);
    expect(listed(standing)).toEqual([]);
    expect(statusOf(standing)?.endpointSliceObjects).toBe('Absent');
  });

  test('stay as opaque as they are, and so do those of other clusters', () => {
    const opaque = { annotations: { 'config.linkerd.io/opaque-ports': '8080' } };
    const [mysql, north] = [service({ clusterIP: 'None' }, opaque), 'north'];
    const both = after(
      observed([west(named('web-0'), { service: mysql }), target(north, { service: mysql, slices: [] })]),
    );
    const unknown = target(north, { isKnown: false });
    const standing = after(observed([west(named('web-0', 'web-1'), { service: mysql }), unknown], both));
    expect(standing.podServices.map(({ metadata }) => metadata.annotations)).toEqual([
      opaque.annotations,
      opaque.annotations,
    ]);
  });

  test('follow their gateway all the same (C1)', () => {
    const gateway = { port: 4143, identity: 'gateway.west', addresses: ['203.0.113.99'], alive: false };
    const standing = after(observed([west([], { isKnown: false, gateway })], before));
    expect(gateways(standing)).toEqual({ 'web-0': ['web-0.web.shop.svc.west.local', '203.0.113.99', false] });
    expect(listed(standing)).toEqual(listed(before));
  });

  test('make their cluster one that the ServiceImport is made of, before it has a status and slices', () => {
    const first = step(observed([west(named('web-0'))])).after;
    const second = { ...NOTHING, podServices: first.podServices };
    const unknown = west([], { isKnown: false, id: undefined });
    expect(step(observed([unknown], second)).actions).toEqual([]);
  });

  test('go with their Link', () => {
    expect(after(observed([], before))).toEqual(NOTHING);
  });
});

test('a pod without a hostname is reached by a number that the Service has for another protocol as well (K3)', () => {
  const ports = [
    { name: 'tcp', port: 42, protocol: 'TCP' as const },
    { name: 'udp', port: 42, protocol: 'UDP' as const },
  ];
  const [pod] = readPods(service({ clusterIP: 'None', ports }), [podSlice([{ address: '10.1.0.7' }], ports)]);
  expect(pod?.ports.map(({ name }) => name)).toContain('tcp');
});

describe('pods that cannot all be imported', () => {
  test('are as many as the limit allows: those that are imported stay, and the status says so (E10)', () => {
    const before = after(observed([west(named('web-2'))]));
    const standing = after(observed([west(named('web-0', 'web-1', 'web-2'))], { ...before, maxPods: 2 }));
    expect(Object.keys(addresses(standing)).sort()).toEqual(['web-0', 'web-2']);
    expect(statusOf(standing)?.conditions).toMatchObject([
      {
        status: 'True',
        message: 'imported from id-west; 2 of 3 pods of west are imported (--max-endpoint-mirrors)',
      },
    ]);
    const lowered = after(observed([west(named('web-0', 'web-1', 'web-2'))], { ...standing, maxPods: 1 }));
    expect(Object.keys(addresses(lowered))).toHaveLength(2);
  });

  test('lack those whose name a foreign Service has, and no others; the status says so', () => {
    const isForeign = (name: string): boolean => name.startsWith('clusterset-web-0-');
    const given = observed([west(named('web-0', 'web-1'))], { isForeign });
    const standing = after(given);
    expect(listed(standing).map(([hostname]) => hostname)).toEqual(['web-1']);
    expect(decideImport({ ...given, ...standing }).manifests.isBlocked).toBe(true);
    expect(statusOf(standing)?.conditions?.[0]).toMatchObject({
      status: 'True',
      message: expect.stringMatching(
        /^imported from id-west; pod web-0 of west is left out: Service shop\/clusterset-web-0-[0-9a-f]{8} exists/,
      ) as unknown,
    });
  });
});

describe('pods in the slices of a target, which is not trusted (E1)', () => {
  const hostnames = (pods: readonly Pod[], of = HEADLESS) =>
    readPods(of, [podSlice(pods)]).map(({ hostname, address }) => hostname ?? address);

  test('have hostnames that DNS can have, each once, and addresses that are some', () => {
    const long = 'w'.repeat(64);
    expect(hostnames([...named('Web', 'a.b', long, 'web-0', 'web-0'), { hostname: '' }])).toEqual([
      '10.1.0.9',
      'web-0',
    ]);
    expect(hostnames([{ address: 'evil.example.com' }, { address: '::1' }, { address: '10.1.0.7' }])).toEqual([
      '10.1.0.7',
    ]);
    expect(hostnames([{ address: '10.1.0.7' }, { hostname: '10-1-0-7' }])).toEqual(['10-1-0-7']);
    const fqdn = { ...podSlice(named('web-0')), addressType: 'FQDN' as const };
    expect(readPods(HEADLESS, [fqdn])).toEqual([]);
  });

  test('are ready if one of several endpoints of a hostname is, or if the Service publishes all', () => {
    const [pod] = readPods(HEADLESS, [
      podSlice([{ hostname: 'web-0', ready: false }]),
      podSlice([{ hostname: 'web-0', address: 'fd00::9' }]),
    ]);
    expect(pod?.ready).toBe(true);
    const all = service({ clusterIP: 'None', publishNotReadyAddresses: true });
    expect(readPods(all, [podSlice([{ hostname: 'web-0', ready: false }])])[0]?.ready).toBe(true);
  });

  test('count once in a Service of two families, also without a hostname', () => {
    const dual = service({ clusterIP: 'None', ipFamilies: ['IPv6', 'IPv4'] });
    const slices = [
      podSlice([{ address: '10.1.0.7' }]),
      { ...podSlice([{ address: 'fd00::7' }]), addressType: 'IPv6' as const },
    ];
    expect(readPods(dual, slices).map(({ address }) => address)).toEqual(['fd00::7']);
  });

  test('do not keep others from being imported: ports that nobody can have are left out', () => {
    const slices = [
      podSlice(named('web-0'), [
        { name: 'http', port: 0 },
        { name: 'http', port: 70_000 },
      ]),
      podSlice(named('web-1'), [
        { name: 'http', port: 8080, appProtocol: 'a b' },
        { name: 'http', port: 8081 },
      ]),
    ];
    const standing = after(observed([west([], { slices })]));
    expect(listed(standing).map(([hostname]) => hostname)).toEqual(['web-1']);
  });
});

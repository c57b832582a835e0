/** What a ServiceImport is in one situation, and what it and the exports report (rules K1 to K5). */
import { withoutLabel } from '../mirror/observed.ts';
import { describe, expect, test } from 'vitest';
import { clusterIds } from '../../../operator/mcs/cluster-ids.ts';
import { decideImport } from '../../../operator/mcs/decide.ts';
import type { EndpointSlice, Service } from '../../../operator/kube/objects.ts';
import { readServiceImport, type ServiceImport } from '../../../operator/mcs/objects.ts';
import type { ObservedImport } from '../../../operator/mcs/observed.ts';
import { exportStatus, importStatus } from '../../../operator/mcs/status.ts';
import { readServiceExport, type ServiceExport } from '../../../operator/target/read/mcs-objects.ts';
import {
  addressOf,
  flat,
  local,
  NOTHING,
  NOW,
  observed,
  ownSlice,
  service,
  serviceExport,
  settled,
  step,
  target,
  type TargetOptions,
} from './observed.ts';

const OLD = serviceExport('2025-01-01T00:00:00Z');

const after = (given: ObservedImport) => settled(given)[0];

/** The status of the ServiceImport, at rest. */
const statusOf = (given: ObservedImport) => after(given).live?.status;

/** By type, status and reason of the conditions of the local export. */
const conditionsOf = (given: ObservedImport) =>
  (exportStatus(decideImport(given), given.local.serviceExport!, NOW)?.conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  );

const exporting = (options: object = {}) => local({ serviceExport: serviceExport(), service: service(), ...options });

describe('an export (K1)', () => {
  test('is valid and ready if it has a Service, and names the clusters that it was compared with', () => {
    const given = observed([target('west'), target('north', { isKnown: false })], { local: exporting() });
    expect(conditionsOf(given)).toEqual(['Valid=True Valid', 'Ready=True Ready', 'Conflict=False NoConflicts']);
    const [, , conflict] = exportStatus(decideImport(given), given.local.serviceExport!, NOW)!.conditions;
    expect(conflict?.message).toBe('compared: id-here, id-west; not known: id-north');
  });

  test.each([
    [undefined, 'NoService'],
    [service({ type: 'ExternalName' }), 'InvalidServiceType'],
    [service({}, { labels: { 'mirror.linkerd.io/mirrored-service': 'true' } }), 'InvalidServiceType'],
    [service({}, { labels: { 'linkspan.dev/service-import': 'web' } }), 'InvalidServiceType'],
    [service({ ports: [] }), 'InvalidService'],
    [service({ ports: [{ name: 'a b', port: 80 }] }), 'InvalidService'],
    [service({ ports: Array.from({ length: 101 }, (_, i) => ({ name: `p${i}`, port: i + 1 })) }), 'InvalidService'],
  ])('of no Service that can be exported is not valid, and imports nothing: %#', (of, reason) => {
    const given = observed([], { local: exporting({ service: of }) });
    expect(conditionsOf(given)).toEqual([`Valid=False ${reason}`, 'Ready=False Pending', 'Conflict=False NoConflicts']);
    expect(after(given)).toEqual(NOTHING);
  });

  test('of another cluster that sends what nobody can have does not keep others from being imported (E1)', () => {
    const ports = [{ name: 'a b', port: 80 }];
    const spec = { exportedLabels: { ok: 'yes', 'a b': 'x', long: 'x'.repeat(64), number: 7 as unknown as string } };
    const hostile = target('evil', {
      serviceExport: serviceExport('1970-01-01T00:00:00Z', spec),
      service: service({ ports }),
    });
    expect(statusOf(observed([hostile, target('west')]))?.clusters).toEqual([{ cluster: 'id-west' }]);
    const oldest = target('evil', { serviceExport: serviceExport('1970-01-01T00:00:00Z', spec) });
    expect(after(observed([oldest])).live?.metadata.labels).toEqual({
      ok: 'yes',
      'linkspan.dev/service-import': 'web',
    });
    const slices = [{ ...ownSlice('not an address'), metadata: { name: 'x', namespace: 'shop' } }];
    const { imported, live } = after(observed([flat('evil', { slices }), flat('west')]));
    const [port] = ownSlice().ports!;
    const twice = [{ ...ownSlice(), ports: [port!, { ...port!, port: 8081 }] }];
    const ofTwo = after(observed([flat('evil', { slices: twice }), flat('west')])).imported;
    expect(ofTwo.map(({ metadata }) => metadata.labels?.['linkspan.dev/imported-from'])).toEqual(['west']);
    expect(imported.map(({ metadata }) => metadata.labels?.['linkspan.dev/imported-from'])).toEqual(['west']);
    expect(live?.status?.clusters).toHaveLength(2);
  });

  test.each(['x', '漢'])(
    'has no more annotations than an API server accepts beside ours: of %s (L160, E1)',
    (letter) => {
      const entries = Array.from({ length: 64 }, (_, index) => [`k${index + 10}`, letter.repeat(4_096)]);
      const spec = { exportedAnnotations: Object.fromEntries(entries) as Readonly<Record<string, string>> };
      const { live } = after(
        observed([target('west', { serviceExport: serviceExport('2026-01-01T00:00:00Z', spec) })]),
      );
      const annotations = Object.entries(live?.metadata.annotations ?? {})
        .flat()
        .join('');
      expect(Buffer.byteLength(annotations)).toBeLessThan(240 * 1024);
      expect(Buffer.byteLength(annotations)).toBeGreaterThan(200 * 1024);
    },
  );

  test('whose time cannot be read is the youngest', () => {
    const timeless = target('a', { serviceExport: serviceExport('soon'), service: service({ clusterIP: 'None' }) });
    expect(after(observed([timeless, target('west')])).live?.spec?.type).toBe('ClusterSetIP');
  });

  test('keeps the conditions of others, and the time of what has not changed', () => {
    const before = {
      type: 'Valid',
      status: 'True',
      reason: 'Valid',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const other = { ...before, type: 'example.com/Audited' };
    const given = { ...serviceExport(), status: { conditions: [other, before] } };
    const { conditions } = exportStatus(decideImport(observed([], { local: exporting() })), given, NOW)!;
    expect(conditions.slice(0, 2)).toEqual([other, { ...before, observedGeneration: 1 }]);
  });
});

describe('conflicts (K2)', () => {
  const against = (spec: object, options: object = {}) =>
    observed([target('west', { serviceExport: OLD, service: service(spec), ...options })], { local: exporting() });

  test.each([
    ['PortConflict', { ports: [{ name: 'http', port: 81, protocol: 'TCP' }] }],
    ['PortConflict', { ports: [{ name: 'http', port: 80, appProtocol: 'kubernetes.io/h2c' }] }],
    ['TypeConflict', { clusterIP: 'None' }],
    ['SessionAffinityConflict', { sessionAffinity: 'ClientIP' }],
    ['InternalTrafficPolicyConflict', { internalTrafficPolicy: 'Local' }],
    ['TrafficDistributionConflict', { trafficDistribution: 'PreferClose' }],
    ['IPFamilyConflict', { ipFamilies: ['IPv6', 'IPv4'] }],
  ])('are reported: %s', (reason, spec) => {
    expect(conditionsOf(against(spec)).at(-1)).toBe(`Conflict=True ${reason}`);
  });

  test('are reported for metadata, and for how long sessions last', () => {
    const metadata = {
      serviceExport: serviceExport('2025-01-01T00:00:00Z', {
        exportedLabels: { a: 'b' },
        exportedAnnotations: { a: 'b' },
      }),
    };
    expect(conditionsOf(against({}, metadata)).at(-1)).toBe('Conflict=True LabelsConflict,AnnotationsConflict');
    const sticky = (timeoutSeconds?: number) =>
      service({
        sessionAffinity: 'ClientIP',
        ...(timeoutSeconds && { sessionAffinityConfig: { clientIP: { timeoutSeconds } } }),
      });
    const seconds = (timeoutSeconds: number) =>
      observed([target('west', { service: sticky(timeoutSeconds) })], { local: exporting({ service: sticky() }) });
    expect(conditionsOf(seconds(10)).at(-1)).toBe('Conflict=True SessionAffinityConfigConflict');
    expect(conditionsOf(seconds(10_800)).at(-1)).toBe('Conflict=False NoConflicts');
  });

  test('name what is used, whose it is, and who disagrees', () => {
    const given = against({ clusterIP: 'None' });
    const [, , conflict] = exportStatus(decideImport(given), given.local.serviceExport!, NOW)!.conditions;
    expect(conflict?.message).toBe(
      'Conflicting type: using "Headless" of the oldest export, in id-west; id-here disagrees. (compared: id-here, id-west)',
    );
  });

  test('are decided alike in every cluster: of two exports of one age that of the first cluster by id', () => {
    const sticky = (cluster: string) => target(cluster, { service: service({ sessionAffinity: 'ClientIP' }) });
    expect(after(observed([target('a'), sticky('b')])).live?.spec?.sessionAffinity).toBe('None');
    expect(after(observed([sticky('a'), target('b')])).live?.spec?.sessionAffinity).toBe('ClientIP');
  });
});

describe('a ServiceImport (K2, K3)', () => {
  test('has the address of its derived Service, the union of ports, and the clusters that it is made of', () => {
    const other = service({ ports: [{ name: 'admin', port: 81, protocol: 'TCP' }] });
    const { live, derived, imported } = after(observed([target('west')], { local: exporting({ service: other }) }));
    expect(live?.spec).toMatchObject({ ips: [derived?.spec?.clusterIP], ipFamilies: ['IPv4'] });
    expect(live?.spec?.ports.map(({ name }) => name)).toEqual(['admin', 'http']);
    expect(live?.status).toMatchObject({
      clusters: [{ cluster: 'id-here' }, { cluster: 'id-west' }],
      endpointSliceObjects: 'Present',
      conditions: [{ type: 'Ready', status: 'True', reason: 'Ready' }],
    });
    expect(imported.map(({ ports }) => ports?.map(({ name }) => name))).toEqual([[], ['http']]);
  });

  test('keeps its address when its derived Service is deleted by hand, unless another has taken it', () => {
    const before = after(observed([target('west')]));
    const lost = { ...before, derived: undefined };
    expect(after(observed([target('west')], lost)).live?.spec?.ips).toEqual(before.live?.spec?.ips);
    const families = { service: service({ ipFamilies: ['IPv6', 'IPv4'] }) };
    expect(
      after(observed([target('west', families)], { ...lost, families: ['IPv6', 'IPv4'] })).derived?.spec?.clusterIP,
    ).toBe(before.derived?.spec?.clusterIP);
    const { after: next } = step(observed([target('west')], { ...lost, isAddressTaken: true }));
    expect(next.derived?.spec?.clusterIP).not.toBe(before.derived?.spec?.clusterIP);
    expect(next.live?.spec).toEqual(before.live?.spec);
  });

  test('is not there in a cluster without the namespace', () => {
    expect(after(observed([target('west')], { namespaceState: 'missing' }))).toEqual(NOTHING);
  });

  test('stays in a namespace that seems to be gone: it may be back', () => {
    const before = after(observed([target('west')]));
    expect(step(observed([target('west')], { ...before, namespaceState: 'missing' })).actions).toEqual([]);
  });

  test('that is not ours is left alone, and so is a Service with the name of the derived one', () => {
    const theirs = { metadata: { name: 'web', namespace: 'shop' }, spec: { type: 'Headless' as const, ports: [] } };
    expect(after(observed([target('west')], { live: theirs }))).toEqual({ ...NOTHING, live: theirs });
    const derived = service({}, { name: 'web-clusterset' });
    const blocked = observed([target('west')], { derived });
    expect(decideImport(blocked).manifests).toMatchObject({ isBlocked: true, services: [] });
    expect(after(blocked).derived).toBe(derived);
    expect(statusOf(blocked)?.conditions).toMatchObject([{ status: 'False', reason: 'Pending' }]);
  });

  test('that somebody takes the label from is left alone, and its slices follow the gateway (C1, L240)', () => {
    const of = { service: service({ clusterIP: 'None' }), slices: [ownSlice('10.2.0.1', 'web-1')] };
    for (const options of [{}, of]) {
      const before = after(observed([target('west', options)]));
      const live = { ...before.live!, metadata: { ...before.live!.metadata, labels: {} } };
      const { gateway } = target('west');
      const dead = target('west', { ...options, gateway: { ...gateway!, alive: false } });
      const now = after(observed([dead], { ...before, live }));
      expect(now.live).toBe(live);
      expect([now.derived, now.podServices]).toEqual([before.derived, before.podServices]);
      const leading = now.imported.filter(({ endpoints }) => endpoints?.[0]?.addresses[0] === addressOf('west'));
      expect(leading.map(({ endpoints }) => endpoints?.map(({ conditions }) => conditions?.ready))).toEqual([[false]]);
    }
  });

  test('makes the slices of a cluster that leaves not ready if its gateway is dead, and deletes them then (F3, L260)', () => {
    const before = after(observed([target('west'), target('north')]));
    const { gateway } = target('west');
    const readiness = (alive: boolean) => {
      const leaving = target('west', { serviceExport: undefined, gateway: { ...gateway!, alive } });
      const history = settled(observed([leaving, target('north')], before));
      return history.toReversed().map(({ imported }) => {
        const of = imported.find(({ endpoints }) => endpoints?.[0]?.addresses[0] === addressOf('west'));
        return of?.endpoints?.[0]?.conditions?.ready;
      });
    };
    // The deletion may have to wait for a slice of another cluster that cannot be written.
    expect(readiness(false)).toEqual([true, true, false, undefined, undefined]);
    expect(readiness(true)).not.toContain(false);
  });

  test('needs a family of IP addresses that the cluster has, unless requests go through gateways', () => {
    const of = { service: service({ ipFamilies: ['IPv6'] }) };
    expect(after(observed([target('west', of)])).live?.spec).toMatchObject({ ipFamilies: ['IPv4'] });
    const { live, derived, imported } = after(observed([flat('west', of)]));
    expect(live?.status?.conditions).toMatchObject([{ status: 'False', reason: 'IPFamilyNotSupported' }]);
    expect({ derived, imported }).toEqual({ derived: undefined, imported: [] });
  });

  test('goes from a flat network to gateways without a time in which Linkerd finds no endpoints', () => {
    const before = after(observed([flat('west')]));
    const history = settled(observed([target('west')], before));
    const isServed = ({ derived, imported }: (typeof history)[number]): boolean =>
      derived?.metadata.annotations?.['multicluster.linkerd.io/remote-discovery'] === 'web@west' ||
      imported.some(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web-clusterset');
    expect(history.every(isServed)).toBe(true);
    expect(history[0].derived?.metadata.annotations).toEqual({ 'linkspan.dev/operator': 'linkerd-multicluster' });
    expect(history[0].derived?.spec?.clusterIP).toBe(before.derived?.spec?.clusterIP);
  });

  test('of a flat network that becomes headless loses its derived Service', () => {
    const before = after(observed([flat('west')]));
    const headless = local({ serviceExport: OLD, service: service({ clusterIP: 'None' }) });
    expect(after(observed([], { ...before, local: headless })).derived).toBeUndefined();
  });

  test('follows the gateway, and is not imported beyond the limit of the Link (E10)', () => {
    const dead = target('west', {
      gateway: { port: 4143, identity: undefined, addresses: ['203.0.113.9'], alive: false },
    });
    expect(after(observed([dead])).imported[0]?.endpoints).toMatchObject([{ conditions: { ready: false } }]);
    expect(after(observed([target('west', { isAdmitted: false })]))).toEqual(NOTHING);
  });

  test.each([
    ['flat networks', flat, service()],
    ['gateways', target, service({ clusterIP: 'None' })],
    ['gateways, with an address', target, service()],
  ])('that somebody deletes keeps nothing of a cluster that has left: of %s (L92)', (_, of, exported) => {
    const both = ['west', 'bar'].map((cluster) => of(cluster, { service: exported }));
    const before = { ...after(observed(both)), live: undefined };
    const unread = of('west', { isKnown: false, serviceExport: undefined, service: undefined, slices: undefined });
    const gone = of('bar', { serviceExport: undefined, service: undefined });
    const { live, derived, imported, podServices } = after(observed([unread, gone], before));
    const clusters = [...imported, ...podServices].map(
      ({ metadata }) => metadata.labels?.['linkspan.dev/imported-from'],
    );
    const discovered = derived?.metadata.annotations?.['multicluster.linkerd.io/remote-discovery'];
    expect({ live, clusters: new Set(clusters), discovered }).toEqual({
      live: undefined,
      clusters: new Set(['west']),
      discovered: before.derived?.metadata.annotations?.['multicluster.linkerd.io/remote-discovery'] && 'web@west',
    });
    expect(derived?.spec?.clusterIP).toBe(before.derived?.spec?.clusterIP);
  });

  test.each<[string, TargetOptions, boolean]>([
    ['has none', { isDiscoverable: false }, true],
    ['has none, and its pods are not known', { isDiscoverable: false, slices: undefined }, true],
    ['has some', { isDiscoverable: true }, false],
    ['may have some', {}, false],
    ['needs none for a headless Service', { isDiscoverable: false, service: service({ clusterIP: 'None' }) }, false],
  ])(
    'says of which cluster on a flat network Linkerd lacks credentials: it %s (K3, I4, L244)',
    (_, options, isSaid) => {
      const ready = statusOf(observed([flat('west', options)]))?.conditions?.[0];
      expect(ready?.status).toBe('True');
      expect(ready?.message?.includes("nothing leads to west: Linkerd's control plane has no credentials")).toBe(
        isSaid,
      );
    },
  );

  describe('says which cluster nothing leads to, beside others (K3, L168)', () => {
    const gateway = { port: 4143, identity: undefined, addresses: [], alive: undefined };
    const NONE = 'nothing leads to west: its Link has no gatewayAddress; set spec.gatewayAddress';
    const NO_ADDRESS = 'nothing leads to west yet: the host name in gatewayAddress of its Link has no IP address';
    test.each<[string, TargetOptions, Service, string | undefined]>([
      ['no gateway', { gateway: undefined }, service(), NONE],
      ['a gateway without an address', { gateway }, service(), NO_ADDRESS],
      ['no gateway to its pods', { gateway: undefined }, service({ clusterIP: 'None' }), NONE],
      ['a gateway to its pods without an address', { gateway }, service({ clusterIP: 'None' }), NO_ADDRESS],
      ['a gateway', {}, service(), undefined],
      ['a gateway to its pods', {}, service({ clusterIP: 'None' }), undefined],
    ])('%s', (_, options, exported, note) => {
      const slices = [ownSlice('10.1.0.7', 'web-0')];
      const both = [
        target('bar', { service: exported, slices }),
        target('west', { service: exported, slices, ...options }),
      ];
      const { live } = after(observed(both));
      const imported = 'imported from id-bar, id-west';
      expect(live?.status?.conditions).toMatchObject([
        { status: 'True', message: note === undefined ? imported : `${imported}; ${note}` },
      ]);
    });

    test.each([
      ['known', {}],
      ['not known', { isKnown: false }],
    ])('and no longer while the slices from before have an address, if the exports are %s (L292)', (_, known) => {
      const before = after(observed([target('west')]));
      const { live } = after(observed([target('west', { gateway, ...known })], before));
      expect(live?.status?.conditions).toMatchObject([{ message: 'imported from id-west' }]);
    });
  });

  describe('before the first verdict on a gateway that was dead (C1)', () => {
    const gateway = { port: 4143, identity: undefined, addresses: ['203.0.113.9'], alive: undefined, wasAlive: false };
    const readinessOf = ({ imported }: Pick<ObservedImport, 'imported'>) =>
      Object.fromEntries(
        imported.map(({ metadata, endpoints }) => [
          metadata.name,
          endpoints?.map(({ conditions }) => conditions?.ready),
        ]),
      );

    test.each([
      ['is known', {}],
      ['is not known, once the derived Service is deleted by hand', { isKnown: false }],
    ])('is not ready by copies of the slices of a flat network, while the target %s (L90)', (_, known) => {
      const before = { ...after(observed([flat('west')])), derived: undefined };
      expect(readinessOf(after(observed([target('west', { gateway, ...known })], before)))).toEqual({
        'web-clusterset.from-west-ipv4': [false],
      });
    });

    test.each([
      ['is known', gateway.addresses],
      ['is yet to be found', []],
    ])(
      'does not take the Services of its pods for the gateway when it comes to have an address, and that %s (L99)',
      (_, addresses) => {
        const slices = [ownSlice('10.1.0.7', 'web-0')];
        const before = after(observed([target('west', { service: service({ clusterIP: 'None' }), slices, gateway })]));
        const west = target('west', { gateway: { ...gateway, addresses }, slices });
        const { live, imported } = after(observed([west], before));
        expect(live?.spec?.type).toBe('ClusterSetIP');
        expect(imported.flatMap(({ endpoints = [] }) => endpoints)).toEqual(
          addresses.map((address) => ({ addresses: [address], conditions: { ready: false } })),
        );
      },
    );

    test('is not ready by the slices of another cluster, whatever their labels say (L91)', () => {
      const both = { local: exporting() };
      const before = after(observed([], both));
      const imported = before.imported.map((each) => ({
        ...each,
        metadata: { ...each.metadata, labels: { ...each.metadata.labels, 'linkspan.dev/imported-from': 'west' } },
      }));
      expect(readinessOf(after(observed([target('west', { gateway })], { ...before, imported, ...both })))).toEqual({
        'web-clusterset.from-west-ipv4': [false],
        'web-clusterset.local.web-abc12': [true],
      });
    });
  });

  test('stays as it is beyond the bytes of its Link, and what is new is not imported (E10)', () => {
    const grown = service({ ports: [{ name: 'more', port: 81, protocol: 'TCP' }] });
    const large = target('west', { isWithinBytes: false, service: grown });
    expect(after(observed([large]))).toEqual(NOTHING);
    const before = after(observed([target('west')]));
    expect(after(observed([large], before))).toEqual(before);
  });
});

describe('a headless ServiceImport (K3, K4)', () => {
  const headless = service({ clusterIP: 'None' });

  test('has no address and no derived Service, but slices of its own pods, by hostname', () => {
    const own = exporting({ service: headless, slices: [ownSlice('10.1.0.1', 'web-7')] });
    const { live, derived, imported } = after(observed([], { local: own }));
    expect(live?.spec).toEqual({
      type: 'Headless',
      ports: live?.spec?.ports,
      ipFamilies: ['IPv4'],
      sessionAffinity: 'None',
    });
    expect(derived).toBeUndefined();
    expect(
      imported.map(({ endpoints }) => endpoints?.map(({ addresses, hostname }) => [addresses[0], hostname])),
    ).toEqual([[['10.1.0.1', 'web-7']]]);
  });

  test('has no slices of what had an address, nor the other way round, while pods are not known', () => {
    const withAddress = after(observed([target('west')]));
    const unread = target('west', { service: headless, slices: undefined });
    expect(after(observed([unread], withAddress)).imported).toEqual([]);
    const pods = flat('west', { service: headless, slices: [ownSlice('10.2.0.1', 'web-1')] });
    const unknown = flat('west', { slices: undefined });
    expect(after(observed([unknown], after(observed([pods])))).imported).toEqual([]);
  });

  test('that comes to have an address follows the gateway of its pods until it has it (F3, L97)', () => {
    const gateway = { port: 4143, identity: undefined, addresses: ['203.0.113.9'], alive: true };
    const slices = [ownSlice('10.2.0.1', 'web-1')];
    const before = after(observed([target('west', { service: headless, slices, gateway })]));
    const dead = target('west', { slices, gateway: { ...gateway, alive: false } });
    const { manifests } = decideImport(observed([dead], before));
    const ready = manifests.endpoints.map(({ object }) => [
      object.metadata.labels?.['linkspan.dev/imported-pod'],
      (object as EndpointSlice).endpoints?.map(({ conditions }) => conditions?.ready),
    ]);
    expect(ready).toEqual(expect.arrayContaining([['web-1', [false]]]));
  });

  test('has the pods of a flat network', () => {
    const { imported } = after(
      observed([flat('west', { service: headless, slices: [ownSlice('10.2.0.1', 'web-1')] })]),
    );
    expect(imported[0]?.endpoints).toMatchObject([{ addresses: ['10.2.0.1'], hostname: 'web-1' }]);
    expect(imported[0]?.endpoints?.[0]).not.toHaveProperty('targetRef');
  });
});

describe('what is not known (K5)', () => {
  test('of a cluster that may yet export keeps the ServiceImport and its address, without clusters (L81)', () => {
    for (const first of [target('west'), flat('west')]) {
      const before = after(observed([first]));
      const unread = target('far', { id: undefined, isKnown: false, serviceExport: undefined, service: undefined });
      const kept = after(observed([{ ...unread, mayExport: true }], before));
      expect(kept.live?.spec).toEqual(before.live?.spec);
      expect(kept.derived?.spec?.clusterIPs).toEqual(before.derived?.spec?.clusterIPs);
      expect(kept.derived?.metadata.annotations).toEqual({ 'linkspan.dev/operator': 'linkerd-multicluster' });
      expect(kept.imported).toEqual([]);
      expect(kept.live?.status?.clusters).toEqual([]);
      expect(kept.live?.status?.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'Pending' }]);
      expect(after(observed([unread], kept))).toEqual(NOTHING);
      const back = after(observed([target('far', { mode: first.mode })], kept));
      expect(back.live?.spec?.ips).toEqual(before.live?.spec?.ips);
      expect(back.live?.status?.clusters).toEqual([{ cluster: 'id-far' }]);
    }
    expect(after(observed([target('far', { isKnown: false, serviceExport: undefined, mayExport: true })]))).toEqual(
      NOTHING,
    );
  });

  test('of a target that is called as the cluster itself is keeps nothing of the latter (K2)', () => {
    const shadow = target('here', { id: undefined, isKnown: true });
    const own = exporting({ id: 'here' });
    const before = after(observed([shadow], { local: own }));
    expect(before.live?.status?.clusters).toEqual([{ cluster: 'here' }]);
    expect(before.imported).toHaveLength(1);
    expect(after(observed([shadow], { ...before, local: own }))).toEqual(before);
    for (const of of [{}, { serviceExport: undefined }, { isKnown: false, mayExport: true }])
      expect(after(observed([{ ...shadow, ...of }], { ...before, local: local({ id: 'here' }) }))).toEqual(NOTHING);
  });

  const before = after(observed([target('west'), target('north')]));

  test('costs no ServiceImport while ServiceImports cannot be read, or the namespace may not', () => {
    expect(step(observed([], { ...before, isReadable: false })).actions).toEqual([]);
    expect(step(observed([], { ...before, namespaceState: 'unreadable' })).actions).toEqual([]);
    expect(
      importStatus(decideImport(observed([], { ...before, isReadable: false })), before.live!, NOW),
    ).toBeUndefined();
  });

  test('stays: a target that cannot be read keeps its slices, and ports and fields are as they were', () => {
    const gone = target('west', { isKnown: false, id: undefined, serviceExport: undefined, service: undefined });
    const changed = target('north', { service: service({ sessionAffinity: 'ClientIP' }) });
    const now = after(observed([gone, changed], before));
    expect(now.live?.spec).toEqual(before.live?.spec);
    expect(now.live?.status?.clusters).toEqual([{ cluster: 'id-north' }, { cluster: 'id-west' }]);
    expect(now.imported).toEqual(before.imported);
  });

  test.each([undefined, 'id-other'])(
    'stays of a cluster with no object here whose id has yet to be read, or is another by now: %s (L134)',
    (id) => {
      const uid = (of: string, createdAt: string) => ({
        ...serviceExport(createdAt),
        metadata: { ...serviceExport(createdAt).metadata, uid: of },
      });
      const east = target('east', {
        service: service({ clusterIP: 'None' }),
        slices: [],
        serviceExport: uid('e', '2025-06-01T00:00:00Z'),
      });
      const west = target('west', { serviceExport: uid('w', '2026-02-01T00:00:00Z') });
      const had = after(observed([east, west]));
      expect([had.imported, had.podServices]).toEqual([[], []]);
      expect(had.live?.status?.clusters).toEqual([{ cluster: 'id-east' }]);
      const unread = { ...east, id, isKnown: false, serviceExport: undefined, service: undefined, slices: undefined };
      const kept = after(observed([unread, west], { ...had, isSettled: true }));
      expect(kept.live?.spec).toEqual(had.live?.spec);
      expect(after(observed([east, west], { ...kept, isSettled: true }))).toEqual(had);
      const own = exporting({ service: service({ clusterIP: 'None' }), slices: [] });
      const ofOwn = after(observed([west], { local: own }));
      const unreadOwn = local({ id: undefined, isKnown: false, slices: undefined });
      const keptOwn = after(observed([west], { ...ofOwn, local: unreadOwn, isSettled: true }));
      expect(keptOwn.live?.spec).toEqual(ofOwn.live?.spec);
    },
  );

  test('keeps slices that have lost their label, which they get back (A6)', () => {
    const imported = before.imported.map((each) => withoutLabel(each, 'kubernetes.io/service-name'));
    const gone = target('west', { isKnown: false, serviceExport: undefined, service: undefined });
    expect(after(observed([gone, target('north')], { ...before, imported })).imported).toEqual(before.imported);
  });

  test.each<[string, TargetOptions]>([
    ['headless', { service: service({ clusterIP: 'None' }), slices: [ownSlice('10.2.0.1', 'web-0')] }],
    ['with an address, whose derived Service somebody deletes', {}],
  ])('of a cluster on a flat network without a session takes no other out: %s (K5, L246)', (_, of) => {
    const there = { ...after(observed([flat('west', of), flat('north', of)])), derived: undefined };
    const silent = { isKnown: false, id: undefined, serviceExport: undefined, service: undefined, slices: undefined };
    const west = flat('west', { ...silent, mode: undefined });
    const now = after(observed([west, flat('north', of)], there));
    expect(now.imported).toEqual(there.imported);
    const REMOTE = 'multicluster.linkerd.io/remote-discovery';
    const isHeadless = 'service' in of;
    expect(now.derived?.metadata.annotations?.[REMOTE]).toBe(isHeadless ? undefined : 'web@north,web@west');
    const gone = after(observed([west, flat('north', { ...of, serviceExport: undefined })], there));
    expect(gone.imported.map(({ metadata }) => metadata.labels?.['linkspan.dev/imported-from'])).toEqual(['west']);
    expect(gone.derived?.metadata.annotations?.[REMOTE]).toBe(isHeadless ? undefined : 'web@west');
  });

  test('follows its gateway all the same (C1)', () => {
    const gone = target('west', {
      isKnown: false,
      gateway: { port: 4143, identity: 'gateway.west', addresses: ['203.0.113.23'], alive: false },
    });
    const { imported } = after(observed([gone, target('north')], before));
    const west = imported.find(({ metadata }) => metadata.labels?.['linkspan.dev/imported-from'] === 'west');
    expect(west?.endpoints).toMatchObject([{ conditions: { ready: false } }]);
  });

  test('does not keep a ServiceImport away that somebody deletes: the known exports and the derived Service say what it is', () => {
    const gone = target('west', { isKnown: false, serviceExport: undefined, service: undefined });
    const admin = { name: 'admin', port: 81, protocol: 'TCP' } as const;
    const had = after(
      observed([target('west', { service: service({ ports: [admin] }) }), target('north', { service: service() })]),
    );
    const now = after(observed([gone, target('north')], { ...had, live: undefined }));
    expect(now.live?.spec?.ports.map(({ port }) => port).sort()).toEqual([80, 81]);
    expect(now.live?.spec?.ips).toEqual(had.derived?.spec?.clusterIPs);
    expect(now.live?.status?.clusters).toEqual([{ cluster: 'id-north' }, { cluster: 'id-west' }]);
    expect([now.imported, now.derived]).toEqual([had.imported, had.derived]);
    const headless = target('north', { service: service({ clusterIP: 'None' }) });
    for (const others of [[], [headless]])
      expect(step(observed([gone, ...others], { ...had, live: undefined })).actions).toEqual([]);
  });

  test('keeps the pods of a headless ServiceImport that somebody deletes, and it comes back', () => {
    const headless = { service: service({ clusterIP: 'None' }), slices: [ownSlice('10.1.0.7', 'web-0')] };
    const had = after(observed([target('west', headless), target('north', headless)]));
    const gone = target('west', { isKnown: false, serviceExport: undefined, service: undefined });
    const now = after(observed([gone, target('north', headless)], { ...had, live: undefined }));
    expect({ ...now, live: now.live?.spec }).toEqual({ ...had, live: had.live?.spec });
    expect(step(observed([gone, target('north')], { ...had, live: undefined })).actions).toEqual([]);
  });

  test('is gone with its Link', () => {
    expect(after(observed([], before))).toEqual(NOTHING);
  });
});

describe('what a ServiceImport has (K2)', () => {
  const aged = (uid: string, createdAt: string, options: object = {}) => ({
    serviceExport: { ...serviceExport(createdAt), metadata: { ...serviceExport(createdAt).metadata, uid } },
    ...options,
  });
  const ports = (...of: readonly (readonly [string, number])[]) =>
    service({ ports: of.map(([name, port]) => ({ name, port, protocol: 'TCP' })) });
  const first = aged('1', '2026-03-01T00:00:00Z', { service: ports(['http', 80]) });
  const second = aged('2', '2026-04-01T00:00:00Z', { service: ports(['admin', 82]) });
  const older = aged('3', '2025-02-01T00:00:00Z', { service: ports(['http', 81], ['admin', 83], ['dns', 53]) });
  const headless = aged('3', '2025-02-01T00:00:00Z', { service: service({ clusterIP: 'None' }) });
  const had = after(observed([target('west', first), target('north', second)]));
  const portsOf = ({ live }: typeof had) => live?.spec?.ports?.map(({ name, port }) => `${name} ${port}`);
  const later = (options: object, isSettled: boolean, targets = [target('west', first), target('north', second)]) =>
    observed([...targets, target('new', options)], { ...had, isSettled });

  test('is not taken by an export that is newly seen, and says that it is older, until the one goes that gave it', () => {
    expect(portsOf(had)).toEqual(['http 80', 'admin 82']);
    expect(after(later(headless, true)).live?.spec?.type).toBe('ClusterSetIP');
    const joined = after(later(older, true));
    expect(portsOf(joined)).toEqual(['http 80', 'admin 82', 'dns 53']);
    const left = [target('north', second), target('new', older)];
    const now = observed(left, { ...joined, isSettled: true });
    expect(portsOf(after(now))).toEqual(['admin 82', 'http 81', 'dns 53']);
    // Another export of that cluster is not the one that gave it.
    const anew = target('west', { ...first, serviceExport: aged('4', '2026-05-01T00:00:00Z').serviceExport });
    const replaced = later(older, true, [anew, target('north', second)]);
    expect(portsOf(after(replaced))).toEqual(['admin 82', 'http 81', 'dns 53']);
  });

  test('is that of the oldest export while it is new: clusters are read in any order', () => {
    expect(after(later(headless, false)).live?.spec?.type).toBe('Headless');
    expect(portsOf(after(later(older, false)))).toEqual(['http 81', 'admin 83', 'dns 53']);
  });

  test('stays with whoever gave it while that is not known, and is found again by an operator that starts', () => {
    const unknown = [target('west', { isKnown: false, serviceExport: undefined, service: undefined })];
    const meanwhile = after(later(older, true, [...unknown, target('north', second)]));
    expect(portsOf(meanwhile)).toEqual(['http 80', 'admin 82']);
    const all = [target('west', first), target('north', second), target('new', older)];
    expect(portsOf(after(observed(all, { ...meanwhile, isSettled: true })))).toEqual(['http 80', 'admin 82', 'dns 53']);
  });

  test('is of no cluster any more that has left while another is not known (K2, L187)', () => {
    const orderOf = ({ live }: ReturnType<typeof after>) =>
      live?.metadata.annotations?.['linkspan.dev/exports']?.split(',').map((entry) => entry.replace(/\/.*/, ''));
    const unknown = local({ isKnown: false });
    const first = observed([target('west'), target('north')], { local: exporting() });
    const all = after({ ...first, isSettled: true });
    expect(orderOf(all)?.toSorted()).toEqual(['', 'north', 'west']);
    const gone = target('north', { serviceExport: undefined, service: undefined });
    const left = after(observed([target('west'), gone], { ...all, isSettled: true, local: unknown }));
    expect(orderOf(left)?.toSorted()).toEqual(['', 'west']);
    const unlinked = after(observed([], { ...left, isSettled: true, local: unknown }));
    expect(orderOf(unlinked)).toEqual(['']);
  });

  test('is reported as what was there first', () => {
    const given = observed([target('west', first)], {
      ...after(observed([target('west', first)])),
      ...{ isSettled: true, local: local({ ...aged('9', '2025-01-01T00:00:00Z'), service: ports(['http', 90]) }) },
    });
    const { conditions } = exportStatus(decideImport(given), given.local.serviceExport!, NOW)!;
    expect(conditions.find(({ type }) => type === 'Conflict')?.message).toBe(
      'Conflicting ports: using "http 80/TCP" of the export that was there first, in id-west; id-here disagrees. (compared: id-here, id-west)',
    );
  });

  test('stays in no order that others write there', () => {
    for (const order of ['', ',,/', 'new/,west', 'x'.repeat(10_000)]) {
      const live = {
        ...had.live!,
        metadata: { ...had.live!.metadata, annotations: { 'linkspan.dev/exports': order } },
      };
      expect(portsOf(after({ ...later(older, true), live }))).toEqual(['http 81', 'admin 83', 'dns 53']);
    }
  });
});

describe('beside another operator (K7)', () => {
  const OTHER = { own: 'other', isGone: () => false };
  const before = after(observed([target('west')]));
  const of = (operator: string | undefined, standing = before) => {
    const marked = <T extends ServiceImport | Service>(object: T | undefined): T | undefined => {
      const { 'linkspan.dev/operator': _, ...annotations } = object?.metadata.annotations ?? {};
      const mark = operator !== undefined && { 'linkspan.dev/operator': operator };
      return object && { ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...mark } } };
    };
    return { ...standing, live: marked(standing.live), derived: marked(standing.derived) };
  };
  const operatorsIn = ({ live, derived }: typeof before) =>
    [live, derived].map((each) => each?.metadata.annotations?.['linkspan.dev/operator']);
  const MINE = ['linkerd-multicluster', 'linkerd-multicluster'];
  const THEIRS = ['other', 'other'];

  test('a ServiceImport and its derived Service name the operator', () => {
    expect(operatorsIn(before)).toEqual(MINE);
  });

  test('one that another serves is left alone, whether this one knows an export or not', () => {
    for (const targets of [[], [target('north')], [target('west', { isKnown: false, isLinked: false })]]) {
      const given = observed(targets, of('other'));
      const { another, isLeft, sources } = decideImport(given);
      expect([another, isLeft, sources]).toEqual(['other', true, undefined]);
      expect(after(given)).toEqual(of('other'));
    }
  });

  test('the derived Service decides when the ServiceImport is gone, and the ServiceImport before it', () => {
    const left = { ...of('other'), live: undefined };
    expect(after(observed([target('north')], left))).toEqual(left);
    const given = { ...of('other'), live: before.live };
    expect(operatorsIn(after(observed([target('west')], given)))).toEqual(MINE);
  });

  test('one of an operator whose namespace is gone is taken over by one that has a part in it', () => {
    const operators = { own: 'linkerd-multicluster', isGone: (each: string) => each === 'other' };
    expect(operatorsIn(after(observed([target('west')], { ...of('other'), operators })))).toEqual(MINE);
    expect(after(observed([], { ...of('other'), operators }))).toEqual(of('other'));
    const taken = { ...of('other'), derived: of('third').derived, operators };
    expect(decideImport(observed([target('west')], taken)).another).toBe('third');
  });

  test('one that names none is taken over by an operator that has a part in it, and deleted by no other', () => {
    const unlinked = target('west', { isKnown: false, isLinked: false, serviceExport: undefined });
    for (const targets of [[], [unlinked], [target('north', { serviceExport: undefined })]]) {
      const given = observed(targets, of(undefined));
      expect([decideImport(given).isLeft, after(given)]).toEqual([true, of(undefined)]);
    }
    expect(operatorsIn(after(observed([target('west')], of(undefined))))).toEqual(MINE);
    expect(operatorsIn(after(observed([target('west', { isKnown: false })], of(undefined))))).toEqual(MINE);
    expect(after(observed([target('west', { serviceExport: undefined })], of(undefined)))).toEqual(NOTHING);
  });

  test('one of the cluster itself is taken over by an operator that imports it from others too, once', () => {
    const own = after(observed([], { local: exporting(), operators: OTHER }));
    expect(operatorsIn(own)).toEqual(THEIRS);
    expect(after(observed([], { local: exporting(), ...own }))).toEqual(own);
    const both = after(observed([target('west')], { local: exporting(), ...own }));
    expect(operatorsIn(both)).toEqual(MINE);
    for (const targets of [[], [target('north')]]) {
      const given = observed(targets, { local: exporting(), operators: OTHER, ...both });
      expect([decideImport(given).another, after(given)]).toEqual(['linkerd-multicluster', both]);
    }
  });

  test('one of pods that somebody deletes, and another begins of the cluster itself, goes back to who has the pods (L113)', () => {
    const pods = { service: service({ clusterIP: 'None' }), slices: [ownSlice('10.1.0.7', 'web-0')] };
    const west = target('west', { ...pods, serviceExport: OLD });
    const had = after(observed([west], { local: exporting() }));
    expect(had.live?.spec?.type).toBe('Headless');
    const { derived } = after(observed([], { local: exporting(), operators: OTHER }));
    const left = { ...had, live: undefined, derived };
    expect(operatorsIn(left)).toEqual([undefined, 'other']);
    // The other does not know the target, and cannot decide without it.
    const unlinked = target('west', { isKnown: false, isLinked: false, serviceExport: undefined });
    const theirs = observed([unlinked], { local: exporting(), operators: OTHER, ...left });
    expect(step(theirs).actions).toEqual([]);
    const now = after(observed([west], { local: exporting(), ...left }));
    expect(operatorsIn(now)).toEqual(['linkerd-multicluster', undefined]);
    expect(now.podServices).toEqual(had.podServices);
    // Nor is it taken where the derived Service leads to a target of the other, or nothing is left of pods.
    const led = after(observed([target('north')], { local: exporting(), operators: OTHER }));
    for (const standing of [
      { ...left, imported: [...left.imported, ...led.imported], derived: led.derived },
      { ...left, podServices: [] },
    ])
      expect(decideImport(observed([west], { local: exporting(), ...standing })).another).toBe('other');
    expect(decideImport(observed([unlinked], { local: exporting(), ...left })).another).toBe('other');
  });

  test('one that is taken over names its new operator, and is as it was, before anything else of it is written', () => {
    const own = after(observed([], { local: exporting(), operators: OTHER }));
    const given = observed([target('west')], { local: exporting(), ...own });
    const taken = step(given);
    expect(taken.actions.map(({ op, of }) => `${op} ${of.plural}`)).toEqual(['update serviceimports']);
    expect(operatorsIn(taken.after)).toEqual(['linkerd-multicluster', 'other']);
    expect(taken.after.live?.spec).toEqual(own.live?.spec);
    // It is taken over once: who served it before does not take it back.
    const back = observed([target('north')], { local: exporting(), operators: OTHER, ...taken.after });
    expect(decideImport(back).another).toBe('linkerd-multicluster');
  });

  test('one of the cluster itself stays where another type of export is all that is new', () => {
    const own = after(observed([], { local: exporting(), operators: OTHER }));
    const headless = target('west', {
      service: service({ clusterIP: 'None' }),
      serviceExport: serviceExport('2026-02-01T00:00:00Z'),
    });
    expect(decideImport(observed([headless], { local: exporting(), ...own })).another).toBe('other');
  });
});

describe('ids of clusters (K2)', () => {
  test('are what clusters claim, or their names', () => {
    expect([
      ...clusterIds([
        { name: 'uid', claimed: 'east' },
        { name: 'west', claimed: undefined },
      ]),
    ]).toEqual([
      ['uid', 'east'],
      ['west', 'west'],
    ]);
  });

  test('are no other cluster’s: neither one that is taken, nor the name of another, nor what DNS cannot have', () => {
    const claims = [
      { name: 'uid', claimed: 'east' },
      { name: 'evil', claimed: 'east' },
      { name: 'thief', claimed: 'west' },
      { name: 'west', claimed: 'a.b' },
      { name: 'north', claimed: 'north' },
    ];
    expect([...clusterIds(claims).values()]).toEqual(['east', 'evil', 'thief', 'west', 'north']);
  });
});

describe('objects as they are read', () => {
  const metadata = { name: 'web', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' };

  test('have only fields that are valid and needed (E1)', () => {
    const labels = { a: 'b' };
    const hostile = { metadata: { ...metadata, labels }, spec: { exportedLabels: 7 }, status: { conditions: 'all' } };
    expect(readServiceExport(hostile as unknown as ServiceExport)).toEqual({ metadata });
    const sound = { metadata, spec: { exportedLabels: labels }, status: { conditions: [] } };
    expect(readServiceExport(sound)).toEqual(sound);
    const broken = {
      metadata: { ...metadata, labels },
      spec: { ports: 'all', type: 'ClusterSetIP' },
      status: { clusters: {} },
    };
    expect(readServiceImport(broken as unknown as ServiceImport)).toEqual({ metadata: { ...metadata, labels } });
  });

  test('lead to a ServiceImport that is written anew, or stays while not all exports are known (K5)', () => {
    const before = after(observed([target('west')]));
    const { spec: _, ...live } = before.live!;
    expect(after(observed([target('west')], { ...before, live })).live?.spec).toEqual(before.live?.spec);
    expect(step(observed([target('west', { isKnown: false })], { ...before, live })).actions).toEqual([]);
  });
});

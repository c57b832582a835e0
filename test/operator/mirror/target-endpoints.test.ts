import { describe, expect, it, test } from 'vitest';
import type { EndpointSlice, Service, SliceEndpoint } from '../../../operator/kube/objects.ts';
import { mirrorSubsets, newestFirst, readSlices, subsetsOf } from '../../../operator/mirror/target-endpoints.ts';

const service = (spec: Service['spec'] = {}): Service => ({
  metadata: { name: 'db', namespace: 'shop' },
  spec: { clusterIP: 'None', ports: [{ name: 'sql', port: 80, targetPort: 5432 }], ...spec },
});
const slice = (
  endpoints: readonly Partial<SliceEndpoint>[] | null,
  fields: Partial<EndpointSlice> = {},
): EndpointSlice => ({
  metadata: { name: 'db-x', namespace: 'shop' },
  addressType: 'IPv4',
  ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }],
  ...fields,
  endpoints: endpoints?.map((each) => ({ addresses: [], ...each })) ?? null,
});
const pod = (hostname: string, ready: boolean | null = true): Partial<SliceEndpoint> => ({
  hostname,
  conditions: { ready },
});

describe('what slices say', () => {
  test.each<[string, readonly EndpointSlice[], Service, { any: boolean; anyReady: boolean; hosts: string[] }]>([
    ['none: nothing is there', [], service(), { any: false, anyReady: false, hosts: [] }],
    ['an empty one: nothing is there', [slice([])], service(), { any: false, anyReady: false, hosts: [] }],
    ['one without a list', [slice(null)], service(), { any: false, anyReady: false, hosts: [] }],
    ['a ready pod', [slice([pod('db-0')])], service(), { any: true, anyReady: true, hosts: ['db-0'] }],
    [
      'a pod that is not ready',
      [slice([pod('db-0', false)])],
      service(),
      { any: true, anyReady: false, hosts: ['db-0'] },
    ],
    [
      'a pod of unknown readiness is ready',
      [slice([pod('db-0', null)])],
      service(),
      { any: true, anyReady: true, hosts: ['db-0'] },
    ],
    [
      'an endpoint without conditions is ready',
      [slice([{ hostname: 'db-0' }])],
      service(),
      { any: true, anyReady: true, hosts: ['db-0'] },
    ],
    [
      'a pod that is not ready but published (D5)',
      [slice([pod('db-0', false)])],
      service({ publishNotReadyAddresses: true }),
      { any: true, anyReady: true, hosts: ['db-0'] },
    ],
    [
      'endpoints without a hostname, or with an empty or impossible one, which stop no other (L15)',
      [slice([{}, { hostname: '' }, { hostname: 'NO.label' }, pod('db-1')])],
      service(),
      { any: true, anyReady: true, hosts: ['db-1'] },
    ],
    [
      'names instead of addresses, which nothing routes to',
      [slice([pod('db-0')], { addressType: 'FQDN' })],
      service(),
      { any: false, anyReady: false, hosts: [] },
    ],
    [
      'one pod in a slice of either family',
      [slice([pod('db-0')]), slice([pod('db-0', false)], { addressType: 'IPv6' })],
      service(),
      { any: true, anyReady: true, hosts: ['db-0'] },
    ],
  ])('%s', (_, slices, of, expected) => {
    const found = readSlices(of, slices);
    expect({ any: found.any, anyReady: found.anyReady, hosts: [...found.hosts.keys()] }).toEqual(expected);
  });

  it('a host listens on the ports of its slices, not of the Service (D6)', () => {
    const named = slice([pod('db-0')], { ports: [{ name: 'sql', port: 5433 }] });
    expect(readSlices(service(), [named]).hosts.get('db-0')?.ports).toMatchObject([{ name: 'sql', port: 5433 }]);
  });

  it("a slice without ports stands for the Service's", () => {
    const bare = slice([pod('db-0')], { ports: null });
    const named = service({
      ports: [
        { name: 'b', port: 2, targetPort: 'web' },
        { name: 'a', port: 1, targetPort: 9 },
      ],
    });
    expect(readSlices(named, [bare]).hosts.get('db-0')?.ports).toMatchObject([
      { name: 'a', port: 9 },
      { name: 'b', port: 2 },
    ]);
  });

  it('a pod in several slices is listed if one of them says so, in whatever order they come', () => {
    const both = [slice([pod('db-0')]), slice([pod('db-0', false)], { addressType: 'IPv6' })];
    for (const slices of [both, [...both].reverse()]) {
      expect(readSlices(service(), slices).hosts.get('db-0')?.listed).toBe(true);
    }
  });

  it('a pod in several slices listens on the ports of all, each once (D6)', () => {
    const [sql, metrics] = [
      { name: 'sql', port: 5432 },
      { name: 'metrics', port: 9090 },
    ];
    const slices = [
      slice([pod('db-0')], { ports: [sql] }),
      slice([pod('db-0')], { ports: [metrics] }),
      slice([pod('db-0')], { ports: [sql], addressType: 'IPv6' }),
    ];
    expect(readSlices(service(), slices).hosts.get('db-0')?.ports).toMatchObject([metrics, sql]);
  });

  it('of two numbers of one port, that of the slice counts in which the pod is ready, then of the newer one (D6)', () => {
    const old = slice([pod('db-0'), pod('db-1', false)]);
    const next = slice([pod('db-0'), pod('db-1')], { ports: [{ name: 'sql', port: 9999 }] });
    const made = (of: EndpointSlice, creationTimestamp: string) => ({
      ...of,
      metadata: { ...of.metadata, creationTimestamp },
    });
    const portsIn = (slices: readonly EndpointSlice[]) => {
      const { hosts } = readSlices(service(), slices);
      return [
        ['db-0', 'db-1'].map((hostname) => hosts.get(hostname)?.ports.map(({ port }) => port)),
        subsetsOf(hosts.values()).map(({ hostnames, ports }) => [hostnames, ports[0]?.port]),
      ];
    };
    const rollout = [made(old, '2026-01-01T00:00:00Z'), made(next, '2026-01-02T00:00:00Z')];
    for (const slices of [rollout, [...rollout].reverse()])
      expect(portsIn(slices)).toEqual([[[9999], [9999]], [[['db-0', 'db-1'], 9999]]]);
    const back = [made(old, '2026-01-02T00:00:00Z'), made(next, '2026-01-01T00:00:00Z')];
    expect(portsIn(back)[0]).toEqual([[5432], [9999]]);
  });

  it('a port without a number stands for any, and is nothing to mirror', () => {
    const open = slice([pod('db-0')], {
      ports: [
        { name: 'any', port: null },
        { name: 'sql', port: 5432 },
      ],
    });
    expect(readSlices(service(), [open]).hosts.get('db-0')?.ports).toMatchObject([{ name: 'sql', port: 5432 }]);
    const all = slice([pod('db-0')], { ports: [{ name: 'any', port: null }] });
    expect(readSlices(service(), [all]).hosts.get('db-0')?.ports).toMatchObject([{ name: 'sql', port: 5432 }]);
  });

  it('hosts on the same ports stand together, others apart, and only listed ones at all', () => {
    const { hosts } = readSlices(service(), [
      slice([pod('db-0'), pod('db-1', false), pod('db-2')]),
      slice([pod('db-3')], { ports: [{ name: 'sql', port: 9999 }] }),
    ]);
    expect(subsetsOf(hosts.values()).map(({ hostnames, ports }) => [hostnames, ports[0]?.port])).toEqual([
      [['db-0', 'db-2'], 5432],
      [['db-3'], 9999],
    ]);
  });

  it('the order of slices, and of ports in them, changes nothing', () => {
    const ports = [
      { name: 'b', port: 2 },
      { name: 'a', port: 1 },
    ];
    const one = slice([pod('db-0')], { ports });
    const two = slice([pod('db-1')], { ports: [...ports].reverse() });
    const sets = (slices: readonly EndpointSlice[]) =>
      subsetsOf(readSlices(service(), slices).hosts.values()).map(({ hostnames, ports: on }) => [
        [...hostnames].sort(),
        on,
      ]);
    expect(sets([one, two])).toEqual(sets([two, one]));
    expect(sets([one, two])).toHaveLength(1);
  });
});

describe('what a pod is listed on (D5, D6)', () => {
  const made = (day: number, of: EndpointSlice): EndpointSlice => ({
    ...of,
    metadata: { name: `db-${day}`, namespace: 'shop', creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  });
  const on = (day: number, ports: Readonly<Record<string, number>>, ready = true): EndpointSlice =>
    made(day, slice([pod('db-0', ready)], { ports: Object.entries(ports).map(([name, port]) => ({ name, port })) }));
  /** The subsets that list the pod, as `name:port` of each of their ports, and whether it is listed at all. */
  const listing = (slices: readonly EndpointSlice[], of = service()) => {
    const { hosts } = readSlices(of, slices);
    const subsets = subsetsOf(hosts.values()).map(({ hostnames, ports }) => [
      hostnames.join(),
      ports.map(({ name, port }) => `${name ?? ''}:${port}`).join(),
    ]);
    return { listed: hosts.get('db-0')?.listed, subsets };
  };

  test.each<[string, readonly EndpointSlice[], readonly string[]]>([
    ['the ports of both slices that list it', [on(2, { sql: 1 }), on(1, { metrics: 2 })], ['sql:1', 'metrics:2']],
    [
      'the newer number of a port, beside what the older slice alone has',
      [on(1, { sql: 1, metrics: 2 }), on(2, { sql: 3 })],
      ['sql:3', 'metrics:2'],
    ],
    [
      'no former number of a port, though another port has that number now',
      [on(1, { sql: 1 }), on(2, { sql: 3, admin: 1 })],
      ['admin:1,sql:3'],
    ],
    [
      'the same ports only once, however many slices have them beside former numbers',
      [on(1, { metrics: 2 }), on(2, { sql: 1, metrics: 2 }), on(3, { sql: 3 })],
      ['sql:3', 'metrics:2'],
    ],
    [
      'the ports of the slice in which it is ready, and none of that in which it is not',
      [on(2, { sql: 1 }, false), on(1, { metrics: 2 })],
      ['metrics:2'],
    ],
  ])('is %s', (_, slices, expected) => {
    const subsets = expected.map((ports) => ['db-0', ports]);
    expect(listing(slices)).toEqual({ listed: true, subsets });
    expect(listing([...slices].reverse())).toEqual({ listed: true, subsets });
  });

  it('is nothing while the pod is only not ready, unless its Service publishes it', () => {
    const slices = [on(1, { sql: 1 }, false)];
    expect(listing(slices)).toEqual({ listed: false, subsets: [] });
    expect(listing(slices, service({ publishNotReadyAddresses: true })).subsets).toEqual([['db-0', 'sql:1']]);
  });

  it('is no port where neither the slice nor the Service has one, and others are listed on theirs', () => {
    const bare: Service = { metadata: { name: 'db', namespace: 'shop' } };
    const slices = [slice([pod('db-0')], { ports: null }), slice([pod('db-1')])];
    expect(listing(slices, bare).subsets).toEqual([
      ['db-0', ''],
      ['db-1', 'sql:5432'],
    ]);
  });

  it('is one set of ports, in whatever order two of one name come', () => {
    const dns = [
      { name: 'dns', port: 53, protocol: 'TCP' },
      { name: 'dns', port: 5353, protocol: 'UDP' },
      { name: 'admin', port: 1 },
    ];
    const [one, other] = [slice([pod('db-0')], { ports: dns }), slice([pod('db-1')], { ports: dns.toReversed() })];
    expect(listing([one, other]).subsets).toEqual([['db-0,db-1', 'admin:1,dns:53,dns:5353']]);
  });
});

it('reads of slices that change what it reads of them anew, whatever it has read before (D6, E10)', () => {
  const named = (name: string, of: EndpointSlice): EndpointSlice => ({ ...of, metadata: { name, namespace: 'shop' } });
  const zero = named('a', slice([pod('db-0'), pod('db-1')]));
  const one = named('b', slice([pod('db-1', false), pod('db-2')]));
  const moved = named('c', slice([pod('db-0', false)], { ports: [{ name: 'sql', port: 9999 }] }));
  const more = named('d', slice([pod('db-1')], { ports: [{ name: 'metrics', port: 9090 }] }));
  const known = service();
  const plain = ({ hosts, ...rest }: ReturnType<typeof readSlices>) => ({
    ...rest,
    hosts: [...hosts.values()].sort((a, b) => (a.hostname < b.hostname ? -1 : 1)),
  });
  const history = [[zero, one], [zero, moved], [one, moved], [one, more], [zero, one, more], [one], [], [more, zero]];
  // Back again, too.
  for (const slices of [...history, ...history.toReversed()])
    expect(plain(readSlices(known, slices))).toEqual(plain(readSlices(service(), slices)));
});

it('the newest slice counts first, then the first by name, in whatever order they come (D6)', () => {
  const at = (name: string, creationTimestamp?: string): EndpointSlice => ({
    ...slice([]),
    metadata: { name, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) },
  });
  const expected = [
    at('z', '2026-01-03'),
    at('a', '2026-01-02'),
    at('b', '2026-01-02'),
    at('c', '2026-01-01'),
    at('d'),
  ];
  for (let turn = 0; turn < expected.length; turn += 1) {
    const turned = [...expected.slice(turn), ...expected.slice(0, turn)];
    expect(newestFirst(turned)).toEqual(expected);
    expect(newestFirst(turned.toReversed())).toEqual(expected);
  }
  const [first, second] = expected;
  expect(newestFirst([second!, first!])).toEqual([first, second]);
});

describe("a headless mirror's subsets", () => {
  it('point at the ClusterIPs of endpoint mirrors, of those that have one', () => {
    const { hosts } = readSlices(service(), [slice([pod('db-0'), pod('db-1')])]);
    expect(mirrorSubsets(subsetsOf(hosts.values()), new Map([['db-1', '10.96.0.9']]))).toMatchObject([
      { addresses: [{ hostname: 'db-1', ip: '10.96.0.9' }], ports: [{ name: 'sql', port: 5432 }] },
    ]);
  });
});

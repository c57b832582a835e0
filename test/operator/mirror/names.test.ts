import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isServiceName } from '../../../crds/names.ts';
import {
  type Claim,
  type ClaimOwner,
  endpointMirrorNames,
  NameClaims,
  type Seniority,
} from '../../../operator/mirror/names.ts';

const OLDER = '2026-01-01T00:00:00Z';
const YOUNGER = '2026-01-02T00:00:00Z';

/** The owner written as `namespace/name@cluster`. */
const owner = (text: string): ClaimOwner => {
  const [key = '', cluster = ''] = text.split('@');
  return { key, cluster };
};

/** A claim of `namespace/name@cluster`, or of its pod `namespace/name@cluster#hostname`. */
const claim = (id: string, since: string, ...names: readonly string[]): Claim => {
  const [of = '', hostname] = id.split('#');
  return { owner: owner(of), ...(hostname === undefined ? {} : { hostname }), names, since };
};

const idOf = ({ owner: { key, cluster }, hostname }: Claim): string =>
  `${key}@${cluster}${hostname === undefined ? '' : `#${hostname}`}`;

interface Setting {
  /** Who is notified of a name that may have been won or lost, in order. */
  readonly notified: string[];
  readonly claims: NameClaims;
}

/** Clusters that take part, as Links of their names that are equally old unless it is spelled out. */
function clusters(seniority: Readonly<Record<string, Partial<Seniority>>>): Setting {
  const claims = new NameClaims();
  const notified: string[] = [];
  for (const [cluster, of] of Object.entries(seniority)) {
    claims.join(cluster, { createdAt: OLDER, name: cluster, ...of }, (key) => notified.push(`${key}@${cluster}`));
  }
  return { notified, claims };
}

const outcome = (claims: NameClaims, each: Claim): string => {
  const found = claims.resolve('shop', each);
  if (found === undefined) return 'no name';
  return 'name' in found ? found.name : `!${idOf(found.lostTo)}`;
};

/** The names that claims of one namespace get, entered in the order given; `!` before who has it instead. */
function resolved(
  wanted: readonly Claim[],
  seniority: Readonly<Record<string, Partial<Seniority>>> = {},
): Readonly<Record<string, string>> {
  const all = Object.fromEntries(wanted.map(({ owner: { cluster } }) => [cluster, seniority[cluster] ?? {}]));
  const { claims } = clusters(all);
  for (const own of Map.groupBy(wanted, ({ owner: { key, cluster } }) => `${key}@${cluster}`).values()) {
    claims.replace(own[0]!.owner, 'shop', own);
  }
  return Object.fromEntries(wanted.map((each) => [idOf(each), outcome(claims, each)]));
}

describe('who gets a name that several of one Link want (A7)', () => {
  test.each<[string, readonly Claim[], Readonly<Record<string, string>>]>([
    [
      'a Service web-0 that is older than the pod web-0 of a headless one, which takes its long name',
      [
        claim('shop/web-0@west', OLDER, 'web-0-west'),
        claim('shop/web@west', YOUNGER, 'web-west'),
        claim('shop/web@west#web-0', YOUNGER, ...endpointMirrorNames('web-0', 'web', 'west')),
      ],
      { 'shop/web-0@west': 'web-0-west', 'shop/web@west': 'web-west', 'shop/web@west#web-0': 'web-0-web-west' },
    ],
    [
      'the pod of a headless Service that is older than a Service of its name, which gets none',
      [
        claim('shop/web-0@west', YOUNGER, 'web-0-west'),
        claim('shop/web@west', OLDER, 'web-west'),
        claim('shop/web@west#web-0', OLDER, ...endpointMirrorNames('web-0', 'web', 'west')),
      ],
      { 'shop/web-0@west': '!shop/web@west#web-0', 'shop/web@west': 'web-west', 'shop/web@west#web-0': 'web-0-west' },
    ],
    [
      'of two headless Services over one StatefulSet the older, the other long ones (L14)',
      [
        claim('shop/a@west#p-0', YOUNGER, ...endpointMirrorNames('p-0', 'a', 'west')),
        claim('shop/b@west#p-0', OLDER, ...endpointMirrorNames('p-0', 'b', 'west')),
      ],
      { 'shop/a@west#p-0': 'p-0-a-west', 'shop/b@west#p-0': 'p-0-west' },
    ],
    [
      'of equally old ones the first by name',
      [
        claim('shop/b@west#p-0', OLDER, ...endpointMirrorNames('p-0', 'b', 'west')),
        claim('shop/a@west#p-0', OLDER, ...endpointMirrorNames('p-0', 'a', 'west')),
      ],
      { 'shop/a@west#p-0': 'p-0-west', 'shop/b@west#p-0': 'p-0-b-west' },
    ],
    [
      'a Service of the long name, however young, before a pod that falls back to it',
      [
        claim('shop/p-0-a@west', YOUNGER, 'p-0-a-west'),
        claim('shop/a@west#p-0', OLDER, ...endpointMirrorNames('p-0', 'a', 'west')),
        claim('shop/p-0@west', '2025-01-01T00:00:00Z', 'p-0-west'),
      ],
      {
        'shop/p-0-a@west': 'p-0-a-west',
        'shop/p-0@west': 'p-0-west',
        'shop/a@west#p-0': endpointMirrorNames('p-0', 'a', 'west')[2]!,
      },
    ],
  ])('is %s, in whatever order they come', (_, claims, expected) => {
    expect(resolved(claims)).toEqual(expected);
    expect(resolved([...claims].reverse())).toEqual(expected);
  });

  it('is each of those in namespaces of their own (D8)', () => {
    const { claims, notified } = clusters({ west: {} });
    const one = claim('a/web@west', OLDER, 'web-west');
    const other = claim('b/web@west', YOUNGER, 'web-west');
    claims.replace(one.owner, 'a', [one]);
    claims.replace(other.owner, 'b', [other]);
    expect(notified).toEqual([]);
    expect(claims.resolve('a', one)).toEqual({ name: 'web-west' });
    expect(claims.resolve('b', other)).toEqual({ name: 'web-west' });
  });

  it('is nobody of those who name none that is valid', () => {
    expect(resolved([claim('shop/a@west#UPPER', OLDER)])).toEqual({ 'shop/a@west#UPPER': 'no name' });
  });
});

describe('who gets a name that two Links want (A7)', () => {
  const east = (since: string): Claim => claim('shop/foo-bar@east', since, 'foo-bar-east');
  const barEast = (since: string): Claim => claim('shop/foo@bar-east', since, 'foo-bar-east');

  test.each<[string, Readonly<Record<string, Partial<Seniority>>>, 'east' | 'bar-east']>([
    ['the older Link', { east: { createdAt: OLDER }, 'bar-east': { createdAt: YOUNGER } }, 'east'],
    ['the older Link, whichever', { east: { createdAt: YOUNGER }, 'bar-east': { createdAt: OLDER } }, 'bar-east'],
    ['of equally old ones the first by name', { east: { name: 'b' }, 'bar-east': { name: 'a' } }, 'bar-east'],
    ['of equally old ones the first by name, whichever', { east: { name: 'a' }, 'bar-east': { name: 'b' } }, 'east'],
    [
      'the older Link, also when it is the last by name',
      { east: { createdAt: OLDER, name: 'z' }, 'bar-east': { createdAt: YOUNGER, name: 'a' } },
      'east',
    ],
  ])('is %s, whatever the targets say of the age of their Services', (_, seniority, winner) => {
    for (const [first, second] of [
      [OLDER, YOUNGER],
      [YOUNGER, OLDER],
      ['', OLDER],
    ] as const) {
      const claims = [east(first), barEast(second)];
      const expected =
        winner === 'east'
          ? { 'shop/foo-bar@east': 'foo-bar-east', 'shop/foo@bar-east': '!shop/foo-bar@east' }
          : { 'shop/foo-bar@east': '!shop/foo@bar-east', 'shop/foo@bar-east': 'foo-bar-east' };
      expect(resolved(claims, seniority)).toEqual(expected);
      expect(resolved([...claims].reverse(), seniority)).toEqual(expected);
    }
  });

  it('is a first choice of the younger Link before a fallback of the older', () => {
    const seniority = { west: { createdAt: OLDER }, 'a-west': { createdAt: YOUNGER } };
    const claims = [
      claim('shop/a@west#p-0', OLDER, ...endpointMirrorNames('p-0', 'a', 'west')),
      claim('shop/p-0@west', '2025-01-01T00:00:00Z', 'p-0-west'),
      claim('shop/p-0@a-west', YOUNGER, 'p-0-a-west'),
    ];
    expect(resolved(claims, seniority)).toMatchObject({
      'shop/p-0@a-west': 'p-0-a-west',
      'shop/a@west#p-0': endpointMirrorNames('p-0', 'a', 'west')[2],
    });
  });
});

describe('a cluster', () => {
  it('that takes part already cannot take part twice (E9)', () => {
    const { claims } = clusters({ west: {} });
    expect(() => claims.join('west', { createdAt: OLDER, name: 'other' }, () => undefined)).toThrow('west');
  });

  it('that leaves claims nothing any more, and those who lost to it are notified', () => {
    const { claims, notified } = clusters({ east: {}, 'bar-east': { createdAt: YOUNGER } });
    const [winner, loser] = [
      claim('shop/foo-bar@east', OLDER, 'foo-bar-east'),
      claim('shop/foo@bar-east', OLDER, 'foo-bar-east'),
    ];
    claims.replace(loser.owner, 'shop', [loser]);
    claims.replace(winner.owner, 'shop', [winner]);
    expect(outcome(claims, loser)).toBe('!shop/foo-bar@east');
    notified.length = 0;
    claims.leave('east');
    expect(notified).toEqual(['shop/foo@bar-east']);
    expect(outcome(claims, loser)).toBe('foo-bar-east');
  });

  it('that has left can take part again, as older or younger', () => {
    const { claims } = clusters({ east: {}, 'bar-east': { createdAt: YOUNGER } });
    const [first, second] = [
      claim('shop/foo-bar@east', OLDER, 'foo-bar-east'),
      claim('shop/foo@bar-east', OLDER, 'foo-bar-east'),
    ];
    claims.leave('east');
    claims.join('east', { createdAt: '2026-01-03T00:00:00Z', name: 'east' }, () => undefined);
    for (const each of [first, second]) claims.replace(each.owner, 'shop', [each]);
    expect(outcome(claims, first)).toBe('!shop/foo@bar-east');
  });

  it('that does not take part claims nothing', () => {
    const { claims } = clusters({ west: {} });
    const [phantom, mine] = [claim('shop/a@gone', OLDER, 'x'), claim('shop/b@west', YOUNGER, 'x')];
    claims.replace(phantom.owner, 'shop', [phantom]);
    claims.replace(mine.owner, 'shop', [mine]);
    expect(outcome(claims, mine)).toBe('x');
  });
});

describe('a change of claims', () => {
  const [a, b, c] = [
    claim('shop/a@west', YOUNGER, 'x'),
    claim('shop/b@west', OLDER, 'x'),
    claim('shop/c@west', YOUNGER, 'y'),
  ];

  /** Claims as they stand, and who is notified from then on. */
  const standing = (...those: readonly Claim[]): Setting => {
    const setting = clusters({ west: {} });
    for (const each of those) setting.claims.replace(each.owner, 'shop', [each]);
    setting.notified.length = 0;
    return setting;
  };

  it('notifies the others who may win or lose a name, and nobody else', () => {
    const { claims, notified } = standing(a, c);
    claims.replace(b.owner, 'shop', [b]);
    expect(notified.splice(0)).toEqual(['shop/a@west']);
    claims.withdraw(b.owner);
    expect(notified).toEqual(['shop/a@west']);
    expect(outcome(claims, a)).toBe('x');
  });

  it('that changes nothing notifies nobody', () => {
    const { claims, notified } = standing(a, b);
    claims.replace(b.owner, 'shop', [{ ...b }]);
    claims.withdraw(c.owner);
    expect(notified).toEqual([]);
  });

  it('of age alone notifies who wants the same', () => {
    const { claims, notified } = standing(a, b);
    claims.replace(a.owner, 'shop', [{ ...a, since: '2020-01-01T00:00:00Z' }]);
    expect(notified).toEqual(['shop/b@west']);
    expect(outcome(claims, b)).toBe('!shop/a@west');
  });

  it('of a Service that has the name notifies who has won the name, unless the Service is his (L294)', () => {
    const { claims, notified } = standing(a, b, c);
    claims.passedOn('shop', 'x');
    claims.passedOn('shop', 'x', a.owner);
    expect(notified.splice(0)).toEqual(['shop/b@west', 'shop/b@west']);
    claims.passedOn('shop', 'x', b.owner);
    claims.passedOn('shop', 'y', c.owner);
    claims.passedOn('bank', 'x');
    claims.passedOn('shop', 'z');
    expect(notified).toEqual([]);
  });

  it('of namespace frees the name in the former', () => {
    const { claims, notified } = standing(a, b);
    claims.replace(b.owner, 'bank', [b]);
    expect(notified).toEqual(['shop/a@west']);
    expect(outcome(claims, a)).toBe('x');
  });
});

describe('the names of an endpoint mirror', () => {
  test.each([
    ['web-0', 'web', 'west', ['web-0-west', 'web-0-web-west']],
    ['0-web', 'web', 'west', ['0-web-west', '0-web-web-west']],
    ['-web', 'web', 'west', []],
    ['UPPER', 'web', 'west', []],
  ])('of pod %s of %s on %s begin with %j', (hostname, service, cluster, expected) => {
    expect(endpointMirrorNames(hostname, service, cluster).slice(0, 2)).toEqual(expected);
  });

  it('are Service names all, and the last fits whatever the lengths', () => {
    const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
    fc.assert(
      fc.property(label, label, label, (hostname, service, cluster) => {
        const names = endpointMirrorNames(hostname, service, cluster);
        return names.length > 0 && names.every(isServiceName);
      }),
    );
  });

  it('shortened ones differ when the pods do', () => {
    const long = 'x'.repeat(60);
    const [one] = endpointMirrorNames(`${long}-0`, 'web', 'west');
    const [two] = endpointMirrorNames(`${long}-1`, 'web', 'west');
    expect(one).not.toBe(two);
    expect(one).toHaveLength(63);
  });
});

describe('whatever is claimed', () => {
  const label = fc.constantFrom('a', 'b', 'a-b', 'b-a');
  const target = fc.record({
    service: label,
    cluster: label,
    since: fc.constantFrom<string>(OLDER, YOUNGER),
    hosts: fc.uniqueArray(fc.constantFrom('a', 'b', 'a-b'), { maxLength: 2 }),
  });
  const targets = fc.uniqueArray(target, { maxLength: 6, selector: ({ service, cluster }) => `${service}@${cluster}` });
  /** The Links of all clusters, equally old or not. */
  const links = fc.record(
    Object.fromEntries(
      ['a', 'b', 'a-b', 'b-a'].map((cluster) => [
        cluster,
        fc.record({ createdAt: fc.constantFrom<string>(OLDER, YOUNGER), name: fc.constant(cluster) }),
      ]),
    ),
  );

  type Target = typeof target extends fc.Arbitrary<infer T> ? T : never;
  const ownerOf = ({ service, cluster }: Target): ClaimOwner => owner(`shop/${service}@${cluster}`);
  const claimsOf = ({ service, cluster, since, hosts }: Target): readonly Claim[] => {
    const id = `shop/${service}@${cluster}`;
    return [
      claim(id, since, `${service}-${cluster}`),
      ...hosts.map((host) => claim(`${id}#${host}`, since, ...endpointMirrorNames(host, service, cluster))),
    ];
  };

  it('the outcome is the same for every order of arrival, departures and changes included', () => {
    fc.assert(
      fc.property(
        links,
        targets.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }), fc.shuffledSubarray(all)),
        ),
        (seniority, [all, arrival, visitors]) => {
          const direct = resolved(all.flatMap(claimsOf), seniority);
          const { claims } = clusters(seniority);
          // Some come with another age first, and leave again.
          for (const each of visitors) {
            claims.replace(ownerOf(each), 'shop', claimsOf({ ...each, since: '2020-01-01T00:00:00Z' }));
          }
          for (const each of visitors.slice(1)) claims.withdraw(ownerOf(each));
          for (const each of arrival) claims.replace(ownerOf(each), 'shop', claimsOf(each));
          for (const each of all.flatMap(claimsOf)) expect(outcome(claims, each)).toBe(direct[idOf(each)]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('no name is given twice', () => {
    fc.assert(
      fc.property(links, targets, (seniority, all) => {
        const names = Object.values(resolved(all.flatMap(claimsOf), seniority)).filter((name) => !name.startsWith('!'));
        return new Set(names).size === names.length;
      }),
      { numRuns: 500 },
    );
  });

  it('whoever is not notified of a change gets what it got before', () => {
    fc.assert(
      fc.property(links, targets, fc.nat(5), (seniority, all, index) => {
        const { claims, notified } = clusters(seniority);
        for (const each of all) claims.replace(ownerOf(each), 'shop', claimsOf(each));
        const before = new Map(all.flatMap(claimsOf).map((each) => [idOf(each), outcome(claims, each)]));
        const [leaving] = all.slice(index % Math.max(1, all.length));
        if (leaving === undefined) return;
        notified.length = 0;
        claims.withdraw(ownerOf(leaving));
        for (const each of all.filter((one) => one !== leaving).flatMap(claimsOf)) {
          const { key, cluster } = each.owner;
          if (!notified.includes(`${key}@${cluster}`)) expect(outcome(claims, each)).toBe(before.get(idOf(each)));
        }
      }),
      { numRuns: 500 },
    );
  });
});

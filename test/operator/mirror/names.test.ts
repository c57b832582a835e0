import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isServiceName } from '../../../crds/names.ts';
import { type Claim, claimId, endpointMirrorNames, NameClaims } from '../../../operator/mirror/names.ts';

const claim = (id: string, since: string, ...names: string[]): Claim => ({ id, names, since });
const older = '2026-01-01T00:00:00Z';
const younger = '2026-01-02T00:00:00Z';

/** The names that claims of one namespace get, entered in the order given; `!` before who has it instead. */
function resolved(claims: readonly Claim[]): Readonly<Record<string, string>> {
  const all = new NameClaims();
  const byOwner = Map.groupBy(claims, ({ id }) => id.split('#', 1)[0]!);
  for (const [owner, own] of byOwner) all.replace(owner, 'shop', own);
  return Object.fromEntries(
    claims.map((each) => {
      const found = all.resolve('shop', each);
      return [each.id, 'name' in found ? found.name : `!${found.lostTo}`];
    }),
  );
}

describe('who gets a name that several want (A7)', () => {
  test.each<[string, readonly Claim[], Readonly<Record<string, string>>]>([
    [
      'the older of foo-bar on east and foo on bar-east',
      [claim('shop/foo-bar@east', younger, 'foo-bar-east'), claim('shop/foo@bar-east', older, 'foo-bar-east')],
      { 'shop/foo-bar@east': '!shop/foo@bar-east', 'shop/foo@bar-east': 'foo-bar-east' },
    ],
    [
      'of equally old ones the first by name',
      [claim('shop/foo@bar-east', older, 'foo-bar-east'), claim('shop/foo-bar@east', older, 'foo-bar-east')],
      { 'shop/foo-bar@east': '!shop/foo@bar-east', 'shop/foo@bar-east': 'foo-bar-east' },
    ],
    [
      'a Service web-0 that is older than the pod web-0 of a headless one, which takes its long name',
      [
        claim('shop/web-0@west', older, 'web-0-west'),
        claim('shop/web@west', younger, 'web-west'),
        claim('shop/web@west#web-0', younger, ...endpointMirrorNames('web-0', 'web', 'west')),
      ],
      { 'shop/web-0@west': 'web-0-west', 'shop/web@west': 'web-west', 'shop/web@west#web-0': 'web-0-web-west' },
    ],
    [
      'the pod of a headless Service that is older than a Service of its name, which gets none',
      [
        claim('shop/web-0@west', younger, 'web-0-west'),
        claim('shop/web@west', older, 'web-west'),
        claim('shop/web@west#web-0', older, ...endpointMirrorNames('web-0', 'web', 'west')),
      ],
      { 'shop/web-0@west': '!shop/web@west#web-0', 'shop/web@west': 'web-west', 'shop/web@west#web-0': 'web-0-west' },
    ],
    [
      'of two headless Services over one StatefulSet the older, the other long ones (L14)',
      [
        claim('shop/a@west#p-0', younger, ...endpointMirrorNames('p-0', 'a', 'west')),
        claim('shop/b@west#p-0', older, ...endpointMirrorNames('p-0', 'b', 'west')),
      ],
      { 'shop/a@west#p-0': 'p-0-a-west', 'shop/b@west#p-0': 'p-0-west' },
    ],
    [
      'a Service of the long name, however young, before a pod that falls back to it',
      [
        claim('shop/p-0-a@west', younger, 'p-0-a-west'),
        claim('shop/a@west#p-0', older, ...endpointMirrorNames('p-0', 'a', 'west')),
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
    const all = new NameClaims();
    const one = claim('a/web@west', older, 'web-west');
    const other = claim('b/web@west', younger, 'web-west');
    expect(all.replace('a/web@west', 'a', [one])).toEqual(new Set());
    expect(all.replace('b/web@west', 'b', [other])).toEqual(new Set());
    expect(all.resolve('a', one)).toEqual({ name: 'web-west' });
    expect(all.resolve('b', other)).toEqual({ name: 'web-west' });
  });
});

describe('a change of claims', () => {
  it('names the others who may win or lose a name, and nobody else', () => {
    const all = new NameClaims();
    all.replace('a', 'shop', [claim('a', younger, 'x')]);
    all.replace('c', 'shop', [claim('c', younger, 'y')]);
    expect(all.replace('b', 'shop', [claim('b', older, 'x')])).toEqual(new Set(['a']));
    expect(all.replace('b', 'shop', [])).toEqual(new Set(['a']));
    expect(all.resolve('shop', claim('a', younger, 'x'))).toEqual({ name: 'x' });
  });

  it('that is none touches nobody', () => {
    const all = new NameClaims();
    all.replace('a', 'shop', [claim('a', older, 'x')]);
    all.replace('b', 'shop', [claim('b', older, 'x')]);
    expect(all.replace('b', 'shop', [claim('b', older, 'x')])).toEqual(new Set());
  });

  it('of age alone touches who wants the same', () => {
    const all = new NameClaims();
    all.replace('a', 'shop', [claim('a', older, 'x')]);
    all.replace('b', 'shop', [claim('b', younger, 'x')]);
    expect(all.replace('b', 'shop', [claim('b', '2020-01-01T00:00:00Z', 'x')])).toEqual(new Set(['a']));
    expect(all.resolve('shop', claim('a', older, 'x'))).toEqual({ lostTo: 'b' });
  });
});

describe('the names of an endpoint mirror', () => {
  test.each([
    ['web-0', 'web', 'west', ['web-0-west', 'web-0-web-west']],
    ['0-web', 'web', 'west', []],
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
    since: fc.constantFrom<string>(older, younger),
    hosts: fc.uniqueArray(fc.constantFrom('a', 'b', 'a-b'), { maxLength: 2 }),
  });
  const targets = fc.uniqueArray(target, { maxLength: 6, selector: ({ service, cluster }) => `${service}@${cluster}` });

  const claimsOf = ({ service, cluster, since, hosts }: typeof target extends fc.Arbitrary<infer T> ? T : never) => {
    const owner = `${service}@${cluster}`;
    return [
      claim(owner, since, `${service}-${cluster}`),
      ...hosts.map((host) => claim(claimId(owner, host), since, ...endpointMirrorNames(host, service, cluster))),
    ];
  };

  it('the outcome is the same for every order of arrival, departures and changes included', () => {
    fc.assert(
      fc.property(
        targets.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }), fc.shuffledSubarray(all)),
        ),
        ([all, arrival, visitors]) => {
          const direct = resolved(all.flatMap(claimsOf));
          const claims = new NameClaims();
          // Some come with another age first, and leave again.
          for (const each of visitors) {
            claims.replace(
              `${each.service}@${each.cluster}`,
              'shop',
              claimsOf({ ...each, since: '2020-01-01T00:00:00Z' }),
            );
          }
          for (const each of visitors.slice(1)) claims.replace(`${each.service}@${each.cluster}`, 'shop', []);
          for (const each of arrival) claims.replace(`${each.service}@${each.cluster}`, 'shop', claimsOf(each));
          for (const each of all.flatMap(claimsOf)) {
            const found = claims.resolve('shop', each);
            expect('name' in found ? found.name : `!${found.lostTo}`).toBe(direct[each.id]);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('no name is given twice', () => {
    fc.assert(
      fc.property(targets, (all) => {
        const names = Object.values(resolved(all.flatMap(claimsOf))).filter((name) => !name.startsWith('!'));
        return new Set(names).size === names.length;
      }),
      { numRuns: 500 },
    );
  });
});

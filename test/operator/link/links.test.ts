import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  acceptedOf,
  type Assignment,
  assignmentOf,
  exportingClusters,
  type LinkRead,
  overlapping,
  ownerOf,
  readLinkObject,
  importingClusters,
  selectingClusters,
  type Served,
  seniorityOf,
} from '../../../operator/link/links.ts';
import { link } from '../../support/builders.ts';

const OLDER = '2026-01-01T00:00:00Z';
const YOUNGER = '2026-01-02T00:00:00Z';

interface Given {
  /** `spec.targetClusterName`. @default west */
  readonly names?: string;
  readonly at?: string;
  readonly valid?: boolean;
  readonly suspended?: string;
}

/** A Link as it is read from the API server. */
const read = (name: string, { names = 'west', at = OLDER, valid = true, suspended }: Given = {}): LinkRead =>
  readLinkObject(
    link(
      name,
      { targetClusterName: names, ...(valid ? {} : { gatewayPort: 'none' }) },
      {
        creationTimestamp: at,
        ...(suspended !== undefined && { annotations: { 'linkspan.dev/suspended': suspended } }),
      },
    ),
  );

const byName = (links: readonly LinkRead[]): ReadonlyMap<string, LinkRead> =>
  new Map(links.map((each) => [each.name, each]));

const summary = (assignment: Assignment): string => {
  switch (assignment.do) {
    case 'serve':
      return `serve ${assignment.settings.name}`;
    case 'continue':
      return `continue ${assignment.link.name}`;
    case 'keep':
    case 'remove':
      return `${assignment.do} ${assignment.link}`;
    case 'nothing':
      return 'nothing';
  }
};

const of = (links: readonly LinkRead[], served: Readonly<Record<string, string>> = {}, cluster = 'west'): string =>
  summary(assignmentOf(cluster, byName(links), new Map(Object.entries(served))));

describe('a Link as it is read', () => {
  it('has its settings and is accepted if it is valid (E7)', () => {
    expect(read('a', { at: YOUNGER })).toMatchObject({
      name: 'a',
      createdAt: YOUNGER,
      named: 'west',
      settings: { cluster: 'west' },
      accepted: { status: 'True', reason: 'Accepted' },
    });
  });

  it('names its cluster also when it is invalid, and reports the field (E7)', () => {
    expect(read('a', { valid: false })).toMatchObject({
      named: 'west',
      settings: undefined,
      accepted: { status: 'False', reason: 'InvalidLink', message: expect.stringContaining('gatewayPort') as string },
    });
  });

  test.each<[string, unknown]>([
    ['no spec', undefined],
    ['a spec that is null', null],
    ['no targetClusterName', {}],
    ['an empty targetClusterName', { targetClusterName: '' }],
    ['a targetClusterName that is not a string', { targetClusterName: 7 }],
  ])('names no cluster with %s, and is invalid', (_, spec) => {
    const object = { metadata: { name: 'a' }, ...(spec === undefined ? {} : { spec }) };
    expect(readLinkObject(object)).toMatchObject({ named: undefined, settings: undefined, createdAt: '' });
  });
});

describe('what is done for a cluster', () => {
  test.each<[string, readonly LinkRead[], Readonly<Record<string, string>>, string]>([
    ['nothing, without any Link', [], {}, 'nothing'],
    ['its only Link is served (E9)', [read('a')], {}, 'serve a'],
    ['nothing for Links of other clusters', [read('a', { names: 'east' })], {}, 'nothing'],
    ['the older of two Links is served (E9)', [read('a', { at: YOUNGER }), read('b')], {}, 'serve b'],
    ['of two that are equally old, the first by name is served (E9)', [read('b'), read('a')], {}, 'serve a'],
    [
      'the Link that is served keeps it, whatever its age and name (E9, L42)',
      [read('a'), read('z', { at: YOUNGER })],
      { z: 'west' },
      'serve z',
    ],
    [
      'a Link that was served for another cluster has no such claim',
      [read('a'), read('z', { at: YOUNGER })],
      { z: 'east' },
      'serve a',
    ],
    [
      'a served Link that turned invalid goes on as it was (E7, E9, L42)',
      [read('a', { valid: false }), read('b')],
      { a: 'west' },
      'continue a',
    ],
    [
      'also when it names another cluster by now (E7)',
      [read('a', { valid: false, names: 'east' }), read('b')],
      { a: 'west' },
      'continue a',
    ],
    ['an invalid Link that was never served does not get it', [read('a', { valid: false }), read('b')], {}, 'serve b'],
    [
      'of a served Link that is invalid and one that is valid the older goes on',
      [read('a', { at: YOUNGER }), read('b', { valid: false })],
      { a: 'west', b: 'west' },
      'continue b',
    ],
    ['a Link that takes over from one that is gone is served (E5, L41)', [read('b')], { a: 'west' }, 'serve b'],
    ['a Link under its new name is served (E5, L44)', [read('new')], { old: 'west' }, 'serve new'],
    ['what a deleted Link left is removed (E5)', [], { a: 'west' }, 'remove a'],
    [
      'what a Link left that names another cluster is removed (E5, L43)',
      [read('a', { names: 'east' })],
      { a: 'west' },
      'remove a',
    ],
    ['nothing for a Link that is suspended (H9)', [read('a', { suspended: 'true' })], { a: 'west' }, 'nothing'],
    [
      'nothing for it although it is invalid, and another would be served (H9)',
      [read('a', { suspended: 'true', valid: false }), read('b')],
      { a: 'west' },
      'nothing',
    ],
    ['any other text suspends nothing (H9)', [read('a', { suspended: 'yes' })], {}, 'serve a'],
    ['what several Links left is removed for one at a time', [], { b: 'west', a: 'west' }, 'remove a'],
    [
      'what a Link left is kept by the invalid Link that names the cluster (E7, E9, L44, L59)',
      [read('c', { valid: false }), read('b', { valid: false }), read('a', { names: 'east' })],
      { a: 'west' },
      'keep b',
    ],
    [
      'but by none that has another cluster (E9)',
      [read('c', { valid: false }), read('b', { valid: false })],
      { a: 'west', b: 'east' },
      'keep c',
    ],
    [
      'what a Link left stays for whom a suspended one is left to (H9)',
      [read('c', { valid: false }), read('b', { valid: false, suspended: 'true' })],
      { a: 'west' },
      'nothing',
    ],
    [
      'nothing under the Lease of a suspended Link, though that names another cluster by now (H9, L192)',
      [read('a', { names: 'east', suspended: 'true' })],
      { a: 'west' },
      'nothing',
    ],
    [
      'nor of what another has left beside it (H9, L192)',
      [read('b', { names: 'east', suspended: 'true' })],
      { a: 'west', b: 'west' },
      'nothing',
    ],
    ['nothing is known of what was never served', [read('b', { valid: false })], { a: 'east' }, 'nothing'],
  ])('%s', (_, links, served, expected) => {
    expect(of(links, served)).toBe(expected);
    expect(of(links.toReversed(), Object.fromEntries(Object.entries(served).toReversed()))).toBe(expected);
  });

  it('for each of two clusters when a Link moves between them (L43)', () => {
    const links = [read('a', { names: 'east' }), read('b', { names: 'east', at: YOUNGER })];
    expect(of(links, { a: 'west' }, 'west')).toBe('remove a');
    expect(of(links, { a: 'west' }, 'east')).toBe('serve a');
  });
});

describe('whether a Link is accepted', () => {
  test.each<[string, LinkRead, readonly LinkRead[], string]>([
    ['that has its cluster is', read('a'), [read('b', { at: YOUNGER })], 'Accepted'],
    ['that lost its cluster to another is not (E9)', read('b', { at: YOUNGER }), [read('a')], 'DuplicateCluster'],
    ['that is invalid is not, for that reason alone', read('b', { valid: false }), [read('a')], 'InvalidLink'],
    ['whose cluster nobody has is', read('a'), [], 'Accepted'],
  ])('a Link %s', (_, subject, others, reason) => {
    const owner = ownerOf('west', [subject, ...others], new Map());
    expect(acceptedOf(subject, owner)).toMatchObject({ reason });
  });

  it('is accepted with a warning where its mirrors and those of another Link can want the same names (A7)', () => {
    const all = [read('a', { names: 'west' }), read('b', { names: 'us-west' }), read('c', { names: 'southwest' })];
    expect(all.map((each) => overlapping(each, all))).toEqual([['b'], ['a'], []]);
    const [first] = all;
    expect(acceptedOf(first!, first, ['b'])).toMatchObject({
      status: 'True',
      reason: 'Accepted',
    });
    expect(acceptedOf(first!, first, ['b']).message).toContain('Link b can want the same name');
    expect(acceptedOf(first!, first, []).message).toBe('');
  });

  it('is not accepted while it is suspended, and says by what (H9)', () => {
    const suspended = read('a', { suspended: 'true' });
    expect(acceptedOf(suspended, suspended)).toMatchObject({
      status: 'False',
      reason: 'Suspended',
      message: expect.stringContaining('annotation linkspan.dev/suspended') as string,
    });
  });

  it('is refused with what to do where Links exchange their clusters, however many (E9, L220)', () => {
    const all = byName([read('a', { names: 'north' }), read('b', { names: 'west' }), read('c', { names: 'east' })]);
    const served = new Map(Object.entries({ a: 'west', b: 'east', c: 'north' }));
    for (const [cluster, has] of Object.entries({ west: 'a', east: 'b', north: 'c' }))
      expect(summary(assignmentOf(cluster, all, served))).toBe(`continue ${has}`);
    expect(acceptedOf(all.get('a')!, ownerOf('north', all.values(), served))).toEqual({
      status: 'False',
      reason: 'DuplicateCluster',
      message:
        'spec.targetClusterName: "north" is already served by Link c, which waits for another Link to leave cluster "east": ' +
        'clusters cannot be exchanged between Links at once. Let each name its former cluster again; or delete one of them, ' +
        'and create it anew once the other is served',
    });
  });

  it('is refused with the name of the Link that has the cluster, and what to do (E9)', () => {
    expect(acceptedOf(read('b'), read('a'))).toEqual({
      status: 'False',
      reason: 'DuplicateCluster',
      message: 'spec.targetClusterName: "west" is already served by Link a; give this one another name or remove it',
    });
  });
});

describe('the seniority of a cluster (I3, L135)', () => {
  const [old, young] = [read('z'), read('a', { at: YOUNGER })];
  const invalid = { valid: false, at: YOUNGER };
  test.each<[string, readonly LinkRead[], Readonly<Record<string, string>>, string | undefined]>([
    ['that of its Link, also of one that is suspended', [read('a', { suspended: 'true' })], {}, 'a'],
    ['that of the oldest of several', [young, old], {}, 'z'],
    ['that of the one that is served', [young, old], { a: 'west' }, 'a'],
    ['that of an invalid Link', [read('a', invalid), read('b', { names: 'north' })], {}, 'a'],
    ['that of the valid one beside an invalid one', [read('a', { valid: false }), read('b', { at: YOUNGER })], {}, 'b'],
    ['that of an invalid Link that was served for it', [read('a', { ...invalid, names: 'north' })], { a: 'west' }, 'a'],
    ['none without a Link', [read('a', { names: 'north' })], { b: 'west' }, undefined],
  ])('is %s', (_, links, served, expected) => {
    const at = links.find(({ name }) => name === expected)?.createdAt;
    const found = seniorityOf('west', links, new Map(Object.entries(served)));
    expect(found).toEqual(expected === undefined ? undefined : { createdAt: at, name: expected });
  });
});

describe('the clusters that take part, by what their Links say', () => {
  const MEMBERS = { federatedServiceSelector: { matchLabels: { 'mirror.linkerd.io/federated': 'member' } } };
  const reading = (name: string, spec: object = {}, annotations: object = {}): LinkRead =>
    readLinkObject(link(name, spec, { creationTimestamp: OLDER, annotations }));
  const suspended = { 'linkspan.dev/suspended': 'true' };

  it('have members of federated Services if those are selected, and the Link is not left to others (H9, I6)', () => {
    const links = [reading('west', MEMBERS), reading('east'), reading('north', MEMBERS, suspended)];
    const invalid = reading('south', { ...MEMBERS, gatewayPort: 'none' });
    expect(selectingClusters(byName([...links, invalid]), new Map())).toEqual(['west']);
    expect(importingClusters(byName([...links, invalid]), new Map())).toEqual(['west', 'east']);
  });

  it('are not named by Links that are refused: nobody is to be heard (H9, I6, L193)', () => {
    const second = reading('z-west', { ...MEMBERS, targetClusterName: 'west' });
    const ofBoth = [selectingClusters, importingClusters].map(
      (each) => (links: readonly LinkRead[], served: Served) => [...each(byName(links), served)],
    );
    for (const of of ofBoth) {
      expect(of([reading('west', MEMBERS), second], new Map())).toEqual(['west']);
      expect(of([reading('west', MEMBERS, suspended), second], new Map())).toEqual([]);
      const former = new Map([['east', 'west']]);
      expect(of([reading('west', MEMBERS, suspended), reading('east', MEMBERS)], former)).toEqual([]);
      expect(of([reading('east', MEMBERS)], former)).toEqual(['east']);
    }
  });

  it('export Services by the MCS API unless the Link says otherwise, suspended or invalid (K5)', () => {
    const links = [reading('west'), reading('east', { serviceExports: false }), reading('north', {}, suspended)];
    expect(exportingClusters([...links, reading('south', { gatewayPort: 'none' })])).toEqual([
      'west',
      'north',
      'south',
    ]);
  });
});

describe('whatever Links there are, and whatever they were served for', () => {
  const CLUSTERS = ['east', 'west', 'north'];
  const NAMES = ['a', 'b', 'c', 'd'];
  const given = fc.record({
    name: fc.constantFrom(...NAMES),
    names: fc.constantFrom(...CLUSTERS),
    at: fc.constantFrom(OLDER, YOUNGER),
    valid: fc.boolean(),
  });
  const links = fc
    .uniqueArray(given, { selector: ({ name }) => name })
    .map((all) => all.map(({ name, ...each }) => read(name, each)));
  const served: fc.Arbitrary<Served> = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...CLUSTERS)), { selector: ([name]) => name })
    .map((entries) => new Map(entries));

  const holds = (claim: (cluster: string, links: readonly LinkRead[], served: Served) => boolean): void =>
    fc.assert(
      fc.property(links, served, (all, of) => CLUSTERS.every((cluster) => claim(cluster, all, of))),
      {
        numRuns: 500,
      },
    );

  it('a Link has one cluster at most (E9)', () => {
    fc.assert(
      fc.property(links, served, (all, of) => {
        const owners = CLUSTERS.flatMap((cluster) => ownerOf(cluster, all, of)?.name ?? []);
        return new Set(owners).size === owners.length;
      }),
      { numRuns: 500 },
    );
  });

  it('no Link waits for itself to leave the cluster that it was served for (E9, L220)', () => {
    holds((cluster, all, of) => {
      let waitsFor: string | undefined = cluster;
      for (let steps = 0; waitsFor !== undefined; steps += 1) {
        if (steps > CLUSTERS.length) return false;
        const assignment: Assignment = assignmentOf(waitsFor, byName(all), of);
        const former: string | undefined = assignment.do === 'serve' ? of.get(assignment.settings.name) : undefined;
        waitsFor = former === waitsFor ? undefined : former;
      }
      return true;
    });
  });

  it('the outcome depends on no order (E9)', () => {
    fc.assert(
      fc.property(
        links.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        served.chain((of) => fc.tuple(fc.constant(of), fc.shuffledSubarray([...of], { minLength: of.size }))),
        ([all, shuffled], [of, shuffledOf]) => {
          for (const cluster of CLUSTERS) {
            expect(assignmentOf(cluster, byName(shuffled), new Map(shuffledOf))).toEqual(
              assignmentOf(cluster, byName(all), of),
            );
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('a Link that is served and still names its cluster, or is invalid, keeps it from all that are not served (E9)', () => {
    holds((cluster, all, of) => {
      const keepers = all.filter(
        ({ name, settings }) => of.get(name) === cluster && (settings === undefined || settings.cluster === cluster),
      );
      const owner = ownerOf(cluster, all, of);
      return keepers.length === 0 || keepers.some(({ name }) => name === owner?.name);
    });
  });

  it('a Link that has a cluster is served if it is valid, and goes on otherwise (E7)', () => {
    holds((cluster, all, of) => {
      const owner = ownerOf(cluster, all, of);
      const assignment = assignmentOf(cluster, byName(all), of);
      if (owner === undefined) return ['keep', 'remove', 'nothing'].includes(assignment.do);
      return summary(assignment) === `${owner.settings === undefined ? 'continue' : 'serve'} ${owner.name}`;
    });
  });

  it('nothing is removed while a Link names the cluster that has no other, and only what some Link was served for (E5)', () => {
    holds((cluster, all, of) => {
      const assignment = assignmentOf(cluster, byName(all), of);
      if (assignment.do !== 'remove') return true;
      const isNamed = all.some(({ name, named }) => named === cluster && !of.has(name));
      return !isNamed && of.get(assignment.link) === cluster;
    });
  });

  it('what was written is served, goes on, is kept, or is removed (E5)', () => {
    holds((cluster, all, of) => {
      const isWritten = [...of.values()].includes(cluster);
      return !isWritten || assignmentOf(cluster, byName(all), of).do !== 'nothing';
    });
  });

  it('what is kept is kept by an invalid Link that then goes on with it (E7, E9)', () => {
    holds((cluster, all, of) => {
      const assignment = assignmentOf(cluster, byName(all), of);
      if (assignment.do !== 'keep') return true;
      const then = assignmentOf(cluster, byName(all), new Map(of).set(assignment.link, cluster));
      return summary(then) === `continue ${assignment.link}`;
    });
  });

  it('of all Links that name a cluster exactly one is accepted, or none while an invalid one has it (E9)', () => {
    holds((cluster, all, of) => {
      const owner = ownerOf(cluster, all, of);
      const contenders = all.filter(({ settings }) => settings?.cluster === cluster);
      const accepted = contenders.filter((each) => acceptedOf(each, owner).status === 'True');
      if (contenders.length === 0) return true;
      return owner?.settings === undefined ? accepted.length === 0 : accepted.length === 1;
    });
  });
});

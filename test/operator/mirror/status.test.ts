import { describe, expect, it } from 'vitest';
import {
  countsByReason,
  MAX_ENTRIES,
  MAX_MIRRORED,
  mirrored,
  mirrorServices,
  mirrorState,
  notMirrored,
} from '../../../operator/mirror/status.ts';

const ref = (name: string, namespace = 'shop') => ({ namespace, name });
const ok = (name: string, namespace?: string) => mirrored(ref(name, namespace), 'west', '');
const bad = (name: string, message = 'no ports') =>
  notMirrored(ref(name), 'west', { reason: 'InvalidService', message });
const T1 = '2026-01-01T00:00:00Z';
const T2 = '2026-01-02T00:00:00Z';

describe('the state of a mirror', () => {
  it('is failed only if something is wrong', () => {
    expect(mirrorState(ok('web'))).toBe('ready');
    expect(mirrorState(bad('web'))).toBe('failed');
    const waits = { reason: 'WaitingForEndpoints', message: 'no endpoints' } as const;
    expect(mirrorState(notMirrored(ref('db'), 'west', waits))).toBe('waiting');
  });
});

describe('the count of what is not mirrored (G1)', () => {
  it('is by reason, the most frequent first, then the first by name', () => {
    const reasons = [
      'NameConflict',
      'MissingNamespace',
      'InvalidService',
      'NameConflict',
      'Error',
      'Error',
      'Error',
    ] as const;
    const statuses = reasons.map((reason) => notMirrored(ref('web'), 'west', { reason, message: '' }));
    const expected = ['Error 3', 'NameConflict 2', 'InvalidService 1', 'MissingNamespace 1'];
    for (const given of [statuses, statuses.toReversed()])
      expect([...countsByReason(given)].map(([reason, count]) => `${reason} ${count}`)).toEqual(expected);
    expect(countsByReason([]).size).toBe(0);
  });
});

describe('status.mirrorServices (G2)', () => {
  it("has Linkerd's fields", () => {
    expect(mirrorServices([bad('web')], [], T1)).toEqual([
      {
        controllerName: 'linkspan.dev/operator',
        remoteRef: { name: 'web', namespace: 'shop', kind: 'Service', group: '' },
        conditions: [
          {
            type: 'Mirrored',
            status: 'False',
            reason: 'InvalidService',
            message: 'no ports',
            lastTransitionTime: T1,
            localRef: { name: 'web-west', namespace: 'shop', kind: 'Service', group: '' },
          },
        ],
      },
    ]);
  });

  it('lists failures first, then by namespace and name', () => {
    const entries = mirrorServices([ok('b'), ok('a'), bad('z'), ok('c', 'a'), bad('y')], [], T1);
    expect(entries.map(({ remoteRef }) => `${remoteRef.namespace}/${remoteRef.name}`)).toEqual([
      'shop/y',
      'shop/z',
      'a/c',
      'shop/a',
      'shop/b',
    ]);
  });

  it('is in one order, whatever the order in which Services are decided: failures, those with a note, the others', () => {
    const noted = (name: string, namespace = 'shop') => mirrored(ref(name, namespace), 'west', 'a port is left out');
    const expected = [
      bad('a'),
      bad('b'),
      notMirrored(ref('a', 'zoo'), 'west', { reason: 'InvalidService', message: 'no ports' }),
      noted('z', 'a'),
      noted('b'),
      noted('c'),
      ok('y', 'a'),
      ok('a'),
      ok('d'),
      ok('b', 'zoo'),
    ];
    for (let turn = 0; turn < expected.length; turn += 1) {
      const turned = [...expected.slice(turn), ...expected.slice(0, turn)];
      for (const given of [turned, turned.toReversed()])
        expect(mirrorServices(given, [], T1).map(({ remoteRef }) => remoteRef)).toMatchObject(
          expected.map(({ remote }) => remote),
        );
    }
  });

  it('lists few of what is mirrored, and those first of which there is something to say', () => {
    const fine = Array.from({ length: 400 }, (_, index) => ok(`s${index}`));
    const noted = mirrored(ref('zz'), 'west', 'port 53 is UDP and left out');
    const entries = mirrorServices([...fine, noted, bad('zzz')], [], T1);
    expect(entries).toHaveLength(1 + MAX_MIRRORED);
    expect(entries.slice(0, 2).map(({ remoteRef }) => remoteRef.name)).toEqual(['zzz', 'zz']);
  });

  it('keeps the time of the last transition until there is another', () => {
    const first = mirrorServices([ok('web')], [], T1);
    const again = mirrorServices([mirrored(ref('web'), 'west', 'another message')], first, T2);
    expect(again[0]?.conditions[0]).toMatchObject({ message: 'another message', lastTransitionTime: T1 });
    expect(mirrorServices([bad('web')], again, T2)[0]?.conditions[0]?.lastTransitionTime).toBe(T2);
  });

  it('is bounded, whatever the target exports, and drops no failure for a success (L23)', () => {
    const names = Array.from({ length: 4000 }, (_, index) => `s${index}`);
    const many = [...names.map((name) => bad(name)), ok('zzz')];
    const entries = mirrorServices(many, [], T1);
    expect(entries).toHaveLength(MAX_ENTRIES);
    expect(entries.every(({ conditions }) => conditions[0]?.status === 'False')).toBe(true);
    const long = mirrorServices(
      many.map((each) => ({ ...each, message: 'x'.repeat(10_000) })),
      [],
      T1,
    );
    expect(JSON.stringify(long).length).toBeLessThan(600_000);
  });
});

import { describe, expect, it } from 'vitest';
import { ByHostname, type Group, groupOf, groupsBeside } from '../../../operator/mirror/by-hostname.ts';

const HOSTNAMES = Array.from({ length: 1_000 }, (_, at) => `web-${at}`);
const numbered = ByHostname.of(HOSTNAMES.map((hostname, at) => [hostname, at] as const));
const sorted = <T>(all: Iterable<T>): readonly T[] => [...all].sort();

describe('the pods of a Service by hostname', () => {
  it('are found by it, and listed each once', () => {
    expect([numbered.get('web-7'), numbered.has('web-7')]).toEqual([7, true]);
    expect([numbered.get('db-7'), numbered.has('db-7')]).toEqual([undefined, false]);
    expect([sorted(numbered.keys()), numbered.size]).toEqual([sorted(HOSTNAMES), 1_000]);
    expect(new Map(numbered)).toEqual(new Map(HOSTNAMES.map((hostname, at) => [hostname, at])));
    expect(new Set(numbered.values())).toEqual(new Set(HOSTNAMES.keys()));
  });

  it('come, change and go, and those before stay as they were', () => {
    const changed = numbered.with([
      ['web-7', undefined],
      ['web-8', -8],
      ['new-0', 0],
      ['gone-0', undefined],
    ]);
    expect([changed.has('web-7'), changed.get('web-8'), changed.get('new-0')]).toEqual([false, -8, 0]);
    expect([changed.size, [...changed.keys()].length]).toEqual([1_000, 1_000]);
    expect([numbered.get('web-7'), numbered.get('web-8'), numbered.has('new-0')]).toEqual([7, 8, false]);
  });

  it('are nobody once all of them are gone', () => {
    expect(numbered.with(HOSTNAMES.map((hostname) => [hostname, undefined]))).toEqual(ByHostname.none());
  });

  it('are the same where nothing changes, so that nothing that was derived of them is derived again (E10)', () => {
    expect(numbered.with([])).toBe(numbered);
    expect(numbered.filter(() => true)).toBe(numbered);
    const even = numbered.filter((at) => at % 2 === 0);
    expect([even.size, even.has('web-8'), even.has('web-7')]).toEqual([500, true, false]);
    expect(numbered.filter((_, hostname) => hostname !== 'web-7').size).toBe(999);
  });
});

describe('what is derived of groups of pods (E10)', () => {
  const doubled = (group: Group<number>): Group<number> => new Map([...group].map(([key, at]) => [key, 2 * at]));
  const first = { from: numbered, to: numbered.deriveFrom<number>(undefined, doubled) };

  it('is derived of each pod', () => {
    expect(new Map(first.to)).toEqual(new Map(HOSTNAMES.map((hostname, at) => [hostname, 2 * at])));
    expect(first.to.size).toBe(1_000);
  });

  it('is derived again of the group of a pod that has changed, with what was derived before, and of no other', () => {
    const changed = numbered.with([['web-7', 70]]);
    const before: (Group<number> | undefined)[] = [];
    const to = changed.deriveFrom(first, (group, known) => {
      before.push(known);
      return doubled(group);
    });
    expect([to.get('web-7'), to.get('web-8'), to.size]).toEqual([140, 16, 1_000]);
    expect(before.map((known) => known?.get('web-7'))).toEqual([14]);
    expect([...to.groups].filter(([at, group]) => first.to.groups.get(at) !== group).map(([at]) => at)).toEqual([
      groupOf('web-7'),
    ]);
  });

  it('is derived of those that have come, and nothing is left of those that are gone', () => {
    const few = ByHostname.of([['web-7', 7]]);
    const grown = numbered.deriveFrom({ from: few, to: few.deriveFrom<number>(undefined, doubled) }, doubled);
    expect(new Map(grown)).toEqual(new Map(first.to));
    expect(new Map(few.deriveFrom(first, doubled))).toEqual(new Map([['web-7', 14]]));
  });
});

describe('the groups that one has beside another (E10)', () => {
  const hostnames = (groups: Iterable<Group<number>>) => [...groups].flatMap((group) => [...group.keys()]);

  it('are those in which something differs, each as a whole', () => {
    const changed = numbered.with([['web-7', 70]]);
    const together = sorted(HOSTNAMES.filter((hostname) => groupOf(hostname) === groupOf('web-7')));
    expect(sorted(hostnames(groupsBeside(changed, numbered)))).toEqual(together);
    expect(sorted(hostnames(groupsBeside(numbered, changed)))).toEqual(together);
  });

  it('are none of the same, and all beside nobody', () => {
    expect(hostnames(groupsBeside(numbered, numbered))).toEqual([]);
    expect(hostnames(groupsBeside(numbered, ByHostname.none()))).toHaveLength(1_000);
    expect(hostnames(groupsBeside(ByHostname.none(), numbered))).toEqual([]);
  });
});

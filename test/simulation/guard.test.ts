/** What the judge puts deletions down to, where one loss follows another (rule E6). */
import { describe, expect, it } from 'vitest';
import { Guard } from './guard.ts';

const KEYS = Array.from({ length: 14 }, (_, index) => `shop/many-${index}`);
const LOST_AT = 10;
const ASKED_AT = 20;

interface Losing {
  /** When the deletions of the nine are asked for. */
  readonly sentMs: number;
  readonly isExcluded?: boolean;
  readonly isChosen?: boolean;
}

/** The complaints where nine of fourteen are excluded, and all are lost at 10, which is known from 20 on. */
function complaints({ sentMs, isExcluded = true, isChosen = false }: Losing) {
  const complained: string[] = [];
  const guard = new Guard((what) => complained.push(what));
  const there = (): readonly string[] => KEYS;
  const before = new Set(KEYS);
  if (isExcluded) guard.lost('the policy', ['west'], { before, after: new Set(KEYS.slice(9)), there, isChosen });
  guard.lost('lose all', ['west'], { before, after: new Set(), there, knownMs: () => ASKED_AT });
  for (const [index, key] of KEYS.entries()) {
    guard.counted('west', key, -1);
    guard.deleted('west', key, () => true, index < 9 ? sentMs : ASKED_AT + 1);
  }
  return complained;
}

describe('deletions of what was lost twice (E6)', () => {
  it.each([
    ['before the second loss', LOST_AT - 1],
    ['before anybody could know of the second loss', ASKED_AT - 1],
  ])('count for the first loss if they were asked for %s', (_, sentMs) => {
    expect(complaints({ sentMs })).toEqual([]);
  });

  it('count for the second loss if they were asked for when it could be known', () => {
    expect(complaints({ sentMs: ASKED_AT + 1 })[0]).toMatch(/deleted since lose all, unconfirmed/);
  });

  it("count for the user's settings if these took them away first, whenever they were asked for", () => {
    expect(complaints({ sentMs: ASKED_AT + 1, isChosen: true })).toEqual([]);
  });

  it('count for the only loss there was, whatever came before it was known', () => {
    expect(complaints({ sentMs: ASKED_AT + 1, isExcluded: false })[0]).toMatch(/deleted since lose all/);
    expect(complaints({ sentMs: ASKED_AT - 1, isExcluded: false })).toEqual([]);
  });

  it('are too many if the first loss was, known or not', () => {
    const complained: string[] = [];
    const guard = new Guard((what) => complained.push(what));
    const lack = { before: new Set(KEYS), after: new Set<string>(), there: () => KEYS };
    guard.lost('the policy', ['west'], lack);
    guard.lost('lose all', ['west'], { ...lack, knownMs: () => ASKED_AT });
    for (const key of KEYS) guard.deleted('west', key, () => true, LOST_AT - 1);
    expect(complained[0]).toMatch(/deleted since the policy, unconfirmed/);
  });

  it('count apart for Services of flat networks, which another list has', () => {
    const complained: string[] = [];
    const guard = new Guard((what) => complained.push(what));
    const lack = { before: new Set(KEYS), after: new Set<string>(), there: () => KEYS };
    guard.lost('lose all', ['west'], { ...lack, flat: new Set(KEYS.slice(10)) });
    for (const key of KEYS) guard.deleted('west', key, () => true, ASKED_AT);
    expect(complained).toEqual([]);
    guard.lost('lose all', ['west'], { ...lack, flat: new Set(KEYS.slice(11)) });
    for (const key of KEYS) guard.deleted('west', key, () => true, ASKED_AT);
    expect(complained).toHaveLength(1);
  });
});

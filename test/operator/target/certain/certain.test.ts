import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Aspect, NOTHING_EXPORTED } from '../../../../operator/target/aspect.ts';
import { Certain } from '../../../../operator/target/certain/certain.ts';
import { Losses } from '../../../../operator/target/certain/losses.ts';

describe('the limit of an aspect that must be counted (E10)', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** An aspect whose number of keys takes a look at each, as that of one under a policy does. */
  function counted(most: number) {
    const there = new Set<string>();
    let counts = 0;
    const aspect: Aspect<string> = {
      ...NOTHING_EXPORTED,
      get size() {
        counts += 1;
        return there.size;
      },
      keys: () => there,
      get: (key) => (there.has(key) ? key : undefined),
    };
    const certain = new Certain({
      aspect,
      isCountedOneByOne: () => true,
      most,
      what: 'Services',
      setting: 'maxMirrors',
      losses: new Losses().sort((key) => key),
      report: { statusChanged: () => undefined },
      made: () => [],
      since: () => '',
    });
    const add = (key: string): boolean => {
      there.add(key);
      certain.noted(key);
      return certain.admits(key);
    };
    return { there, certain, add, counts: () => counts };
  }

  it('counts once for all the changes that cannot exceed it', () => {
    const { add, counts } = counted(1_000);
    expect(Array.from({ length: 1_000 }, (_, at) => add(`shop/web-${at}`)).every(Boolean)).toBe(true);
    expect(counts()).toBe(1);
  });

  it('counts again before it takes changes for more than it allows', () => {
    const { certain, add, counts } = counted(2);
    expect(Array.from({ length: 10 }, () => add('shop/web')).every(Boolean)).toBe(true);
    expect([add('shop/api'), add('shop/zoo'), certain.excess]).toEqual([true, false, { exported: 3, served: 2 }]);
    expect(counts()).toBeGreaterThan(1);
  });

  it('counts anew what was listed anew', () => {
    const { there, certain, add } = counted(2);
    expect(add('shop/web')).toBe(true);
    for (const key of ['shop/api', 'shop/db']) there.add(key);
    certain.recount();
    expect(certain.admitsAll).toBe(false);
  });
});

it('remembers what is gone for as long as something is derived from it, however much goes (A2)', () => {
  const made = new Set(['shop/web']);
  let answered = '';
  const certain = new Certain({
    aspect: { ...NOTHING_EXPORTED, decides: () => true, confirms: (key) => key === answered },
    most: 10_000,
    what: 'Services',
    setting: 'maxMirrors',
    losses: new Losses().sort((key) => key),
    report: { statusChanged: () => undefined },
    made: () => made,
    since: () => '',
  });
  const keys = ['shop/web', ...Array.from({ length: 1_000 }, (_, at) => `shop/pr-${at}`)];
  for (const key of keys) {
    answered = key;
    certain.answered(key);
  }
  answered = '';
  expect(keys.filter((key) => certain.isCertainlyGone(key))).toEqual(['shop/web', 'shop/pr-999']);
});

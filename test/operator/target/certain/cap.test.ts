import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { admitted, type Candidate, Cap } from '../../../../operator/target/certain/cap.ts';

const candidate = (key: string, since = '2026-01-01T00:00:00Z', isMirrored = false): Candidate => ({
  key,
  since,
  isMirrored,
});

describe('which are served of more than a limit allows (E10)', () => {
  it('are the oldest, then the first by key, in whatever order they come', () => {
    const all = [candidate('d'), candidate('b'), candidate('c', '2025-01-01T00:00:00Z'), candidate('a')];
    expect(admitted(all, 2)).toEqual(new Set(['c', 'a']));
    expect(admitted([...all].reverse(), 2)).toEqual(new Set(['c', 'a']));
  });

  it('are all that are mirrored, also if these are more', () => {
    const old = candidate('old', '2020-01-01T00:00:00Z');
    const mirrored = ['x', 'y', 'z'].map((key) => candidate(key, '2026-01-01T00:00:00Z', true));
    expect(admitted([old, ...mirrored], 2)).toEqual(new Set(['x', 'y', 'z']));
    expect(admitted([old, ...mirrored], 4)).toEqual(new Set(['x', 'y', 'z', 'old']));
  });
});

describe('a limit (E10)', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** @param twice how many candidates the size counts once more, as those of two modes */
  function limited(most: number, twice = 0) {
    const candidates: Candidate[] = [];
    const changes: (readonly string[])[] = [];
    let decisions = 0;
    const cap = new Cap({
      most,
      get size() {
        return candidates.length + twice;
      },
      candidates: () => {
        decisions += 1;
        return candidates;
      },
      readmitted: (keys) => void changes.push([...keys].sort()),
    });
    return { cap, candidates, changes, decisions: () => decisions };
  }

  it('that is not exceeded admits everything without a look at anything', () => {
    const { cap, candidates, decisions } = limited(2);
    candidates.push(candidate('a'), candidate('b'));
    cap.changed();
    expect([cap.admits('a'), cap.admits('b'), cap.excess, decisions(), vi.getTimerCount()]).toEqual([
      true,
      true,
      undefined,
      0,
      0,
    ]);
  });

  it('that is exceeded admits no more, however many come before it is decided anew', () => {
    const { cap, candidates, decisions } = limited(2);
    candidates.push(candidate('a'), candidate('b'), candidate('c'));
    expect([cap.admits('a'), cap.admits('b'), cap.admits('c'), cap.excess]).toEqual([
      true,
      true,
      false,
      { exported: 3, served: 2 },
    ]);
    for (let at = 0; at < 100; at += 1) {
      candidates.push(candidate(`d${at}`));
      cap.changed();
      expect(cap.admits(`d${at}`)).toBe(false);
    }
    vi.advanceTimersByTime(1_000);
    expect([decisions(), cap.excess]).toEqual([2, { exported: 103, served: 2 }]);
  });

  it('admits what there is room for again, and reports which', () => {
    const { cap, candidates, changes } = limited(2);
    candidates.push(candidate('a'), candidate('b'), candidate('c'), candidate('d'));
    expect(cap.admits('c')).toBe(false);
    candidates.shift();
    cap.changed();
    vi.advanceTimersByTime(1_000);
    expect([changes, cap.admits('c'), cap.admits('d'), cap.excess]).toEqual([
      [['c']],
      true,
      false,
      { exported: 3, served: 2 },
    ]);
    candidates.shift();
    cap.changed();
    vi.advanceTimersByTime(1_000);
    expect([changes.at(-1), cap.admits('d'), cap.excess]).toEqual([['d'], true, undefined]);
  });

  it('is not exceeded by what is counted twice (L287)', () => {
    const { cap, candidates } = limited(2, 2);
    candidates.push(candidate('a'), candidate('b'));
    expect([cap.admits('a'), cap.admits('b'), cap.excess]).toEqual([true, true, undefined]);
    candidates.push(candidate('c'));
    cap.changed();
    vi.advanceTimersByTime(1_000);
    expect([cap.admits('c'), cap.excess]).toEqual([false, { exported: 3, served: 2 }]);
  });

  it('that less than all that is mirrored would keep says how many are served (L287)', () => {
    const { cap, candidates } = limited(1);
    candidates.push(...['a', 'b'].map((key) => candidate(key, '', true)), candidate('c'));
    expect([cap.admits('c'), cap.excess]).toEqual([false, { exported: 3, served: 2 }]);
  });

  it('decides nothing after the end', () => {
    const { cap, candidates, changes } = limited(1);
    candidates.push(candidate('a'), candidate('b'));
    cap.changed();
    cap.stop();
    vi.advanceTimersByTime(1_000);
    expect(changes).toEqual([]);
  });
});

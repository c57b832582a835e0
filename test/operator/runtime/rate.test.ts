import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Throttle, TokenBucket } from '../../../operator/runtime/rate.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const RATE = { burst: 3, everyMs: 1_000 };

describe('a token bucket (G3)', () => {
  it('gives a burst, then one token at a time', () => {
    const bucket = new TokenBucket(RATE);
    expect([1, 2, 3, 4].map(() => bucket.take())).toEqual([true, true, true, false]);
    expect(bucket.waitMs()).toBe(1_000);
    vi.advanceTimersByTime(999);
    expect(bucket.take()).toBe(false);
    vi.advanceTimersByTime(1);
    expect([bucket.take(), bucket.take()]).toEqual([true, false]);
  });

  it('fills up while it is not used, to the burst and no further', () => {
    const bucket = new TokenBucket(RATE);
    bucket.take();
    vi.advanceTimersByTime(3_600_000);
    expect([1, 2, 3, 4].map(() => bucket.take())).toEqual([true, true, true, false]);
  });
});

describe('reports at a rate (G3)', () => {
  const setUp = () => {
    const reports: (readonly [string, number])[] = [];
    const throttle = new Throttle<string>(RATE, (value, more) => reports.push([value, more]));
    return { reports, throttle };
  };

  it('are made at once, then the latest stands for all others', () => {
    const { reports, throttle } = setUp();
    for (let n = 0; n < 1_000; n += 1) throttle.add(`r${n}`);
    expect(reports).toEqual([
      ['r0', 0],
      ['r1', 0],
      ['r2', 0],
    ]);
    vi.advanceTimersByTime(1_000);
    expect(reports.slice(3)).toEqual([['r999', 996]]);
    vi.advanceTimersByTime(60_000);
    expect(reports).toHaveLength(4);
  });

  it('are as many in a flood as the rate allows', () => {
    const { reports, throttle } = setUp();
    for (let tenth = 0; tenth < 100; tenth += 1) {
      for (let n = 0; n < 10; n += 1) throttle.add('x');
      vi.advanceTimersByTime(100);
    }
    vi.advanceTimersByTime(1_000);
    expect(reports.length).toBeLessThanOrEqual(3 + 11);
    expect(reports.reduce((sum, [, more]) => sum + 1 + more, 0)).toBe(1_000);
  });

  it('that are held are made when nothing more will come', () => {
    const { reports, throttle } = setUp();
    for (let n = 0; n < 5; n += 1) throttle.add(`r${n}`);
    throttle.flush();
    throttle.flush();
    expect(reports.slice(3)).toEqual([['r4', 1]]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Absence } from '../../../operator/runtime/absence.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE_MS = 60_000;

function absence(graceMs?: number) {
  let ends = 0;
  const absent = new Absence({ graceMs, onEnd: () => (ends += 1) });
  const explains = (key: string): boolean => absent.leftMs(key) > 0;
  return { absent, explains, ends: () => ends };
}

describe('what is missing once its kind was (K5)', () => {
  it('is explained by that for ten minutes, unless it has been seen since', () => {
    const { absent, explains, ends } = absence();
    absent.saw('shop/early');
    expect(explains('shop/web')).toBe(false);
    absent.noticed();
    absent.saw('shop/seen');
    expect(['shop/web', 'shop/early', 'shop/seen'].map((key) => explains(key))).toEqual([true, true, false]);
    vi.advanceTimersByTime(10 * MINUTE_MS - 1);
    expect([explains('shop/web'), ends()]).toEqual([true, 0]);
    vi.advanceTimersByTime(1);
    expect([explains('shop/web'), ends()]).toEqual([false, 1]);
  });

  it('is explained by it anew when the kind is missing again, whatever was seen in between', () => {
    const { absent, explains, ends } = absence(MINUTE_MS);
    absent.noticed();
    absent.saw('shop/web');
    vi.advanceTimersByTime(MINUTE_MS - 1);
    absent.noticed();
    expect(explains('shop/web')).toBe(true);
    vi.advanceTimersByTime(MINUTE_MS - 1);
    expect([explains('shop/web'), ends()]).toEqual([true, 0]);
    vi.advanceTimersByTime(1);
    expect([explains('shop/web'), ends()]).toEqual([false, 1]);
  });

  it('is explained by nothing once that is forgotten', () => {
    const { absent, explains, ends } = absence();
    absent.noticed();
    absent.stop();
    expect([explains('shop/web'), vi.getTimerCount(), ends()]).toEqual([false, 0, 0]);
  });
});

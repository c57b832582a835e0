import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Volume } from '../../../../operator/target/certain/volume.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the bytes of what is derived from a Link (E10)', () => {
  const volume = (found: Readonly<Record<string, number>> = {}) => {
    const room: (readonly string[])[] = [];
    const of = new Volume({
      most: 100,
      found: () => Object.entries(found),
      listener: { roomFor: (keys) => void room.push(keys) },
    });
    return { of, room };
  };

  it('admit what fits, and refuse what does not', () => {
    const { of } = volume();
    expect(of.admits('a', 60)).toBe(true);
    expect(of.admits('b', 41)).toBe(false);
    expect([of.admits('b', 40), of.refused.size]).toEqual([true, 0]);
  });

  it('leave what there is, however much it is, unless it grows', () => {
    const { of } = volume({ a: 150, b: 10 });
    expect(of.admits('a', 150)).toBe(true);
    expect(of.admits('a', 151)).toBe(false);
    expect(of.admits('c', 1)).toBe(false);
    expect(of.admits('b', 9)).toBe(true);
    expect(of.refused.size).toBe(2);
  });

  it('leave what there is of a size that is known only with the target', () => {
    const of = new Volume({ most: 100, found: () => [['a', undefined]], listener: { roomFor: () => undefined } });
    expect(of.admits('b', 90)).toBe(true);
    expect([of.admits('a', 20), of.admits('a', 20), of.admits('a', 21)]).toEqual([true, true, false]);
  });

  it('try what was refused again when there is room', async () => {
    const { of, room } = volume();
    of.admits('a', 100);
    of.admits('b', 50);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(room).toEqual([]);
    of.admits('a', 0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(room).toEqual([['b']]);
    expect([of.admits('b', 50), of.refused.size]).toEqual([true, 0]);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Grace } from '../../../operator/link/grace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const { signal } = new AbortController();
const no = (): Promise<boolean> => Promise.resolve(false);

/** How long Links cannot be there, and since when the cluster was said to have none. */
let holdMs: number;
let asked: number[];
/** Whether the API server lists a Link of the cluster. */
let isLinked: boolean;
const graceOf = (removalGraceMs?: number): Grace => {
  [holdMs, asked, isLinked] = [0, [], false];
  const presence = {
    holdMs: (sinceMs: number) => {
      asked.push(sinceMs);
      return Promise.resolve(holdMs);
    },
  };
  return new Grace({ presence, isLinked: () => Promise.resolve(isLinked), removalGraceMs });
};

describe('a cluster without a Link (E5)', () => {
  it('keeps its mirrors for two seconds, and is looked at twice in each', async () => {
    const grace = graceOf();
    const waits: number[] = [];
    for (
      let waitMs = await grace.leftMs('west', signal, no);
      waitMs > 0;
      waitMs = await grace.leftMs('west', signal, no)
    ) {
      waits.push(waitMs);
      await vi.advanceTimersByTimeAsync(waitMs);
    }
    expect(waits).toEqual([500, 500, 500, 500]);
    expect(new Set(asked).size).toBe(1);
  });

  it('keeps them as long as Links cannot be there, however long it has had none', async () => {
    const grace = graceOf();
    holdMs = 10_000;
    for (let looks = 0; looks < 3; looks += 1) {
      expect(await grace.leftMs('west', signal, no)).toBe(10_000);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    holdMs = 0;
    expect(await grace.leftMs('west', signal, no)).toBe(0);
  });

  it('keeps them while a Link is listed for it, though no watch shows one', async () => {
    const grace = graceOf(300);
    isLinked = true;
    expect(await grace.leftMs('west', signal, no)).toBe(300);
    await vi.advanceTimersByTimeAsync(300);
    for (let looks = 0; looks < 3; looks += 1) {
      expect(await grace.leftMs('west', signal, no)).toBe(1_000);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    isLinked = false;
    expect(await grace.leftMs('west', signal, no)).toBe(0);
  });

  it('is looked at every ten seconds while Links may return, since a person may say that they will not', async () => {
    const grace = graceOf();
    holdMs = 600_000;
    expect(await grace.leftMs('west', signal, no)).toBe(10_000);
  });

  it('has the whole time again once it has had a Link', async () => {
    const grace = graceOf(300);
    expect(await grace.leftMs('west', signal, no)).toBe(300);
    await vi.advanceTimersByTimeAsync(299);
    grace.end('west');
    expect(await grace.leftMs('west', signal, no)).toBe(300);
  });

  it('has a time of its own', async () => {
    const grace = graceOf(300);
    await grace.leftMs('west', signal, no);
    await vi.advanceTimersByTimeAsync(200);
    expect([await grace.leftMs('east', signal, no), await grace.leftMs('west', signal, no)]).toEqual([300, 100]);
  });
});

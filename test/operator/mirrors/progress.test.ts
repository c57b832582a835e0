import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Progress } from '../../../operator/mirrors/progress.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const KEY = 'shop/web';

/** Progress of a cluster, and what it has measured. */
function setUp() {
  const metrics = createMetrics({ process: false });
  const valueOf = async (name: string): Promise<number> => {
    const line = (await metrics.registry.metrics()).split('\n').find((each) => each.startsWith(`${name}{`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const progress = new Progress('west', metrics);
  return {
    progress,
    /** One pass that is the last of its reconcile. */
    pass: (writes: number | undefined) => progress.end(KEY, progress.begin(KEY), writes),
    changesFollowed: () => valueOf('linkspan_convergence_seconds_count'),
    secondsTaken: () => valueOf('linkspan_convergence_seconds_sum'),
    repairs: () => valueOf('service_mirror_endpoint_repairs'),
  };
}

describe('a change of the target (G4)', () => {
  it('is measured from when it was seen to the end of the pass that wrote for it', async () => {
    const { progress, pass, changesFollowed, secondsTaken } = setUp();
    progress.changed(KEY);
    vi.advanceTimersByTime(2000);
    pass(1);
    expect([await changesFollowed(), await secondsTaken()]).toEqual([1, 2]);
    pass(1);
    expect(await changesFollowed()).toBe(1);
  });

  it('counts from the first of several', async () => {
    const { progress, pass, changesFollowed, secondsTaken } = setUp();
    progress.changed(KEY);
    vi.advanceTimersByTime(1000);
    progress.changed(KEY);
    vi.advanceTimersByTime(1000);
    pass(1);
    expect([await changesFollowed(), await secondsTaken()]).toEqual([1, 2]);
  });

  it('that needs no write is not measured, and is over', async () => {
    const { progress, pass, changesFollowed } = setUp();
    progress.changed(KEY);
    pass(0);
    pass(1);
    expect(await changesFollowed()).toBe(0);
  });

  it('is not measured for what was written before it', async () => {
    const { progress, pass, changesFollowed } = setUp();
    progress.wrote(KEY, progress.begin(KEY), 2);
    pass(0);
    progress.changed(KEY);
    pass(0);
    expect(await changesFollowed()).toBe(0);
  });

  it('is measured once with the writes of all passes', async () => {
    const { progress, pass, changesFollowed, secondsTaken } = setUp();
    progress.changed(KEY);
    progress.wrote(KEY, progress.begin(KEY), 2);
    vi.advanceTimersByTime(3000);
    pass(0);
    expect([await changesFollowed(), await secondsTaken()]).toEqual([1, 3]);
  });

  it('is still to be followed after a pass that failed', async () => {
    const { progress, pass, changesFollowed, secondsTaken } = setUp();
    progress.changed(KEY);
    pass(undefined);
    expect(await changesFollowed()).toBe(0);
    vi.advanceTimersByTime(5000);
    pass(1);
    expect([await changesFollowed(), await secondsTaken()]).toEqual([1, 5]);
  });

  it('that comes during a pass is followed by the next', async () => {
    const { progress, pass, changesFollowed } = setUp();
    const began = progress.begin(KEY);
    progress.changed(KEY);
    progress.end(KEY, began, 1);
    expect(await changesFollowed()).toBe(0);
    pass(1);
    expect(await changesFollowed()).toBe(1);
  });
});

describe('endpoints that others edited (C3)', () => {
  it('count as repaired when they were written', async () => {
    const { progress, pass, repairs } = setUp();
    progress.edited(KEY);
    pass(1);
    pass(1);
    expect(await repairs()).toBe(1);
  });

  it('do not count when nothing was wrong with them', async () => {
    const { progress, pass, repairs } = setUp();
    progress.edited(KEY);
    pass(0);
    pass(1);
    expect(await repairs()).toBe(0);
  });

  it('do not count when the target explains it', async () => {
    const { progress, pass, repairs } = setUp();
    progress.changed(KEY);
    progress.edited(KEY);
    pass(1);
    pass(1);
    progress.edited(KEY);
    progress.changed(KEY);
    pass(1);
    expect(await repairs()).toBe(0);
  });

  it('do not count when they come while a change is being followed', async () => {
    const { progress, pass, repairs } = setUp();
    progress.changed(KEY);
    const began = progress.begin(KEY);
    progress.edited(KEY);
    progress.end(KEY, began, 1);
    pass(1);
    expect(await repairs()).toBe(0);
  });

  it('count once over the passes of a reconcile', async () => {
    const { progress, pass, repairs } = setUp();
    progress.edited(KEY);
    progress.wrote(KEY, progress.begin(KEY), 1);
    pass(0);
    expect(await repairs()).toBe(1);
  });
});

describe('a pass over everything (G1)', () => {
  it('has not begun before the exports are listed', () => {
    const { progress } = setUp();
    expect([progress.hasBegun, progress.isCaughtUp]).toEqual([false, false]);
    expect(progress.seen(KEY, progress.begin(KEY), true)).toBe(false);
  });

  it('is over when each key has been looked at, and reports its end once', () => {
    const { progress } = setUp();
    progress.start(['a', 'b']);
    expect([progress.hasBegun, progress.isCaughtUp]).toEqual([true, false]);
    const seen = (key: string): boolean => progress.seen(key, progress.begin(key), true);
    expect(seen('other')).toBe(false);
    expect(seen('a')).toBe(false);
    expect(seen('a')).toBe(false);
    expect([progress.isCaughtUp, progress.hasSeenAll]).toEqual([false, false]);
    expect(seen('b')).toBe(true);
    expect([progress.isCaughtUp, progress.hasSeenAll]).toEqual([true, true]);
    expect(seen('b')).toBe(false);
  });

  it('is followed by another when what all is made from changes, which no reconcile under way completes', () => {
    const { progress } = setUp();
    progress.start([KEY]);
    progress.seen(KEY, progress.begin(KEY), true);
    const earlier = progress.begin(KEY);
    progress.start([KEY]);
    expect([progress.isCaughtUp, progress.hasSeenAll]).toEqual([false, true]);
    expect(progress.seen(KEY, earlier, true)).toBe(false);
    expect(progress.isCaughtUp).toBe(false);
    expect(progress.seen(KEY, progress.begin(KEY), true)).toBe(true);
    expect(progress.isCaughtUp).toBe(true);
  });

  it('has looked at a key that failed, and not applied it', () => {
    const { progress } = setUp();
    progress.start([KEY]);
    expect(progress.seen(KEY, progress.begin(KEY), false)).toBe(true);
    expect([progress.hasSeenAll, progress.isCaughtUp]).toEqual([true, false]);
    expect(progress.seen(KEY, progress.begin(KEY), true)).toBe(true);
    expect(progress.isCaughtUp).toBe(true);
  });

  it('is over at once where there is nothing', () => {
    const { progress } = setUp();
    progress.start([]);
    expect(progress.isCaughtUp).toBe(true);
  });

  it('begins anew when other selectors are read', () => {
    const { progress } = setUp();
    progress.start([]);
    progress.restart();
    expect([progress.hasBegun, progress.isCaughtUp, progress.hasSeenAll]).toEqual([false, false, false]);
    progress.start(['a']);
    expect(progress.isCaughtUp).toBe(false);
  });
});

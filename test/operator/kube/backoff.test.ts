import fc from 'fast-check';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backoffMs, jittered, sleep } from '../../../operator/kube/backoff.ts';

describe('backoffMs', () => {
  const policy = { baseMs: 100, capMs: 1000 };

  it('doubles from the base up to the cap', () => {
    const delays = [0, 1, 2, 3, 4, 5, 2000].map((attempt) => backoffMs(attempt, policy, () => 1));
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
  });

  it('is jittered between half of the delay and all of it, whatever the attempt', () => {
    fc.assert(
      fc.property(fc.nat(5000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, random) => {
        const full = backoffMs(attempt, policy, () => 1);
        const delay = backoffMs(attempt, policy, () => random);
        return delay >= full / 2 && delay <= full && delay <= policy.capMs;
      }),
    );
  });

  it('is half of the delay at the least, so that what failed together does not come back in step', () => {
    expect(backoffMs(2, policy, () => 0)).toBe(200);
    expect(backoffMs(2, policy, () => 0.5)).toBe(300);
  });
});

it('a jittered wait is up to a fifth longer, and never shorter', () => {
  expect(jittered(100, () => 0)).toBe(100);
  expect(jittered(100, () => 1)).toBeCloseTo(120);
});

describe('sleep', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends after its time', async () => {
    const done = vi.fn();
    void sleep(1000).then(done);
    await vi.advanceTimersByTimeAsync(999);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(done).toHaveBeenCalledOnce();
  });

  it('does not listen for an abort any more once it has ended', async () => {
    const signals = [new AbortController().signal, new AbortController().signal];
    const slept = sleep(1000, ...signals, undefined);
    await vi.advanceTimersByTimeAsync(1000);
    await slept;
    expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
  });

  it('ends when either signal aborts', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const slept = sleep(1000, one.signal, other.signal);
    other.abort();
    await slept;
    expect(getEventListeners(one.signal, 'abort')).toEqual([]);
  });

  it('ends at once, without an error, when aborted before or meanwhile, and leaves no timer', async () => {
    const controller = new AbortController();
    const slept = sleep(1000, controller.signal);
    controller.abort();
    await slept;
    await sleep(1000, controller.signal);
    expect(vi.getTimerCount()).toBe(0);
  });
});

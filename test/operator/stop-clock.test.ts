import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StopClock } from '../../operator/stop-clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('gives everything that stops one deadline, from the first reason on (H2)', async () => {
  const clock = new StopClock();
  let isOverdue = false;
  void clock.overdue(new AbortController().signal).then(() => (isOverdue = true));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([isOverdue, clock.leftMs]).toEqual([false, 4_500]);
  const failure = new Error('the Lease was lost');
  clock.begin(failure);
  await vi.advanceTimersByTimeAsync(4_000);
  clock.begin();
  expect([isOverdue, clock.leftMs, clock.failure]).toEqual([false, 500, failure]);
  await vi.advanceTimersByTimeAsync(500);
  expect([isOverdue, clock.leftMs]).toEqual([true, 0]);
});

/** A condition awaited with a deadline: what a test does instead of sleeping. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long to pause before the next look at what has been waited for that long: a tenth more at most, and what takes
 * seconds is not asked for forty times in each.
 */
export const pauseMs = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, 20), 250);

/**
 * Tries until an attempt neither throws nor returns undefined or false; returns what it returned.
 * @throws Error after the deadline, with the last failure as its cause
 */
export const eventually = async <T>(
  what: string,
  attempt: () => Promise<T | undefined | false>,
  timeoutMs = 45_000,
): Promise<T> => {
  const began = performance.now();
  for (;;) {
    let failure: unknown;
    try {
      const value = await attempt();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      failure = error;
    }
    const waitedMs = performance.now() - began;
    if (waitedMs > timeoutMs) {
      const why = failure instanceof Error ? `: ${failure.message}` : '';
      throw new Error(`${what}: not so after ${timeoutMs} ms${why}`, { cause: failure });
    }
    await sleep(pauseMs(waitedMs));
  }
};

/** A condition awaited with a deadline: what a test does instead of sleeping. */
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 25;

/**
 * Tries until an attempt neither throws nor returns undefined or false; returns what it returned.
 * @throws Error after the deadline, with the last failure as its cause
 */
export const eventually = async <T>(
  what: string,
  attempt: () => Promise<T | undefined | false>,
  timeoutMs = 20_000,
): Promise<T> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await attempt();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) {
      const why = failure instanceof Error ? `: ${failure.message}` : '';
      throw new Error(`${what}: not so after ${timeoutMs} ms${why}`, { cause: failure });
    }
    await sleep(POLL_MS);
  }
};

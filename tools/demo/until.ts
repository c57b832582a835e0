/**
 * A state awaited with a deadline. The demo never sleeps for a fixed time, and a wait that fails reports what it
 * waited for and what it found instead.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** What is waited for. */
export interface Wait<T> {
  /** Names the state in the error: "3 pods of nginx-set run". */
  readonly what: string;
  readonly read: () => Promise<T>;
  readonly holds: (state: T) => boolean;
  /** The state as a reader of the error should see it. */
  readonly show: (state: T) => string;
  /** Ends the wait early, with its reason. */
  readonly signal: AbortSignal;
}

const POLL_MS = 10;
const TIMEOUT_MS = 30_000;

/**
 * Reads until the state holds, and returns it.
 * @throws Error when it does not in time; the signal's reason when that aborts
 */
export const until = async <T>({ what, read, holds, show, signal }: Wait<T>): Promise<T> => {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    signal.throwIfAborted();
    let seen: string;
    try {
      const state = await read();
      if (holds(state)) return state;
      seen = show(state);
    } catch (error) {
      seen = error instanceof Error ? error.message : String(error);
    }
    if (performance.now() > deadline)
      throw new Error(`waited ${TIMEOUT_MS / 1000} s in vain until ${what}. Instead:\n${seen}`);
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
};

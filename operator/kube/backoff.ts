/**
 * How long to wait before a retry. Delays double up to a cap and are jittered, so that many failing tasks do not retry
 * in step; the randomness is an argument, so that tests decide it.
 */

export interface BackoffPolicy {
  /** Delay after the first failure, before jitter. */
  readonly baseMs: number;
  /** No delay is longer. */
  readonly capMs: number;
}

/** Delays after failed writes of one object (rule H4). */
export const RETRY_BACKOFF: BackoffPolicy = { baseMs: 200, capMs: 300_000 };

/** Delays after a broken list, watch or connection (rules E4, H3). */
export const RECONNECT_BACKOFF: BackoffPolicy = { baseMs: 500, capMs: 30_000 };

/**
 * Milliseconds to wait after failure number `attempt` (0 is the first): between 50 % and 100 % of
 * `min(capMs, baseMs · 2^attempt)`.
 * @param random uniform in [0, 1), such as `Math.random`
 */
export function backoffMs(attempt: number, policy: BackoffPolicy, random: () => number): number {
  const full = Math.min(policy.capMs, policy.baseMs * 2 ** Math.max(0, attempt));
  return full * (0.5 + random() / 2);
}

/** Waits grow by up to this part, so that those who wait for the same do not act in step. */
const JITTER = 0.2;

/**
 * Milliseconds to wait: `ms` and up to 20 % more.
 * @param random uniform in [0, 1)
 */
export const jittered = (ms: number, random: () => number = Math.random): number => ms * (1 + JITTER * random());

/**
 * Milliseconds to wait, likewise spread: `ms` at most, and up to a sixth less.
 * @param random uniform in [0, 1)
 */
export const jitteredWithin = (ms: number, random: () => number = Math.random): number =>
  jittered(ms, random) / (1 + JITTER);

/**
 * Waits `ms` milliseconds; resolves early, and without an error, when one of the signals aborts. Nothing stays behind.
 */
export function sleep(ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    if (signals.some((signal) => signal?.aborted)) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const signal of signals) signal?.addEventListener('abort', done, { once: true });
  });
}

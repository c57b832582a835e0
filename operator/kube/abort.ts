/** How work is made to end: by a deadline, and by a signal. */

/**
 * The reason for which even work ends that is otherwise waited for: it is not allowed any more, and must have no
 * effect.
 */
export class RevokedError extends Error {
  override readonly name = 'RevokedError';
}

/**
 * Does work whose signal aborts after `ms` milliseconds, and with `outer`. Once the work calls `commit`, it is waited
 * for: `outer` ends it only with a RevokedError. Nothing of it stays behind, as signals of AbortSignal.any and timers
 * of AbortSignal.timeout do.
 * @throws what the work throws: of what its signal ended, that there was no answer, or the reason of `outer`
 */
export async function withDeadline<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (until: AbortSignal, commit: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let isCommitted = false;
  const stop = () => {
    if (!isCommitted || outer?.reason instanceof RevokedError) controller.abort(outer?.reason);
  };
  const commit = () => {
    isCommitted = true;
  };
  const timer = setTimeout(() => controller.abort(new Error(`no answer in ${ms / 1000} s`)), ms);
  outer?.addEventListener('abort', stop, { once: true });
  if (outer?.aborted === true) stop();
  try {
    return await work(controller.signal, commit);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', stop);
  }
}

/** Waits for a promise until a signal aborts: what the promise stands for may go on, but nobody waits for it. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort: () => void = () => undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        abort = () => reject(signal.reason as Error);
        signal.addEventListener('abort', abort, { once: true });
      }),
    ]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Resolves once a signal has aborted, with the reason. */
export async function aborted(signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  return signal.reason;
}

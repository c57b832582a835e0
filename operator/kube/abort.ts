/** How work is made to end: by a deadline, and by a signal. */

/**
 * Does work whose signal aborts after `ms` milliseconds, and with `outer` until the work calls `ignoreOuter`. Nothing of it
 * stays behind, as signals of AbortSignal.any and timers of AbortSignal.timeout do.
 * @throws what the work throws: of what its signal ended, that there was no answer, or the reason of `outer`
 */
export async function withDeadline<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (until: AbortSignal, ignoreOuter: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort(outer?.reason);
  const ignoreOuter = () => outer?.removeEventListener('abort', stop);
  const timer = setTimeout(() => controller.abort(new Error(`no answer in ${ms / 1000} s`)), ms);
  outer?.addEventListener('abort', stop, { once: true });
  if (outer?.aborted === true) stop();
  try {
    return await work(controller.signal, ignoreOuter);
  } finally {
    clearTimeout(timer);
    ignoreOuter();
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

/** Resolves once a signal has aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

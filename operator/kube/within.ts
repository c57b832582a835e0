/** A limit of time on work that may not end by itself. */
import { ConnectionError } from './errors.ts';

/**
 * Waits for work, but no longer than `ms` milliseconds nor beyond the abort of `outer`, even if the work goes on. Its
 * signal aborts when it is not waited for any more.
 * @throws ConnectionError `overdue` after `ms`, or that it was stopped; else what the work throws
 */
export async function within<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  overdue = 'no answer in time',
): Promise<T> {
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (reason: Error) => {
    controller.abort(reason);
    reject(reason);
  };
  const stop = () => end(new ConnectionError('stopped'));
  const timer = setTimeout(() => end(new ConnectionError(overdue)), ms);
  outer?.addEventListener('abort', stop, { once: true });
  if (outer?.aborted === true) stop();
  try {
    return await Promise.race([ended, work(controller.signal)]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', stop);
  }
}

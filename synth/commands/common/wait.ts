/** Waiting for what others do to an object, with a deadline, and the progress of it on stderr. */
import { sleep } from '../../../operator/kube/backoff.ts';
import { printLine } from '../../print.ts';
import { CommandError, type Problem } from './command-error.ts';
import { stopIfAsked } from './interruption.ts';

/** Time between two looks. */
const POLL_MS = 500;

/** What one look has found: what was waited for, or the reason why it is not there yet. */
export type Look<T> = { readonly done: T } | { readonly pending: string };

export interface WaitOptions {
  readonly timeoutMs: number;
  /** The obstacle, if the deadline passes. */
  readonly problem: (pending: string, timeoutMs: number) => Problem;
}

/** A server that is away for a moment is waited for, too. */
const awayForNow = (error: unknown): { readonly pending: string } => {
  if (error instanceof CommandError && error.isPassing) return { pending: error.message };
  throw error;
};

/**
 * Looks until it is done; each new reason why it is not is a line on stderr.
 * @param what as in `waiting for the token of Secret …`
 * @throws CommandError when the deadline has passed
 */
export const waitFor = async <T>(
  what: string,
  look: () => Promise<Look<T>>,
  { timeoutMs, problem }: WaitOptions,
): Promise<T> => {
  const deadline = performance.now() + timeoutMs;
  let reported: string | undefined;
  for (;;) {
    const found = await look().catch(awayForNow);
    if ('done' in found) return found.done;
    if (found.pending !== reported) {
      reported = found.pending;
      printLine(`waiting for ${what}: ${reported}`);
    }
    stopIfAsked(`waiting for ${what}`);
    if (performance.now() > deadline) throw new CommandError([problem(reported, timeoutMs)]);
    await sleep(POLL_MS);
  }
};

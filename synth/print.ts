/** Output of commands: results on standard output; lines about them, errors and progress on standard error. */
import { cut } from '../operator/kube/errors.ts';

/** Longest line on standard error: it may list many objects, and hold what others have written. */
const MAX_LINE = 4_096;

/**
 * Writes to standard output; resolves once all of it is written, so that a pipe gets every byte, or once nobody reads
 * it: what became of that is reported by the stream itself.
 */
export const print = async (text: string): Promise<void> => {
  const { promise: written, resolve } = Promise.withResolvers<void>();
  process.stdout.write(text, () => resolve());
  await written;
};

/** Writes a line to standard error. Text of clusters may be in it: it is cut, and control characters are left out. */
export const printLine = (text: string): void => void process.stderr.write(`${cut(text, MAX_LINE)}\n`);

/** Writes what the user may want to know. */
export const note = (text: string): void => printLine(`note: ${text}`);

/** Writes what is ignored or assumed, and may be wrong. */
export const warn = (text: string): void => printLine(`warning: ${text}`);

/**
 * Ends a process with the npm that runs it. npm passes on SIGINT and SIGTERM to the command of a script, but one that is
 * killed outright leaves it to run on: minutes of tests, a demo that was to be kept, and their servers.
 */
import { readFileSync } from 'node:fs';

const POLL_MS = 250;

/** Sends this process SIGTERM soon after npm has ended. Without an npm it does nothing, and it keeps nothing running. */
export const endWithNpm = (): void => {
  const script = process.env['npm_lifecycle_event'];
  if (script === undefined) return;
  // Scripts of ours begin with exec: npm itself is the parent. npx puts a shell between.
  const chain = (): string => (script === 'npx' ? `${process.ppid} ${parentOf(process.ppid)}` : String(process.ppid));
  const began = chain();
  const timer = setInterval(() => {
    if (chain() === began) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, POLL_MS);
  timer.unref();
};

/** The parent of another process, where /proc tells it. */
const parentOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The parent follows the state, which follows the name of the program in parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  } catch {
    return undefined;
  }
};

/**
 * The `linkspan` command line. A usage error exits 2 with the reason on stderr, and nothing is done.
 */
import { CommanderError } from 'commander';

import { program } from './program.ts';
import { isWriting } from './writers.ts';

const FAILED = 1;
const USAGE_ERROR = 2;

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A reader that has seen enough (`| head`) is not a failure. An output that is full, or is gone, is one.
  if (code !== 'EPIPE') {
    if (process.exitCode === undefined) process.stderr.write(`error: standard output: ${message}\n`);
    process.exitCode = FAILED;
  }
  // What writes to clusters goes on without an output.
  if (!isWriting()) process.exit();
});
// A terminal that was closed: nobody is left to tell.
process.stderr.on('error', () => undefined);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // A command with codes of its own has set it.
  process.exitCode = error.exitCode === 0 ? 0 : (process.exitCode ?? USAGE_ERROR);
}

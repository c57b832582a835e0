/**
 * The `linkspan` command line. A usage error exits 2 with the reason on stderr, and nothing is done.
 */
import { CommanderError } from 'commander';

import { program } from './program.ts';

const USAGE_ERROR = 2;

// A reader that has seen enough (`| head`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // A command with codes of its own has set it.
  process.exitCode = error.exitCode === 0 ? 0 : (process.exitCode ?? USAGE_ERROR);
}

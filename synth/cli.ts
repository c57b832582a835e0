#!/usr/bin/env node
/**
 * The `linkspan` command: wiring only, each subcommand is a file of its own. A usage error (unknown command, unknown or
 * invalid flag) exits 2 with the reason on stderr, and nothing is done.
 */
import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';

import { crdsCommand } from './commands/crds.ts';
import { operatorCommand } from './commands/operator.ts';
import { synthCommand } from './commands/synth.ts';

const USAGE_ERROR = 2;

const { version } = createRequire(import.meta.url)('linkspan/package.json') as { readonly version: string };

const program = new Command('linkspan')
  .description('Multi-cluster service mirroring for Linkerd')
  .version(version)
  .showHelpAfterError('(see linkspan --help)')
  .exitOverride();

const commands: readonly Command[] = [crdsCommand(), operatorCommand(), synthCommand()];
for (const command of commands) program.addCommand(command.copyInheritedSettings(program));

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
}

/**
 * The `linkspan` command line. Names and options of all commands are here; what a command does is a file of its own in
 * `commands/`, imported when the command runs, so that help and usage errors cost next to nothing. A usage error exits 2
 * with the reason on stderr, and nothing is done.
 */
import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';

import type { SynthFlags } from './commands/synth.ts';
import { addOperatorFlags, type FlagValues } from '../operator/config/flags.ts';

const USAGE_ERROR = 2;

const { version } = createRequire(import.meta.url)('linkspan/package.json') as { readonly version: string };

const program = new Command('linkspan')
  .description('Multi-cluster service mirroring for Linkerd')
  .version(version)
  .showHelpAfterError('(see linkspan --help)')
  .exitOverride();

program
  .command('crds')
  .description('print the CustomResourceDefinition of the Link as YAML')
  .action(async () => (await import('./commands/crds.ts')).printCrds());

addOperatorFlags(program.command('operator'))
  .showHelpAfterError('(see linkspan operator --help)')
  .description('keep the mirrors of every Link true, until stopped')
  .action(async (flags: FlagValues) => (await import('./commands/operator.ts')).operate(flags));

program
  .command('synth')
  .showHelpAfterError('(see linkspan synth --help)')
  .description('write the manifests of a set of clusters, one folder for each')
  .option('-f, --file <file>', 'the cluster file', 'linkspan.yaml')
  .option('-o, --output <dir>', 'the folder to write to', 'clusters')
  .option('--check', 'write nothing; print the diff, and exit 1 if there is one')
  .option('--schema', 'print the JSON schema of the cluster file, for editors')
  .action(async (flags: SynthFlags) => (await import('./commands/synth.ts')).synth(flags));

// A reader that has seen enough (`| head`) is not a failure.
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

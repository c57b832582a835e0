/**
 * `npm run demo`: a play on two clusters or more, with nothing to install. It exits 0 when every step came true,
 * 1 with the operator's log when one did not, 2 for a usage error, 130 when interrupted; and it cleans up in all cases.
 */
import { Argument, Command, CommanderError } from 'commander';
import { once } from 'node:events';
import type { TestCluster } from '../../test/cluster/index.ts';
import { buildMissing } from '../../test/cluster/real/build.ts';
import { endWithNpm } from '../../test/cluster/real/npm-parent.ts';
import { FAILOVER } from './failover.ts';
import { GUIDE } from './guide.ts';
import type { Play } from './play.ts';
import { Stage } from './stage.ts';
import { Terminal } from './terminal.ts';

const ExitCode = { failure: 1, usageError: 2, interrupted: 130 } as const;
const LOG_TAIL_LINES = 30;

interface Options {
  readonly real?: boolean;
  readonly keep?: boolean;
}

class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

/** Aborts at the first signal, or when nobody reads any more; later ones must not cut the cleaning up short. */
const interruption = (): AbortSignal => {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort(new InterruptedError('interrupted'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  process.stdout.on('error', interrupt);
  return interrupted.signal;
};

const play = async <Target extends string>(
  { title, targets, crds, roles, perform, end, commands }: Play<Target>,
  { real = false, keep = false }: Options,
): Promise<void> => {
  const terminal = new Terminal();
  if (real) await buildMissing((line) => terminal.note(line));
  const interrupted = interruption();
  const backing = real ? 'real' : 'simulated';
  terminal.title(`Linkspan plays ${title}, on ${backing} API servers`);
  await using stage = await Stage.set({ backing, targets, crds: crds?.(backing), terminal, signal: interrupted });
  for (const { name, server } of Object.values<TestCluster>(stage.clusters)) {
    terminal.note(`${name}: ${server}, ${roles[name as Target]}`);
  }
  try {
    await perform(stage);
    if (keep) await keepRunning(stage, commands, interrupted);
    else terminal.note('', `${end}; --keep leaves it all running, for a kubectl of your own`);
  } catch (error) {
    if (!(error instanceof InterruptedError)) {
      process.stderr.write(
        `\nThe end of the operator's log:\n${stage.operatorLog.slice(-LOG_TAIL_LINES).join('\n')}\n`,
      );
    }
    throw error;
  }
};

/** Leaves all as it is until Ctrl-C, which then is the regular end. */
const keepRunning = async <Target extends string>(
  { terminal, kubeconfigFile, operatorLogFile, signal }: Stage<Target>,
  commands: readonly string[],
  interrupted: AbortSignal,
): Promise<void> => {
  terminal.step('Now you: all keeps running until Ctrl-C. In another terminal:');
  terminal.print('', `export KUBECONFIG=${kubeconfigFile}`, ...commands, `tail -f ${operatorLogFile ?? ''}`);
  if (!signal.aborted) await once(signal, 'abort');
  if (!interrupted.aborted) throw signal.reason;
  terminal.note('stopping');
};

const program = new Command('npm run demo --')
  .description('Plays the StatefulSet guide between two clusters, or failover between three, on simulated API servers')
  .addArgument(new Argument('[play]', 'what to play').choices(['guide', 'failover']).default('guide'))
  .option('--real', "on real API servers, with Kubernetes' own controllers (built first, which needs Go)")
  .option('--keep', 'leave the clusters and the operator running, for kubectl, until Ctrl-C')
  .allowExcessArguments(false)
  .exitOverride()
  .action((name: 'guide' | 'failover', options: Options) =>
    name === 'failover' ? play(FAILOVER, options) : play(GUIDE, options),
  );

endWithNpm();
try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : ExitCode.usageError;
  } else if (error instanceof InterruptedError) {
    process.exitCode = ExitCode.interrupted;
  } else {
    process.stderr.write(`\nThe demo has failed: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = ExitCode.failure;
  }
}

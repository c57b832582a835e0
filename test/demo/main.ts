/**
 * `npm run demo`: the StatefulSet guide on two clusters, with nothing to install. It exits 0 when every step came true,
 * 1 with the operator's log when one did not, 2 for a usage error, 130 when interrupted; and it cleans up in all cases.
 */
import { Command, CommanderError } from 'commander';
import { once } from 'node:events';
import { buildMissing } from '../cluster/real/build.ts';
import { playGuide } from './guide.ts';
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

const play = async ({ real = false, keep = false }: Options): Promise<void> => {
  const terminal = new Terminal();
  if (real) await buildMissing((line) => terminal.note(line));
  const interrupted = interruption();
  terminal.title(`Linkspan plays the StatefulSet guide, on ${real ? 'real' : 'simulated'} API servers`);
  await using stage = await Stage.set({
    backing: real ? 'real' : 'simulated',
    targets: ['west'],
    terminal,
    signal: interrupted,
  });
  const { east, west } = stage.clusters;
  terminal.note(`east: ${east.server}, the source: clients, the Link, the operator`);
  terminal.note(`west: ${west.server}, the target: nginx, and its gateway`);
  try {
    await playGuide(stage);
    if (keep) await keepRunning(stage, interrupted);
    else terminal.note('', 'that was the guide; --keep leaves it all running, for a kubectl of your own');
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
const keepRunning = async (stage: Stage<string>, interrupted: AbortSignal): Promise<void> => {
  const { terminal, kubeconfigFile, operatorLogFile, signal } = stage;
  terminal.step('Now you: all keeps running until Ctrl-C. In another terminal:');
  terminal.print(
    '',
    `export KUBECONFIG=${kubeconfigFile}`,
    'kubectl --context=west label service nginx-svc mirror.linkerd.io/exported=true',
    'kubectl --context=east get services',
    'kubectl --context=west scale statefulset nginx-set --replicas=5',
    'kubectl --context=east describe service nginx-svc-west',
    'kubectl --context=east delete service nginx-set-0-west  # it comes back',
    'kubectl --context=east describe links -n linkerd-multicluster',
    `tail -f ${operatorLogFile ?? ''}`,
  );
  if (!signal.aborted) await once(signal, 'abort');
  if (!interrupted.aborted) throw signal.reason;
  terminal.note('stopping');
};

const program = new Command('npm run demo --')
  .description('Plays the StatefulSet guide between two clusters, on simulated API servers')
  .option('--real', "on real API servers, with Kubernetes' own controllers (built first, which needs Go)")
  .option('--keep', 'leave the clusters and the operator running, for kubectl, until Ctrl-C')
  .allowExcessArguments(false)
  .exitOverride()
  .action(play);

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

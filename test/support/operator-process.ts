/**
 * The operator as a process of its own, from the command line that users run: for what can only be shown by ending it
 * without a chance to say goodbye.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LINKS_NAMESPACE, type World } from './world.ts';

const CLI = fileURLToPath(new URL('../../synth/cli.ts', import.meta.url));

export interface OperatorProcess {
  /** SIGKILL: nothing is released. Resolves when it is dead; may be called twice. */
  kill(): Promise<void>;
}

/** Starts it on a world's source cluster; flags as on the command line. */
export const startOperatorProcess = (world: World, flags: readonly string[] = []): OperatorProcess => {
  const { host, port } = world.gateway.address;
  const child = spawn(
    process.execPath,
    [
      CLI,
      'operator',
      `--kubeconfig=${world.eastCluster.kubeconfigFile}`,
      '--admin-address=127.0.0.1:0',
      '--log-level=error',
      `--probe-connect-to=probe-west.${LINKS_NAMESPACE}.svc=${host}:${port}`,
      ...flags,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env['PATH'] } },
  );
  const ended = once(child, 'exit');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
};

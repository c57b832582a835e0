/**
 * Runs the `linkspan` command from its sources, in a folder: in the process of the test, where it takes a fraction of the
 * time. Where nothing is left out, the first run of each command is a process, as users start it: it loads and it ends.
 */
import { execFile } from 'node:child_process';
import { inject } from 'vitest';
import { currentBacking } from '../cluster/on-each-backing.ts';
import { linkspanHere } from './in-process.ts';
import { typeRemedies } from './remedies/remedies.ts';

const CLI = new URL('../../synth/cli.ts', import.meta.url).pathname;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether a command runs in this process: standard output is one, and so is the folder that a process is in. */
let isBusy = false;

/** Commands that have run as a process. */
const proven = new Set<string>();

export const linkspan = async (cwd: string, ...args: readonly string[]): Promise<Outcome> => {
  const flags = args.findIndex((argument) => argument.startsWith('-'));
  const command = args.slice(0, flags === -1 ? 1 : flags).join(' ');
  const isSpared = inject('isQuick') || currentBacking() === 'simulated' || proven.has(command);
  if (!isSpared || isBusy) {
    proven.add(command);
    return asProcess(cwd, args);
  }
  const before = process.cwd();
  isBusy = true;
  process.chdir(cwd);
  try {
    return await linkspanHere(...args);
  } finally {
    process.chdir(before);
    isBusy = false;
  }
};

const asProcess = async (cwd: string, args: readonly string[]): Promise<Outcome> => {
  const outcome = await new Promise<Outcome>((resolve) => {
    execFile(process.execPath, [CLI, ...args], { cwd }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
  await typeRemedies(cwd, outcome.stdout, outcome.stderr);
  return outcome;
};

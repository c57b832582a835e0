/** Runs the `linkspan` command from its sources, in a folder. */
import { execFile } from 'node:child_process';

const CLI = new URL('../../synth/cli.ts', import.meta.url).pathname;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const linkspan = (cwd: string, ...args: readonly string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { cwd }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });

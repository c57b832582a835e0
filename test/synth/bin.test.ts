import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';

const BIN = new URL('../../synth/bin.ts', import.meta.url).pathname;

interface Outcome {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program in a Node that says it is of this version. */
const linkspan = (version: string, ...args: readonly string[]): Promise<Outcome> => {
  const preload = `Object.defineProperty(process, 'version', { value: '${version}' })`;
  return new Promise((resolve) => {
    const flags = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
    execFile(process.execPath, [...flags, BIN, ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
};

it.each(['v18.20.8', 'v20.20.2', 'v22.18.0'])('refuses Node %s in one line', async (version) => {
  const expected = `error: Linkspan needs Node 22.19 or later, this is ${version} (install a newer Node)\n`;
  for (const args of [['--help'], ['operator']]) {
    expect(await linkspan(version, ...args)).toEqual({ code: 2, stdout: '', stderr: expected });
  }
});

it.each(['v22.19.0', 'v24.0.0'])('runs with Node %s', async (version) => {
  const { code, stdout, stderr } = await linkspan(version, '--version');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

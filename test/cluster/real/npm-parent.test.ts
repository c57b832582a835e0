import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { eventually } from '../workload/eventually.ts';
import { isAlive } from './temporary-folder.ts';

const MODULE = new URL('npm-parent.ts', import.meta.url).href;
/** What npm runs: it would never end, and says that it has begun. */
const SCRIPT = `
  import { endWithNpm } from ${JSON.stringify(MODULE)};
  endWithNpm();
  setInterval(() => undefined, 1000);
  console.log(process.pid);
`;
const NODE = [process.execPath, '--input-type=module', '-e'];

/** Starts a stand-in for npm that runs the script by a command; gives both process ids. */
const start = async (event: string, command: readonly string[]) => {
  const npm = spawn(
    process.execPath,
    [
      '-e',
      `require('node:child_process').spawn(...${JSON.stringify([command[0], command.slice(1)])}, { stdio: 'inherit' })`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, npm_lifecycle_event: event } },
  );
  const { value } = await createInterface(npm.stdout)[Symbol.asyncIterator]().next();
  return { npm, script: Number(value) };
};

it.runIf(process.platform === 'linux').each([
  ['test', [...NODE, SCRIPT]],
  // npx runs a command through a shell, which lives as long as the command.
  ['npx', ['/bin/sh', '-c', `"$0" "$@"; exit`, ...NODE, SCRIPT]],
])('ends what npm runs when npm is killed outright: %s', async (event, command) => {
  const { npm, script } = await start(event, command);
  expect(isAlive(script)).toBe(true);
  npm.kill('SIGKILL');
  await eventually('the script has ended', async () => !isAlive(script));
});

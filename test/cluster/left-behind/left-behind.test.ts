/** Runs of the tests that somebody ends, as users start and end them: with npm, and by the signals there are. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../workload/eventually.ts';
import { onReal } from '../on-each-backing.ts';
import { descendantsOf, type Listed, processes } from './process-tree.ts';

const ARGUMENTS = ['test', '--', '--config', 'test/cluster/left-behind/vitest.config.ts'];
const START_MS = 60_000;
const TARGETS = {
  npm: /^npm test/,
  'the runner': /vitest run/,
  'a worker': /workers\/forks/,
} as const;

onReal('a run of the tests that is killed', () => {
  let temp: string;
  let npm: ChildProcess;
  let family: readonly Listed[];

  beforeEach(async () => {
    temp = await mkdtemp(join(tmpdir(), 'linkspan-killed-'));
    npm = spawn('npm', ARGUMENTS, { env: { ...process.env, TMPDIR: temp }, stdio: 'ignore', detached: true });
    family = await eventually(
      'an API server runs',
      async () => {
        const all = await processes();
        const started = [...all.filter(({ pid }) => pid === npm.pid), ...descendantsOf(npm.pid!, all)];
        return started.some(({ command }) => command.includes('kube-apiserver --etcd')) && started;
      },
      START_MS,
    );
  }, START_MS);

  afterEach(async () => {
    for (const { pid } of await left()) process.kill(pid, 'SIGKILL');
    await rm(temp, { recursive: true, force: true });
  });

  /** What still runs of those that ran, or has the folder of the run in its arguments. */
  const left = async (): Promise<readonly Listed[]> => {
    const pids = new Set(family.map(({ pid }) => pid));
    return (await processes()).filter(({ pid, command }) => pids.has(pid) || command.includes(temp));
  };

  it.each([
    ['npm', 'SIGINT'],
    ['npm', 'SIGTERM'],
    ['npm', 'SIGKILL'],
    ['the runner', 'SIGINT'],
    ['the runner', 'SIGTERM'],
    ['the runner', 'SIGKILL'],
    ['a worker', 'SIGKILL'],
  ] as const)('leaves no process and no file behind: %s by %s', async (target, signal) => {
    const { pid } = family.find(({ command }) => TARGETS[target].test(command))!;
    process.kill(pid, signal);
    await eventually('nothing is left', async () => {
      expect([...(await left()).map(({ command }) => command), ...(await readdir(temp))]).toEqual([]);
      return true;
    });
  });
});

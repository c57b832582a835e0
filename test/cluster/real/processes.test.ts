import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { eventually } from '../workload/eventually.ts';
import { Processes } from './processes.ts';
import { isAlive } from './temporary-folder.ts';

const sleeper = { name: 'sleeper', path: '/bin/sh', args: ['-c', 'exec sleep 600'] };

/** A test process of its own, which has one of its processes killed and one stopped. */
const testProcess = async (): Promise<{
  readonly kill: () => void;
  readonly dir: string;
  readonly pids: readonly number[];
}> => {
  const program = `
    import { Processes } from ${JSON.stringify(new URL('processes.ts', import.meta.url).href)};
    const processes = new Processes('orphans');
    const pids = [1, 2, 3].map(() => processes.run(${JSON.stringify(sleeper)}));
    await pids[1].kill();
    pids[2].signal('SIGSTOP');
    console.log(JSON.stringify({ dir: processes.dir, pids: [pids[0].pid, pids[2].pid] }));
    setInterval(() => undefined, 1000);
  `;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await createInterface(parent.stdout)[Symbol.asyncIterator]().next()).value!.split('\n');
  const started = JSON.parse(line!) as { dir: string; pids: readonly number[] };
  expect([...started.pids.map(isAlive), existsSync(started.dir)]).toEqual([true, true, true]);
  return { ...started, kill: () => void parent.kill('SIGKILL') };
};

it('leaves no process and no file behind when the test process is killed outright', async () => {
  const { kill, dir, pids } = await testProcess();
  kill();
  await eventually('nothing is left', async () => !pids.some(isAlive) && !existsSync(dir));
});

it('leaves the folder of another process inside to that one, whose servers might make it anew', async () => {
  const { kill, dir, pids } = await testProcess();
  const inside = join(dir, 'linkspan-inner-1-abcdef');
  mkdirSync(inside);
  kill();
  await eventually('its processes have ended', async () => !pids.some(isAlive));
  expect(existsSync(inside)).toBe(true);
  rmdirSync(inside);
  await eventually('nothing is left', async () => !existsSync(dir));
});

it('reports why a server did not come up, with the end of its log', async () => {
  const processes = new Processes('failing');
  const failing = processes.run({ name: 'etcd', path: '/bin/sh', args: ['-c', 'echo address in use >&2; exit 3'] });
  await expect(failing.until(async () => false)).rejects.toThrow(
    'etcd ended at its start (exit code 3); the end of its log:\naddress in use',
  );
  await processes.close();
  expect(existsSync(processes.dir)).toBe(false);
});

import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FileLock } from './file-lock.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'linkspan-lock-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('makes the second wait for the first, and tells it for whom', async () => {
  const path = join(dir, 'lock');
  const owners: string[] = [];
  const order: string[] = [];
  const first = await FileLock.acquire(path, (owner) => owners.push(owner));
  const second = FileLock.acquire(path, (owner) => {
    owners.push(owner);
    order.push('first released');
    void first.release();
  });
  await (await second).release();
  expect(owners).toEqual([String(process.pid)]);
  expect(order).toEqual(['first released']);
});

it('takes the lock of a process that has died', async () => {
  const path = join(dir, 'lock');
  // No process has a number this high.
  await writeFile(path, '4194999');
  const lock = await FileLock.acquire(path, () => expect.unreachable());
  await lock.release();
});

it('takes a lock that its owner no longer touches, though its process id is in use', async () => {
  const path = join(dir, 'lock');
  await writeFile(path, String(process.pid));
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(path, longAgo, longAgo);
  const lock = await FileLock.acquire(path, () => expect.unreachable());
  await lock.release();
});

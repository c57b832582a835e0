import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AuditLog } from './audit-log.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'linkspan-audit-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const line = (name: string): string =>
  `${JSON.stringify({ verb: 'get', requestURI: `/version?ü=${name}`, user: {}, objectRef: { name } })}\n`;

it('reads whole lines, wherever the server is in one when the log is read or cleared', async () => {
  const log = new AuditLog(join(dir, 'audit.log'));
  const names = async (): Promise<readonly unknown[]> => (await log.read()).map(({ name }) => name);
  const half = line('b').slice(0, 20);
  await writeFile(log.file, line('a') + half);
  expect(await names()).toEqual(['a']);
  await log.clear();
  expect(await names()).toEqual([]);
  await appendFile(log.file, line('b').slice(20) + line('c'));
  expect(await names()).toEqual(['b', 'c']);
  await log.clear();
  await log.clear();
  expect(await names()).toEqual([]);
});

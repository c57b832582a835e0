import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { MANIFEST, OutputFolderError, treeChanges, writeChanges } from '../../../synth/tree/write-tree.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'linkspan-tree-'));
});

afterEach(() => rm(folder, { recursive: true }));

const write = async (files: Readonly<Record<string, string>>) =>
  writeChanges(folder, await treeChanges(folder, new Map(Object.entries(files))));

it('what a run that was cut short has written is known for ours by the next', async () => {
  const inTheWay = join(folder, 'east/b.yaml');
  await mkdir(inTheWay, { recursive: true });
  const cutShort = writeChanges(folder, [
    { path: MANIFEST, before: undefined, after: 'east/a.yaml\neast/b.yaml\n' },
    { path: 'east/a.yaml', before: undefined, after: 'old\n' },
    { path: 'east/b.yaml', before: undefined, after: 'cannot be written' },
  ]);
  await expect(cutShort).rejects.toThrow('EISDIR');
  expect(await readFile(join(folder, 'east/a.yaml'), 'utf8')).toBe('old\n');
  await rmdir(inTheWay);

  await write({ 'east/a.yaml': 'new\n' });
  expect(await readFile(join(folder, 'east/a.yaml'), 'utf8')).toBe('new\n');
});

it('a file that is there already as it should be becomes ours', async () => {
  await write({ 'east/a.yaml': 'a\n', 'east/b.yaml': 'b\n' });
  await rm(join(folder, MANIFEST));
  await write({ 'east/a.yaml': 'a\n', 'east/b.yaml': 'b\n' });
  expect(await readFile(join(folder, MANIFEST), 'utf8')).toBe('east/a.yaml\neast/b.yaml\n');
});

it.each(['../a', '/a', 'east/..', 'east/../../a', 'a'])('a list that names %s is not followed', async (path) => {
  await writeFile(join(folder, MANIFEST), `${path}\n`);
  await expect(treeChanges(folder, new Map())).rejects.toThrow(OutputFolderError);
});

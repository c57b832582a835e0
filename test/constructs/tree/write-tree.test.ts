import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANIFEST, OutputFolderError, treeChanges, writeChanges } from '../../../constructs/tree/write-tree.ts';

const ATTRIBUTES = '.linkspan-synth -text\n*/*.yaml -text\n';

/** The output folder, and beside it a folder that is somebody else's. */
let folder: string;
let outside: string;

beforeEach(async () => {
  const both = await mkdtemp(join(tmpdir(), 'linkspan-tree-'));
  folder = join(both, 'clusters');
  outside = join(both, 'home');
  await mkdir(folder);
  await mkdir(outside);
  await writeFile(join(outside, 'a.yaml'), 'theirs\n');
});

afterEach(() => rm(dirname(folder), { recursive: true }));

const write = (files: Readonly<Record<string, string>>): readonly string[] => {
  const changes = treeChanges(folder, new Map(Object.entries(files)));
  writeChanges(folder, changes);
  return changes.map(({ path }) => path);
};

const put = async (path: string, content: string): Promise<void> => {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
};

const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');

it('what a run that was cut short has written is known for ours by the next', async () => {
  const inTheWay = join(folder, 'east/b.yaml');
  await mkdir(inTheWay, { recursive: true });
  const cutShort = () =>
    writeChanges(folder, [
      { path: MANIFEST, before: undefined, after: 'east/a.yaml\neast/b.yaml\n' },
      { path: 'east/a.yaml', before: undefined, after: 'old\n' },
      { path: 'east/b.yaml', before: undefined, after: 'cannot be written' },
    ]);
  expect(cutShort).toThrow('east/b.yaml: must be a file (remove it)');
  expect(await read('east/a.yaml')).toBe('old\n');
  await rmdir(inTheWay);

  write({ 'east/a.yaml': 'new\n' });
  expect(await read('east/a.yaml')).toBe('new\n');
});

it('a file that is there already as it should be becomes ours', async () => {
  write({ 'east/a.yaml': 'a\n', 'east/b.yaml': 'b\n' });
  await rm(join(folder, MANIFEST));
  write({ 'east/a.yaml': 'a\n', 'east/b.yaml': 'b\n' });
  expect(await read(MANIFEST)).toBe('east/a.yaml\neast/b.yaml\n');
});

it.each(['../a', '/a', 'east/..', 'east/../../a', 'a'])('a list that names %s is not followed', async (path) => {
  await put(MANIFEST, `${path}\n`);
  expect(() => treeChanges(folder, new Map())).toThrow(OutputFolderError);
});

describe('a symbolic link below the folder is refused, and what it leads to stays as it is', () => {
  const refused = async (link: string, files: Readonly<Record<string, string>>) => {
    expect(() => write(files)).toThrow(new RegExp(`clusters: ${link}: must be a (file|folder), not a symbolic link`));
    expect(await readdir(outside)).toEqual(['a.yaml']);
    expect(await readFile(join(outside, 'a.yaml'), 'utf8')).toBe('theirs\n');
  };

  it('where a cluster is to be written', async () => {
    await symlink(outside, join(folder, 'east'));
    await refused('east', { 'east/b.yaml': 'b\n' });
  });

  it('where a file of the list is to be deleted', async () => {
    await symlink(outside, join(folder, 'east'));
    await put(MANIFEST, 'east/a.yaml\n');
    await refused('east', {});
  });

  it('where a file is to be written, or deleted', async () => {
    await put(MANIFEST, 'east/a.yaml\n');
    await mkdir(join(folder, 'east'));
    await symlink(join(outside, 'a.yaml'), join(folder, 'east/a.yaml'));
    await refused('east/a.yaml', { 'east/a.yaml': 'a\n' });
    await refused('east/a.yaml', {});
  });

  it('also if it leads nowhere', async () => {
    await mkdir(join(folder, 'east'));
    await symlink(join(outside, 'b.yaml'), join(folder, 'east/b.yaml'));
    await refused('east/b.yaml', { 'east/b.yaml': 'b\n' });
  });

  it('where the list is', async () => {
    await symlink(join(outside, 'a.yaml'), join(folder, MANIFEST));
    await refused(MANIFEST, { 'east/a.yaml': 'a\n' });
  });

  it('also if it has come since the changes were made', async () => {
    const changes = treeChanges(folder, new Map([['east/b.yaml', 'b\n']]));
    await symlink(outside, join(folder, 'east'));
    expect(() => writeChanges(folder, changes)).toThrow('east: must be a folder, not a symbolic link');
    expect(await readdir(outside)).toEqual(['a.yaml']);
  });

  it('but attributes of others, which are left alone', async () => {
    await symlink(join(outside, 'a.yaml'), join(folder, '.gitattributes'));
    write({ 'east/a.yaml': 'a\n' });
    expect(await readFile(join(outside, 'a.yaml'), 'utf8')).toBe('theirs\n');
  });
});

it('the folder itself may be a symbolic link', async () => {
  await rmdir(folder);
  await symlink(outside, folder);
  write({ 'east/b.yaml': 'b\n' });
  expect(await read('east/b.yaml')).toBe('b\n');
});

describe('where Git checks files out with CRLF', () => {
  const FILES = { 'east/a.yaml': 'a: 1\nb: 2\n', 'west/a.yaml': 'a: 1\n' };
  const checkOut = async (): Promise<void> => {
    for (const path of [...Object.keys(FILES), MANIFEST, '.gitattributes']) {
      await put(path, (await read(path)).replaceAll('\n', '\r\n'));
    }
  };

  it('they are ours, do not differ, and are written as they were', async () => {
    write(FILES);
    await checkOut();
    for (const { before, after } of treeChanges(folder, new Map(Object.entries(FILES)))) expect(before).toBe(after);
    write(FILES);
    expect(await read('east/a.yaml')).toBe(FILES['east/a.yaml']);
    expect(await read(MANIFEST)).toBe('east/a.yaml\nwest/a.yaml\n');
    expect(write(FILES)).toEqual([]);
  });

  it('what is wanted no more is deleted', async () => {
    write(FILES);
    await checkOut();
    write({ 'west/a.yaml': 'a: 2\n' });
    expect((await readdir(folder)).sort()).toEqual(['.gitattributes', MANIFEST, 'west']);
    expect(await read('west/a.yaml')).toBe('a: 2\n');
  });

  it('it is told not to, for these files alone', async () => {
    write(FILES);
    expect(await read('.gitattributes')).toBe(ATTRIBUTES);
  });

  it('the attributes of others stay as they are', async () => {
    await put('.gitattributes', '*.yaml text eol=lf\n');
    expect(write(FILES)).toEqual([MANIFEST, 'east/a.yaml', 'west/a.yaml']);
    expect(await read('.gitattributes')).toBe('*.yaml text eol=lf\n');
  });
});

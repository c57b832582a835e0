/**
 * The output folder of a tree, which may contain other files too. It has a list of the files that were written. Files of
 * the list that are no longer in the tree are deleted; other files are never changed. Nothing is written before
 * everything has been checked.
 */
import { mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Tree } from './cluster-tree.ts';

/** The list of written files, in the output folder: one path a line, sorted. */
export const MANIFEST = '.linkspan-synth';

/** One file of the output folder that differs from the tree. */
export interface FileChange {
  /** Path below the output folder. */
  readonly path: string;
  /** Undefined if it does not exist. */
  readonly before: string | undefined;
  /** Undefined if it is to be removed. */
  readonly after: string | undefined;
}

/** A foreign file has the path of a file of the tree, or the list contains a path outside the folder. */
export class OutputFolderError extends Error {
  override readonly name = 'OutputFolderError';
}

/**
 * The changes that turn `folder` into the tree, sorted by path.
 * @throws OutputFolderError if a foreign file has the path of a file of the tree
 */
export const treeChanges = async (folder: string, tree: Tree): Promise<readonly FileChange[]> => {
  const written = new Set(lines(await contentOf(join(folder, MANIFEST))));
  for (const path of written) {
    if (!INSIDE.test(path)) {
      throw new OutputFolderError(`${join(folder, MANIFEST)}: ${path} must be a path in the folder (remove that line)`);
    }
  }
  const wanted = new Map(tree).set(MANIFEST, listing(tree.keys()));
  const changes: FileChange[] = [];
  const foreign: string[] = [];
  const paths = [...new Set([...wanted.keys(), ...written])].sort();
  await inBatches(paths, async (path) => {
    const before = await contentOf(join(folder, path));
    const after = wanted.get(path);
    if (before === after) return;
    if (before !== undefined && path !== MANIFEST && !written.has(path)) foreign.push(path);
    changes.push({ path, before, after });
  });
  changes.sort(byPath);
  if (foreign.length > 0) {
    throw new OutputFolderError(
      `${folder}: ${foreign.sort().join(', ')}: must have been written by linkspan synth to be overwritten (move it, or remove it)`,
    );
  }
  return changes;
};

/** Writes the changes, and deletes folders that become empty. After an interruption, the next run completes them. */
export const writeChanges = async (folder: string, changes: readonly FileChange[]): Promise<void> => {
  const manifest = changes.find(({ path }) => path === MANIFEST);
  if (manifest !== undefined) {
    const either = new Set([...lines(manifest.before), ...lines(manifest.after)]);
    await writeFile(join(await made(folder), MANIFEST), listing(either));
  }
  const files = changes
    .filter(({ path }) => path !== MANIFEST)
    .map(({ path, after }) => ({ file: join(folder, path), after }));
  const foldersOf = (isMeant: (file: { readonly after: string | undefined }) => boolean): ReadonlySet<string> =>
    new Set(files.filter(isMeant).map(({ file }) => dirname(file)));
  for (const each of foldersOf(({ after }) => after !== undefined)) await made(each);
  await inBatches(files, ({ file, after }) => (after === undefined ? rm(file) : writeFile(file, after)));
  for (const each of foldersOf(({ after }) => after === undefined)) await removeIfEmpty(each);
  if (manifest?.after !== undefined) await writeFile(join(folder, MANIFEST), manifest.after);
};

/** Files open at once: enough to keep the disk busy. */
const BATCH = 64;

/** @throws the error of the first that failed, after all have ended */
const inBatches = async <T>(all: readonly T[], each: (one: T) => Promise<void>): Promise<void> => {
  for (let start = 0; start < all.length; start += BATCH) {
    const outcomes = await Promise.allSettled(all.slice(start, start + BATCH).map(each));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
};

const byPath = (a: FileChange, b: FileChange): number => (a.path < b.path ? -1 : 1);

/** `<cluster>/<file>`: a path that stays in the folder. */
const INSIDE = /^[a-z0-9][-a-z0-9]*\/(?!\.\.?$)[^/\\]+$/;

const lines = (text: string | undefined): readonly string[] => (text ?? '').split('\n').filter((line) => line !== '');

const listing = (paths: Iterable<string>): string =>
  [...paths]
    .sort()
    .map((path) => `${path}\n`)
    .join('');

const made = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true });
  return folder;
};

const contentOf = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const removeIfEmpty = async (folder: string): Promise<void> => {
  try {
    await rmdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
};

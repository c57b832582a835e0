/**
 * The output folder of a tree, which may contain other files too. It has a list of the files that were written. Files of
 * the list that are no longer in the tree are deleted; other files are never changed. Nothing is written before
 * everything has been checked, and nothing outside the folder: below it, a symbolic link is refused.
 *
 * Git may have checked the files out with other line ends, as on Windows. Such a file is ours, and unchanged; it is
 * written as it was once, and `.gitattributes` tells Git to keep it so.
 */
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Tree } from './cluster-tree.ts';

/** The list of written files, in the output folder: one path a line, sorted. */
export const MANIFEST = '.linkspan-synth';

/** Tells Git to change no line end of what is written here. One with other content is somebody else's, and stays as it is. */
const ATTRIBUTES = '.gitattributes';
const KEEP_LINE_ENDS = `${MANIFEST} -text\n*/*.yaml -text\n`;

/** One file of the output folder that differs from the tree. Its texts are the same if only its line ends differ. */
export interface FileChange {
  /** Path below the output folder. */
  readonly path: string;
  /** With the line ends of the tree. Undefined if it does not exist. */
  readonly before: string | undefined;
  /** Undefined if it is to be removed. */
  readonly after: string | undefined;
}

/**
 * The output folder cannot be written: a foreign file or a symbolic link has the path of a file of the tree, or the list
 * contains a path outside the folder.
 */
export class OutputFolderError extends Error {
  override readonly name = 'OutputFolderError';
}

/**
 * The changes that turn `folder` into the tree, sorted by path.
 * @throws OutputFolderError if a foreign file or a symbolic link has the path of a file of the tree
 */
export const treeChanges = (folder: string, tree: Tree): readonly FileChange[] => {
  const written = new Set(lines(contentOf(folder, MANIFEST)));
  for (const path of written) {
    if (!INSIDE.test(path)) {
      throw new OutputFolderError(`${join(folder, MANIFEST)}: ${path} must be a path in the folder (remove that line)`);
    }
  }
  const wanted = new Map(tree).set(MANIFEST, listing(tree.keys()));
  if (isAbsentOrOurs(folder)) wanted.set(ATTRIBUTES, KEEP_LINE_ENDS);
  const changes: FileChange[] = [];
  const foreign: string[] = [];
  for (const path of [...new Set([...wanted.keys(), ...written])].sort()) {
    const content = contentOf(folder, path);
    const before = withLineFeeds(content);
    const after = wanted.get(path);
    if (content === after) continue;
    const isOurs = path === MANIFEST || written.has(path) || before === after;
    if (before !== undefined && !isOurs) foreign.push(path);
    changes.push({ path, before, after });
  }
  if (foreign.length > 0) {
    throw new OutputFolderError(
      `${folder}: ${foreign.join(', ')}: must have been written by linkspan synth to be overwritten (move it, or remove it)`,
    );
  }
  return changes;
};

/** Writes the changes, and deletes folders that become empty. After an interruption, the next run completes them. */
export const writeChanges = (folder: string, changes: readonly FileChange[]): void => {
  const manifest = changes.find(({ path }) => path === MANIFEST);
  mkdirSync(folder, { recursive: true });
  if (manifest !== undefined) {
    write(folder, MANIFEST, listing(new Set([...lines(manifest.before), ...lines(manifest.after)])));
  }
  const emptied = new Set<string>();
  for (const { path, after } of changes) {
    if (path === MANIFEST) continue;
    if (after !== undefined) write(folder, path, after);
    else if (isThere(folder, path)) {
      rmSync(join(folder, path));
      emptied.add(dirname(path));
    }
  }
  for (const each of emptied) removeIfEmpty(join(folder, each));
  if (manifest?.after !== undefined) write(folder, MANIFEST, manifest.after);
};

/** `<cluster>/<file>`: a path that stays in the folder. */
const INSIDE = /^[a-z0-9][-a-z0-9]*\/(?!\.\.?$)[^/\\]+$/;

const lines = (text: string | undefined): readonly string[] =>
  (text ?? '').split(/\r?\n/).filter((line) => line !== '');

const listing = (paths: Iterable<string>): string =>
  [...paths]
    .sort()
    .map((path) => `${path}\n`)
    .join('');

const withLineFeeds = (text: string | undefined): string | undefined => text?.replaceAll('\r\n', '\n');

const isAbsentOrOurs = (folder: string): boolean => {
  const attributes = lstatSync(join(folder, ATTRIBUTES), { throwIfNoEntry: false });
  if (attributes === undefined) return true;
  return attributes.isFile() && withLineFeeds(contentOf(folder, ATTRIBUTES)) === KEEP_LINE_ENDS;
};

/**
 * Whether a path of the output folder is there.
 * @throws OutputFolderError if it is there, and is not a file in real folders
 */
const isThere = (folder: string, path: string): boolean => {
  const steps = path.split('/');
  for (const [index] of steps.entries()) {
    const below = steps.slice(0, index + 1).join('/');
    const found = lstatSync(join(folder, below), { throwIfNoEntry: false });
    if (found === undefined) return false;
    const isFile = index === steps.length - 1;
    if (isFile ? found.isFile() : found.isDirectory()) continue;
    const what = `must be a ${isFile ? 'file' : 'folder'}${found.isSymbolicLink() ? ', not a symbolic link' : ''}`;
    throw new OutputFolderError(`${folder}: ${below}: ${what} (remove it)`);
  }
  return true;
};

const contentOf = (folder: string, path: string): string | undefined =>
  isThere(folder, path) ? readFileSync(join(folder, path), 'utf8') : undefined;

/** Writes a file, and the folder that it is in. Follows no symbolic link, though one may have come since it was checked. */
const write = (folder: string, path: string, content: string): void => {
  isThere(folder, path);
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  const opened = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | NO_FOLLOW);
  try {
    writeFileSync(opened, content);
  } finally {
    closeSync(opened);
  }
};

/** Windows has no such flag. */
const NO_FOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;

const removeIfEmpty = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
};

/**
 * `linkspan synth`: writes one folder of manifests for each cluster of a cluster file, and one for Argo CD; the same bytes
 * each time. It prints the number of files, and warns of gateways that are open to all networks. With `--check` it writes
 * nothing, prints the diff, and exits 1 if there is one, which is a check for CI. An invalid file exits 2 with all of its
 * errors, and nothing is written; so does one that would take the operator of a cluster away together with its Links,
 * or the Application of a cluster that stays.
 */
import { readClusterFile } from '../cluster-file/cluster-file.ts';
import { CLUSTER_SET_SCHEMA } from '../cluster-file/schema.ts';
import { formatFieldErrors } from '../../crds/field-error.ts';
import { clusterSetTree, type Tree, UnfitForGitError } from '../../constructs/tree/cluster-tree.ts';
import { refusedRemovals } from '../../constructs/tree/refused-removals.ts';
import { type FileChange, OutputFolderError, treeChanges, writeChanges } from '../../constructs/tree/write-tree.ts';
import { unifiedDiff } from '../diff.ts';
import { print, printLine, warn } from '../print.ts';

const DIFFERS = 1;
const USAGE_ERROR = 2;

/** Flags of the command. */
export interface SynthFlags {
  readonly file: string;
  readonly output: string;
  readonly check?: true;
  readonly schema?: true;
}

/** Runs the command. Sets the exit code. */
export const synth = async (flags: SynthFlags): Promise<void> => {
  if (flags.schema) {
    await print(`${JSON.stringify(CLUSTER_SET_SCHEMA, undefined, 2)}\n`);
    return;
  }
  const read = await readClusterFile(flags.file);
  if (!read.ok) {
    fail(read.errors.map((error) => `${flags.file}: ${formatFieldErrors([error])}`));
    return;
  }
  try {
    const { clusterSet, argoCd, warnings } = read.value;
    const tree = clusterSetTree(clusterSet, argoCd);
    const changes = treeChanges(flags.output, tree);
    const refused = refusedRemovals(flags.output, tree, changes);
    if (refused.length > 0) {
      fail(refused);
      return;
    }
    for (const warning of warnings) warn(`${flags.file}: ${warning}`);
    if (flags.check) {
      await report(changes);
      return;
    }
    writeChanges(flags.output, changes);
    await print(`${flags.output}: ${summary(tree, changes)}\n`);
  } catch (error) {
    if (!isActionable(error)) throw error;
    fail([error.message]);
  }
};

/** As in `93 files, 4 folders, 3 changed`. */
const summary = (tree: Tree, changes: readonly FileChange[]): string => {
  const folders = new Set([...tree.keys()].map((path) => path.slice(0, path.indexOf('/'))));
  const changed = changes.filter(({ path }) => path.includes('/'));
  return `${tree.size} files, ${folders.size} folders, ${changed.length} changed`;
};

/** Line ends are ignored: a checkout may have others than Git. */
const report = async (changes: readonly FileChange[]): Promise<void> => {
  const diffs = changes.map(({ path, before, after }) => unifiedDiff(path, before, after)).join('');
  if (diffs === '') return;
  process.exitCode = DIFFERS;
  await print(diffs);
};

/** Reports whether the user can act on an error. Messages of the file system name the file. */
const isActionable = (error: unknown): error is Error =>
  error instanceof UnfitForGitError ||
  error instanceof OutputFolderError ||
  (error instanceof Error && 'syscall' in error);

const fail = (problems: readonly string[]): void => {
  for (const problem of problems) printLine(`error: ${problem}`);
  process.exitCode = USAGE_ERROR;
};

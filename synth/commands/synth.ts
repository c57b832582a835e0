/**
 * `linkspan synth`: makes one folder of manifests for each cluster of a cluster file, and one for Argo CD; the same bytes
 * each time. With `--check` it writes nothing, prints what would change and exits 1 if anything would, which is a gate for
 * CI. An invalid file exits 2 with all of its errors, and nothing is written.
 */
import { formatFieldErrors } from '../../crds/field-error.ts';
import { readClusterFile } from '../cluster-file/cluster-file.ts';
import { CLUSTER_SET_SCHEMA } from '../cluster-file/schema.ts';
import { clusterSetTree, UnfitForGitError } from '../tree/cluster-tree.ts';
import { print } from '../print.ts';
import { unifiedDiff } from '../tree/diff.ts';
import { type FileChange, OutputFolderError, treeChanges, writeChanges } from '../tree/write-tree.ts';

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
    const { clusterSet, argoCd } = read.value;
    const changes = await treeChanges(flags.output, clusterSetTree(clusterSet, argoCd));
    if (flags.check) await report(changes);
    else await writeChanges(flags.output, changes);
  } catch (error) {
    if (!isActionable(error)) throw error;
    fail([error.message]);
  }
};

const report = async (changes: readonly FileChange[]): Promise<void> => {
  if (changes.length === 0) return;
  process.exitCode = DIFFERS;
  await print(changes.map(({ path, before, after }) => unifiedDiff(path, before, after)).join(''));
};

/** Reports whether the user can act on an error. Messages of the file system name the file. */
const isActionable = (error: unknown): error is Error =>
  error instanceof UnfitForGitError ||
  error instanceof OutputFolderError ||
  (error instanceof Error && 'syscall' in error);

const fail = (problems: readonly string[]): void => {
  for (const problem of problems) process.stderr.write(`error: ${problem}\n`);
  process.exitCode = USAGE_ERROR;
};

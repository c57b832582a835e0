/**
 * `linkspan synth`: from a cluster file to one folder of manifests per cluster, and one for Argo CD, the same bytes each
 * time. With `--check`
 * nothing is written: it prints what would change and exits 1 if anything would, which is a gate for CI. A file that
 * cannot be made sense of exits 2 with everything that is wrong with it, and nothing is written.
 */
import { Command } from 'commander';

import { formatFieldErrors } from '../../crds/index.ts';
import { readClusterFile } from '../cluster-file/cluster-file.ts';
import { CLUSTER_SET_SCHEMA } from '../cluster-file/schema.ts';
import { clusterSetTree, UnfitForGitError } from '../tree/cluster-tree.ts';
import { unifiedDiff } from '../tree/diff.ts';
import { type FileChange, OutputFolderError, treeChanges, writeChanges } from '../tree/write-tree.ts';

const DIFFERS = 1;
const USAGE_ERROR = 2;

interface SynthFlags {
  readonly file: string;
  readonly output: string;
  readonly check?: true;
  readonly schema?: true;
}

/** The command. Returns once all of its output is written, so that a pipe gets every byte. */
export const synthCommand = (): Command =>
  new Command('synth')
    .description('write the manifests of a set of clusters, one folder for each')
    .option('-f, --file <file>', 'the cluster file', 'linkspan.yaml')
    .option('-o, --output <dir>', 'the folder to write to', 'clusters')
    .option('--check', 'write nothing; print the diff, and exit 1 if there is one')
    .option('--schema', 'print the JSON schema of the cluster file, for editors')
    .allowExcessArguments(false)
    .action(async (flags: SynthFlags) => {
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
        if (!isTold(error)) throw error;
        fail([error.message]);
      }
    });

const report = async (changes: readonly FileChange[]): Promise<void> => {
  if (changes.length === 0) return;
  process.exitCode = DIFFERS;
  await print(changes.map(({ path, before, after }) => unifiedDiff(path, before, after)).join(''));
};

/** What the user can do something about; of the file system's errors, too, the message says which file. */
const isTold = (error: unknown): error is Error =>
  error instanceof UnfitForGitError ||
  error instanceof OutputFolderError ||
  (error instanceof Error && 'syscall' in error);

const fail = (problems: readonly string[]): void => {
  for (const problem of problems) process.stderr.write(`error: ${problem}\n`);
  process.exitCode = USAGE_ERROR;
};

const print = async (text: string): Promise<void> => {
  const { promise: written, resolve } = Promise.withResolvers<void>();
  process.stdout.write(text, () => resolve());
  await written;
};

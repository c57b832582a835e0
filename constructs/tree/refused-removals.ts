/** Changes of the output folder that are refused, since they would take from a cluster what nobody means to (rule E5). Pure. */
import type { Tree } from './cluster-tree.ts';
import { lostApplications } from './lost-applications.ts';
import { strandedMirrors } from './stranded-mirrors.ts';
import type { FileChange } from './write-tree.ts';

/**
 * Problems, each with what to do instead.
 * @param output the folder, as the user names it
 */
export const refusedRemovals = (output: string, tree: Tree, changes: readonly FileChange[]): readonly string[] => [
  ...strandedMirrors(output, tree, changes),
  ...lostApplications(output, tree, changes),
];

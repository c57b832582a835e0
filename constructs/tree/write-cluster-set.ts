/** A cluster set, written from a program as `linkspan synth` writes a cluster file. */
import type { ArgoCd } from '../argo-cd/argo-cd.ts';
import type { ClusterSet } from '../cluster-set/cluster-set.ts';
import { clusterSetTree } from './cluster-tree.ts';
import { refusedRemovals } from './refused-removals.ts';
import { type FileChange, OutputFolderError, treeChanges, writeChanges } from './write-tree.ts';

/**
 * Writes the manifests of a cluster set for Git: a folder for each cluster, called as the cluster is, with one object a
 * file, and a folder `argocd` for an {@link ArgoCd}. The Applications of that lead to these folders, if `folder` is what
 * its prop `path` names in the repository. The files are those that `linkspan synth` writes. Files that an earlier run
 * wrote, and that are wanted no more, are deleted; other files stay as they are.
 *
 * `app.synth()` is not needed for them: it names files after charts, where no Application finds them.
 * @returns what was changed, sorted by path
 * @throws OutputFolderError if somebody else's file, or a symbolic link, is in the way; if a cluster would lose its
 * operator together with its last Links, so that nothing would remove their mirrors; or if the Application of a cluster
 * that stays would go, with all objects of the cluster; nothing is then written
 * @throws UnfitForGitError for two objects of the same kind and name
 * @throws Error with all validation errors of the app, as `app.synth()` throws it
 */
export const writeClusterSet = (folder: string, clusterSet: ClusterSet, argoCd?: ArgoCd): readonly FileChange[] => {
  const tree = clusterSetTree(clusterSet, argoCd);
  const changes = treeChanges(folder, tree);
  const refused = refusedRemovals(folder, tree, changes);
  if (refused.length > 0) throw new OutputFolderError(refused.join('; '));
  writeChanges(folder, changes);
  return changes;
};

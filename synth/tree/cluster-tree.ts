/**
 * A chart as files for Git: one object per file, in an order that `kubectl apply -f` of the folder can follow. The name of
 * a file depends only on its object, so that a new object never renames another file.
 */
import { ApiObject, type Chart, Yaml } from 'cdk8s';

import type { ApiJson, ArgoCd, ClusterSet } from '../../constructs/index.ts';
import { syncWave } from '../../constructs/argo-cd/sync-waves.ts';

/** Path below the output folder, with `/`, to content. */
export type Tree = ReadonlyMap<string, string>;

/** Two objects have the same file. */
export class UnfitForGitError extends Error {
  override readonly name = 'UnfitForGitError';
}

/** The files of all clusters of a set, each in a folder named after it, and those for Argo CD in `argocd`. */
export const clusterSetTree = ({ clusters }: ClusterSet, argoCd?: ArgoCd): Tree =>
  new Map([
    ...clusters.flatMap(({ name, chart, multicluster }) => [...clusterTree(chart, name, multicluster.namespace.name)]),
    ...(argoCd === undefined ? [] : clusterTree(argoCd.chart, argoCd.chart.node.id, argoCd.namespace)),
  ]);

/**
 * The files of the objects in a chart, below `folder`.
 * @param namespace objects in it, or in none, have no namespace in their file names
 * @throws UnfitForGitError for two objects of the same kind and name
 * @throws Error with the validation errors of the chart's constructs
 */
export const clusterTree = (chart: Chart, folder: string, namespace: string): Tree => {
  const constructs = chart.node.findAll();
  const problems = constructs.flatMap(({ node }) => node.validate().map((problem) => `${node.path}: ${problem}`));
  if (problems.length > 0) throw new Error(problems.join('; '));

  const tree = new Map<string, string>();
  for (const construct of constructs) {
    if (!ApiObject.isApiObject(construct)) continue;
    const object = construct.toJson() as ApiJson;
    const path = `${folder}/${fileName(object, namespace)}`;
    if (tree.has(path))
      throw new UnfitForGitError(`${path}: two objects have the same kind and name (rename one of them)`);
    tree.set(path, Yaml.stringify(object));
  }
  return tree;
};

/** `<wave>-<kind>-<name>[.<namespace>].yaml` */
const fileName = ({ kind, metadata: { name, namespace } }: ApiJson, usual: string): string => {
  const elsewhere = namespace === undefined || namespace === usual ? '' : `.${namespace}`;
  return `${syncWave(kind)}-${kind.toLowerCase()}-${name}${elsewhere}.yaml`;
};

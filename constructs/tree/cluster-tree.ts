/**
 * A cluster set as files for Git: one object per file, in an order that `kubectl apply -f` of the folder can follow. The
 * name of a file depends only on its object, so that a new object never renames another file. Pure.
 */
import { ApiObject, type Chart, Yaml } from 'cdk8s';
import type { IConstruct } from 'constructs';
import type { ArgoCd } from '../argo-cd/argo-cd.ts';
import { syncWave } from '../argo-cd/sync-waves.ts';
import type { ClusterSet } from '../cluster-set/cluster-set.ts';
import type { ApiJson } from '../rendered/index.ts';

/** Path below the output folder, with `/`, to content. */
export type Tree = ReadonlyMap<string, string>;

/** Two objects have the same file. */
export class UnfitForGitError extends Error {
  override readonly name = 'UnfitForGitError';
}

/**
 * The files of all clusters of a set, each in a folder named after it, and those for Argo CD in `argocd`.
 * @throws UnfitForGitError for two objects of the same kind and name
 * @throws Error with all validation errors of the app, as `app.synth()` throws it
 */
export const clusterSetTree = (clusterSet: ClusterSet, argoCd?: ArgoCd): Tree => {
  validate(clusterSet.node.root);
  return new Map([
    ...clusterSet.clusters.flatMap(({ name, chart, multicluster }) => [
      ...chartTree(chart, name, multicluster.namespace.name),
    ]),
    ...(argoCd === undefined ? [] : chartTree(argoCd.chart, argoCd.chart.node.id, argoCd.namespace)),
  ]);
};

/** @throws Error with the errors of all constructs */
const validate = (root: IConstruct): void => {
  const problems = root.node
    .findAll()
    .flatMap(({ node }) => node.validate().map((problem) => `\n  [${node.path}] ${problem}`));
  if (problems.length > 0) throw new Error(`Validation failed with the following errors:${problems.join('')}`);
};

/** The files of a chart, below `folder`. Objects in `namespace`, or in none, have no namespace in their file names. */
const chartTree = (chart: Chart, folder: string, namespace: string): Tree => {
  const tree = new Map<string, string>();
  for (const construct of chart.node.findAll()) {
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

/**
 * The cluster file, `linkspan.yaml`, which is read and checked completely before anything is rendered. All errors are reported at once,
 * each with path, value, reason and remedy.
 */
import { App } from 'cdk8s';
import { readFile } from 'node:fs/promises';

import { takeInvalid } from '../../constructs/common/invalid-props.ts';
import { ArgoCd, type ArgoCdProps, ClusterSet, type ClusterSetProps } from '../../constructs/index.ts';
import { type Checked, fieldError } from '../../crds/index.ts';
import { parseYaml } from '../../operator/kube/access/yaml.ts';
import { clusterFileWarnings } from './warnings.ts';

/** The content of a cluster file. */
export interface ClusterFile {
  readonly clusterSet: ClusterSet;
  /** Undefined if it has no section `argoCd`. */
  readonly argoCd: ArgoCd | undefined;
  /** Likely mistakes, each with its path. */
  readonly warnings: readonly string[];
}

type Document = ClusterSetProps & { readonly argoCd?: Omit<ArgoCdProps, 'clusterSet'> };

/** Reads a cluster file. Never throws for its content, or if it does not exist. */
export const readClusterFile = async (file: string): Promise<Checked<ClusterFile>> => {
  try {
    return parseClusterFile(await readFile(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return refused(`cannot be read: ${code}`, 'name the cluster file with --file');
  }
};

/** Reads the text of a cluster file. */
export const parseClusterFile = (text: string): Checked<ClusterFile> => {
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return refused('must be a map of fields', 'write members: and operator:');
  }
  return compose(document as Document);
};

/** Creates the constructs of both sections, which check the document as their props. */
const compose = ({ argoCd: section, ...props }: Document): Checked<ClusterFile> => {
  const app = new App();
  const clusterSet = new ClusterSet(app, 'clusters', props);
  const argoCd = section === undefined ? undefined : new ArgoCd(app, 'argocd', { ...section, clusterSet });
  const errors = [
    ...takeInvalid(clusterSet),
    ...(argoCd === undefined ? [] : takeInvalid(argoCd).map((error) => ({ ...error, path: pathInFile(error.path) }))),
  ];
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, value: { clusterSet, argoCd, warnings: clusterFileWarnings(props, clusterSet) } };
};

const pathInFile = (path: string): string => `argoCd.${path}`.replace(/^argoCd\.clusterSet\./, '');

const refused = (reason: string, remedy?: string): Checked<never> => ({
  ok: false,
  errors: [fieldError('', undefined, reason, remedy)],
});

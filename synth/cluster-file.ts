/**
 * The cluster file, `linkspan.yaml`: read whole before anything is made of it. What is wrong is said all at once, each
 * by path, value, reason and remedy.
 */
import { App } from 'cdk8s';
import { readFile } from 'node:fs/promises';

import { ClusterSet, type ClusterSetProps, InvalidPropsError } from '../constructs/index.ts';
import { CLUSTER_SET_SCHEMA, type Checked, compile, fieldError } from '../crds/index.ts';
import { parseYaml } from '../operator/kube/yaml.ts';

/** The schema names the fields of the props, and some of them with fewer types. */
const check = compile<ClusterSetProps>(CLUSTER_SET_SCHEMA);

/** The ClusterSet that a cluster file says. Never throws for what is in the file, or for want of it. */
export const readClusterFile = async (file: string): Promise<Checked<ClusterSet>> => {
  try {
    return parseClusterFile(await readFile(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return refused(`cannot be read: ${code}`, 'name the cluster file with --file');
  }
};

/** The ClusterSet that the text of a cluster file says. */
export const parseClusterFile = (text: string): Checked<ClusterSet> => {
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return refused('is no map of fields', 'write members: and operator:, as the schema says');
  }
  const checked = check(document);
  if (!checked.ok) return checked;
  try {
    return { ok: true, value: new ClusterSet(new App(), 'clusters', checked.value) };
  } catch (error) {
    if (!(error instanceof InvalidPropsError)) throw error;
    return { ok: false, errors: error.errors };
  }
};

const refused = (reason: string, remedy?: string): Checked<never> => ({
  ok: false,
  errors: [fieldError('', undefined, reason, remedy)],
});

/**
 * The cluster file, `linkspan.yaml`: read and checked whole before anything is rendered. All errors are reported at once,
 * each with path, value, reason and remedy.
 */
import { App } from 'cdk8s';
import { readFile } from 'node:fs/promises';

import { argoCdErrors } from '../../constructs/argo-cd/errors.ts';
import {
  ArgoCd,
  type ArgoCdProps,
  ClusterSet,
  type ClusterSetProps,
  InvalidPropsError,
} from '../../constructs/index.ts';
import { type Checked, compile, type FieldError, fieldError } from '../../crds/index.ts';
import { parseYaml } from '../../operator/kube/access/yaml.ts';
import { CLUSTER_SET_SCHEMA } from './schema.ts';

/** What a cluster file declares. */
export interface ClusterFile {
  readonly clusterSet: ClusterSet;
  /** Undefined if it has no section `argoCd`. */
  readonly argoCd: ArgoCd | undefined;
}

type Document = ClusterSetProps & { readonly argoCd?: Omit<ArgoCdProps, 'clusterSet'> };

/** The schema names the fields of the props, and some of them with fewer types. */
const check = compile<Document>(CLUSTER_SET_SCHEMA);

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
    return refused('must be a map of fields', 'write members: and operator:, as the schema says');
  }
  const checked = check(document);
  return checked.ok ? compose(checked.value) : checked;
};

const compose = ({ argoCd, ...props }: Document): Checked<ClusterFile> => {
  const app = new App();
  const errors = argoCd === undefined ? [] : sectionErrors(argoCd, props);
  try {
    const clusterSet = new ClusterSet(app, 'clusters', props);
    if (errors.length > 0) return { ok: false, errors };
    return { ok: true, value: { clusterSet, argoCd: argoCd && new ArgoCd(app, 'argocd', { ...argoCd, clusterSet }) } };
  } catch (error) {
    if (!(error instanceof InvalidPropsError)) throw error;
    return { ok: false, errors: [...error.errors, ...errors] };
  }
};

/** Checked without a set, so that its errors are reported beside those of the set. */
const sectionErrors = (argoCd: NonNullable<Document['argoCd']>, { members }: ClusterSetProps): readonly FieldError[] =>
  argoCdErrors(
    argoCd,
    members.map(({ name }) => name),
  )
    .filter((error) => error !== undefined)
    .map((error) => ({ ...error, path: `argoCd.${error.path}`.replace(/^argoCd\.clusterSet\./, '') }));

const refused = (reason: string, remedy?: string): Checked<never> => ({
  ok: false,
  errors: [fieldError('', undefined, reason, remedy)],
});

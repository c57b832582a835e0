/** Manifests from files, as `kubectl get -o yaml` and `-o json` write them: documents, and lists of objects. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseYamlAll } from '../../../operator/kube/access/yaml.ts';
import { type KubeObject, type Resource, apiVersionOf } from '../../../operator/kube/objects.ts';
import { CommandError, ExitCode, type Problem } from './command-error.ts';
import { CRDS } from './kinds.ts';
import type { ClusterReader } from './reader.ts';

/** A manifest: an object with its kind. */
export type Manifest = KubeObject & { readonly apiVersion: string; readonly kind: string };

/**
 * Reads all manifests of a file, or of the files of a folder whose names end in .yaml, .yml or .json.
 * @param flag the flag that names it
 * @throws CommandError with all that is wrong with it
 */
export const readManifests = async (flag: string, path: string): Promise<readonly Manifest[]> => {
  const files = await filesOf(flag, path);
  const found: Manifest[] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    const read = await readFile(file, 'utf8')
      .then(parseYamlAll)
      .catch((error: unknown) => refusal(file, reasonOf(error)));
    if ('remedy' in read) problems.push(read);
    else for (const document of read) collect(document, file, found, problems);
  }
  if (problems.length > 0) throw new CommandError(problems, ExitCode.usage);
  return found;
};

const filesOf = async (flag: string, path: string): Promise<readonly string[]> => {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
    if (names.length > 0) return names.map((name) => join(path, name));
  } catch (error) {
    throw new CommandError([refusal(`${flag} ${path}`, reasonOf(error))], ExitCode.usage);
  }
  throw new CommandError([refusal(`${flag} ${path}`, 'has no file .yaml, .yml or .json')], ExitCode.usage);
};

const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : `cannot be read: ${code}`;
};

const refusal = (object: string, reason: string): Problem => ({
  object,
  reason,
  remedy: 'name a file of manifests, as kubectl writes them',
});

const collect = (document: unknown, file: string, found: Manifest[], problems: Problem[]): void => {
  if (document === null || document === undefined) return;
  const { apiVersion, kind, metadata, items } = document as Partial<Record<string, unknown>>;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    // The API server leaves the kind out of what it lists.
    const of = { apiVersion, kind: kind.slice(0, -'List'.length) };
    for (const item of items as readonly unknown[]) {
      collect(isMap(item) ? { ...of, ...item } : item, file, found, problems);
    }
    return;
  }
  const { name } = isMap(metadata) ? metadata : {};
  if (typeof apiVersion === 'string' && typeof kind === 'string' && typeof name === 'string' && name !== '') {
    found.push(document as Manifest);
  } else problems.push(refusal(file, 'holds a document without apiVersion, kind or metadata.name'));
};

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads dumped manifests as if they were a cluster. Versions of a kind do not matter. */
export const dumpReader = (context: string, manifests: readonly Manifest[]): ClusterReader => {
  const ofResource = <T extends KubeObject>({ group, kind }: Resource): readonly T[] =>
    manifests.filter(
      (each) => each.kind === kind && groupOf(each.apiVersion) === group,
    ) as readonly KubeObject[] as readonly T[];
  return {
    context,
    find: <T extends KubeObject>(
      of: Resource,
      ref: { readonly namespace?: string | undefined; readonly name: string },
    ): Promise<T | undefined> =>
      Promise.resolve(
        ofResource<T>(of).find(
          ({ metadata }) => metadata.name === ref.name && (!of.namespaced || metadata.namespace === ref.namespace),
        ),
      ),
    serves: (of: Resource) =>
      Promise.resolve(
        holds(manifests, of) || ofResource(CRDS).some(({ metadata }) => metadata.name === `${of.plural}.${of.group}`),
      ),
    select: <T extends KubeObject>(of: Resource, { namespace, selector }: Parameters<ClusterReader['select']>[1]) =>
      Promise.resolve(
        ofResource<T>(of).filter(
          ({ metadata }) =>
            (namespace === undefined || metadata.namespace === namespace) &&
            (selector === undefined || selector.matches(metadata.labels)),
        ),
      ),
  };
};

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

/** Whether manifests hold any object of a resource. */
export const holds = (manifests: readonly Manifest[], of: Resource): boolean =>
  manifests.some(({ kind, apiVersion }) => kind === of.kind && groupOf(apiVersion) === groupOf(apiVersionOf(of)));

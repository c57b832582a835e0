/**
 * Applications that leave the folder of Argo CD's objects while their clusters stay. Deleting one deletes all that it
 * made: the operator, the Links, the accounts and the namespace of a cluster, at once (rule E5). Pure.
 *
 * It reads text that was rendered here: fields of `metadata` and `spec` are two spaces in, in the order of the alphabet.
 */
import { CASCADE } from '../argo-cd/application.ts';
import { ARGO_CD_FOLDER } from '../argo-cd/errors.ts';
import type { Tree } from './cluster-tree.ts';
import type { FileChange } from './write-tree.ts';

const FILE = new RegExp(`^${ARGO_CD_FOLDER}/2-(application|applicationset)-(.+)\\.yaml$`);

/**
 * One problem for all of them, with the way to have Argo CD let go of the clusters first.
 * @param output the folder, as the user names it
 */
export const lostApplications = (output: string, tree: Tree, changes: readonly FileChange[]): readonly string[] => {
  const clusters = new Set([...tree.keys()].map(folderOf));
  const lost = changes.flatMap((change) => removed(change, clusters));
  const [first] = lost;
  if (first === undefined) return [];
  const files = lost.map(({ path }) => path).join(', ');
  const stay = [...new Set(lost.flatMap(({ applications }) => applications.map(({ cluster }) => cluster)))];
  const what = `${output}: ${files}: must not be removed or move to another namespace while ${stay.join(', ')} ${stay.length === 1 ? 'stays' : 'stay'}`;
  const why = 'Argo CD would delete all objects of a cluster with its Application';
  return [`${what}: ${why} (${remedy(output, lost, first)})`];
};

interface Application {
  readonly name: string;
  readonly cluster: string;
}

/** A file that goes, or whose object does. */
interface Lost {
  readonly path: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly project: string;
  readonly applications: readonly Application[];
}

const removed = ({ path, before, after }: FileChange, clusters: ReadonlySet<string>): readonly Lost[] => {
  const [, kind = '', name = ''] = FILE.exec(path) ?? [];
  if (kind === '' || before?.includes(CASCADE) !== true) return [];
  const namespace = field(before, 'namespace');
  if (after !== undefined && field(after, 'namespace') === namespace) return [];
  const applications = applicationsIn(before, kind, name).filter(({ cluster }) => clusters.has(cluster));
  const project = kind === 'applicationset' ? name : field(before, 'project');
  return applications.length === 0 ? [] : [{ path, kind, name, namespace, project, applications }];
};

const applicationsIn = (text: string, kind: string, name: string): readonly Application[] => {
  if (kind === 'application') return [{ name, cluster: lastOf(/^ {4}path: (.*)$/m.exec(text)?.[1]) }];
  return [...text.matchAll(/^ +name: (.*)\n +path: (.*)$/gm)].map(([, name = '', path]) => ({
    name: unquoted(name),
    cluster: lastOf(path),
  }));
};

const remedy = (output: string, lost: readonly Lost[], { namespace, project }: Lost): string => {
  const kubectl = `kubectl --namespace=${namespace}`;
  const names = lost.flatMap(({ applications }) => applications.map(({ name }) => name)).join(' ');
  const sets = lost.filter(({ kind }) => kind === 'applicationset').map(({ name }) => name);
  const commands = [
    // It would give the others their finalizers again. It has none of its own.
    `${kubectl} delete --ignore-not-found applications.argoproj.io ${project}`,
    ...sets.map((name) => `${kubectl} delete --cascade=orphan applicationsets.argoproj.io ${name}`),
    `${kubectl} patch applications.argoproj.io ${names} --type=merge --patch='{"metadata":{"finalizers":null}}'`,
    `${kubectl} delete applications.argoproj.io ${names}`,
  ].map((command) => `\`${command}\``);
  const folder = `${output}/${ARGO_CD_FOLDER}`;
  return [
    `have Argo CD let go of the clusters first, which deletes nothing in them: in its own cluster, stop whatever else applies ${folder}, and run ${commands.join(', then ')}`,
    `delete ${folder}, run linkspan synth, commit and push; only then apply the AppProject and the root Application in ${folder} again, as the first time`,
  ].join('; ');
};

/** A field of the metadata, or the spec, of an object in a file; empty if it has none. */
export const field = (text: string, name: string): string =>
  unquoted(new RegExp(`^ {2}${name}: (.*)$`, 'm').exec(text)?.[1] ?? '');

const folderOf = (path: string): string => path.slice(0, path.indexOf('/'));

const lastOf = (path = ''): string => unquoted(path).split('/').at(-1) ?? '';

const unquoted = (text: string): string => text.replaceAll(/^["']|["']$/g, '');

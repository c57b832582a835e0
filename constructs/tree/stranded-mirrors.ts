/**
 * Changes of the output folder that would leave mirrors behind for ever: only the operator of a cluster removes what its
 * Links had (rule E5), so that both must not go in one commit. Both go when their namespace changes, too: what is in the
 * one before is deleted, in any order. Pure.
 */
import { Label, OPERATOR_NAME, writeLeaseName } from '../../crds/wire.ts';
import type { Tree } from './cluster-tree.ts';
import { field } from './lost-applications.ts';
import type { FileChange } from './write-tree.ts';

const OPERATOR = `2-deployment-${OPERATOR_NAME}.yaml`;
const LINK = /^3-link-/;

/**
 * A problem for each cluster that loses Links and its operator at once, with what to do instead.
 * @param output the folder, as the user names it
 */
export const strandedMirrors = (output: string, tree: Tree, changes: readonly FileChange[]): readonly string[] => {
  const leaving = new Map<string, string[]>();
  for (const change of changes) {
    const [cluster = '', file] = change.path.split('/');
    if (file === undefined || !leaves(change)) continue;
    leaving.set(cluster, [...(leaving.get(cluster) ?? []), file]);
  }
  return [...leaving].flatMap(([cluster, files]) => {
    const links = files.filter((file) => LINK.test(file));
    if (links.length === 0 || !files.includes(OPERATOR)) return [];
    const stays = [...tree.keys()].some((path) => path.startsWith(`${cluster}/`));
    const leases = links.map((file) => writeLeaseName(file.replace(LINK, '').replace(/\.yaml$/, '')));
    const file = `${output}: ${cluster}/${OPERATOR}`;
    if (tree.has(`${cluster}/${OPERATOR}`)) {
      const what = `${file}: must not move to another namespace together with ${links.join(', ')}`;
      return `${what}: the operator would remove the mirrors as its Links go, or be gone before (${stepsOfMove(cluster, leases)})`;
    }
    const what = `${file}: must not be removed together with ${links.join(', ')}`;
    return `${what}: nothing would remove the mirrors of the Links (${remedy(output, cluster, stays, leases)})`;
  });
};

/** Reports whether an object goes from where it is. */
const leaves = ({ before, after }: FileChange): boolean =>
  before !== undefined && (after === undefined || field(before, 'namespace') !== field(after, 'namespace'));

const stepsOfMove = (cluster: string, leases: readonly string[]): string =>
  `keep the namespace for now, with operator: true of member ${cluster} and by topology without its Links; render and apply; ${untilGone(leases)}; change the namespace, render and apply; then write the Links again`;

const untilGone = (leases: readonly string[]): string =>
  `wait until Lease ${leases.join(', ')} ${leases.length === 1 ? 'goes' : 'go'}, which the operator deletes last`;

const remedy = (output: string, cluster: string, stays: boolean, leases: readonly string[]): string => {
  const own = `take the label ${Label.federated} off its Services, and delete its ServiceExports and ServiceFailovers`;
  const wait = `render and apply; in ${cluster}, ${own}; ${untilGone(leases)}`;
  return stays
    ? `write operator: true of member ${cluster}, ${wait}; then remove operator`
    : `keep member ${cluster} for now, with operator: true and by topology without Links; ${wait}; then remove the member. Of a cluster that is gone already, delete ${output}/${cluster} first`;
};

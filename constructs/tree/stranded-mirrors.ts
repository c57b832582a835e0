/**
 * Changes of the output folder that would leave mirrors behind for ever: only the operator of a cluster removes what its
 * Links had (rule E5), so that both must not go in one commit. Pure.
 */
import { Label, OPERATOR_NAME, writeLeaseName } from '../../crds/wire.ts';
import type { Tree } from './cluster-tree.ts';
import type { FileChange } from './write-tree.ts';

const OPERATOR = `2-deployment-${OPERATOR_NAME}.yaml`;
const LINK = /^3-link-/;

/**
 * A problem for each cluster that loses Links and its operator at once, with what to do instead.
 * @param output the folder, as the user names it
 */
export const strandedMirrors = (output: string, tree: Tree, changes: readonly FileChange[]): readonly string[] => {
  const removed = new Map<string, string[]>();
  for (const { path, after } of changes) {
    const [cluster = '', file] = path.split('/');
    if (file === undefined || after !== undefined) continue;
    removed.set(cluster, [...(removed.get(cluster) ?? []), file]);
  }
  return [...removed].flatMap(([cluster, files]) => {
    const links = files.filter((file) => LINK.test(file));
    if (links.length === 0 || !files.includes(OPERATOR)) return [];
    const stays = [...tree.keys()].some((path) => path.startsWith(`${cluster}/`));
    const what = `${output}: ${cluster}/${OPERATOR}: must not be removed together with ${links.join(', ')}`;
    const leases = links.map((file) => writeLeaseName(file.replace(LINK, '').replace(/\.yaml$/, '')));
    return `${what}: nothing would remove the mirrors of the Links (${remedy(output, cluster, stays, leases)})`;
  });
};

const remedy = (output: string, cluster: string, stays: boolean, leases: readonly string[]): string => {
  const own = `take the label ${Label.federated} off its Services, and delete its ServiceExports and ServiceFailovers`;
  const go = leases.length === 1 ? 'goes' : 'go';
  const wait = `render and apply; in ${cluster}, ${own}; wait until Lease ${leases.join(', ')} ${go}, which the operator deletes last`;
  return stays
    ? `write operator: true of member ${cluster}, ${wait}; then remove operator`
    : `keep member ${cluster} for now, with operator: true and by topology without Links; ${wait}; then remove the member. Of a cluster that is gone already, delete ${output}/${cluster} first`;
};

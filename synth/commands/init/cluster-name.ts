/** Names of clusters, from those of contexts, which tools build of accounts, regions and users. Pure. */
import { isDnsLabel, LABEL_MAX_LENGTH } from '../../../crds/names.ts';

/**
 * The name of a cluster that a context most likely means: `east` of `admin@east`, of `gke_project_zone_east` and of
 * `arn:aws:eks:eu-west-1:1234:cluster/east`. Otherwise the context, with a dash for each character that no name has.
 */
export const clusterName = (context: string): string => {
  const last = context.startsWith('gke_') ? context.split('_').at(-1) : context.split(/[@/]/).findLast((part) => part);
  const name = (last ?? context)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, LABEL_MAX_LENGTH / 2)
    .replaceAll(/^-+|-+$/g, '');
  return isDnsLabel(name) ? name : 'cluster';
};

/** Names of clusters, in the order of their contexts; what two would share gets a number. */
export const clusterNames = (contexts: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  return contexts.map((context) => {
    const name = clusterName(context);
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
    taken.add(free);
    return free;
  });
};

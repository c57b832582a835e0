/** Decides the ids of the clusters that take part in ServiceImports (rule K2). Pure. */
import { isDnsLabel } from '../../crds/names.ts';
import { clusterIds } from './cluster-ids.ts';
import type { ImportParty } from './party.ts';

/** Id of the local cluster if that cluster claims no valid id. */
const DEFAULT_ID = 'local';

/**
 * Ids of the clusters:
 * - `local` is the id of the local cluster; undefined while the claim of that cluster is not known.
 * - `targets` has the ids of targets, keyed by the cluster names of their Links. A target has no entry if its id is not
 *   known, or if its cluster name is the id of the local cluster (`local` while that id is not known).
 */
export interface ImportIds {
  readonly local: string | undefined;
  readonly targets: ReadonlyMap<string, string>;
}

/**
 * Returns the ids of the clusters. The local cluster comes first: a target whose cluster name is the id of the local
 * cluster gets no id. The targets follow, those with older Links first.
 * @param local the id that the local cluster claims; null if it claims none, undefined while its claim is not known
 * @param silent cluster names of targets that have a Link but no session. These targets get no id, and no other target
 *   gets one of these names as its id
 */
export function importIds(
  local: string | null | undefined,
  parties: readonly Pick<ImportParty, 'cluster' | 'seniority' | 'claimedId'>[],
  silent: Iterable<string> = [],
): ImportIds {
  const here = typeof local === 'string' && isDnsLabel(local) ? local : DEFAULT_ID;
  const others = parties.filter(({ cluster }) => cluster !== here);
  const ids = clusterIds([
    { name: here, claimed: here },
    ...others
      .toSorted(
        (a, b) => compare(a.seniority.createdAt, b.seniority.createdAt) || compare(a.seniority.name, b.seniority.name),
      )
      .map(({ cluster, claimedId }) => ({ name: cluster, claimed: claimedId ?? undefined })),
    ...[...silent].filter((name) => name !== here).map((name) => ({ name, claimed: undefined })),
  ]);
  const known = others.filter(({ claimedId }) => claimedId !== undefined);
  return {
    local: local === undefined ? undefined : here,
    targets: new Map(known.map(({ cluster }) => [cluster, ids.get(cluster) ?? cluster])),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

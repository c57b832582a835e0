/**
 * Decides the ids of the clusters in a cluster set (rule K2). A cluster claims an id by its ClusterProperty, but may
 * not pass for another cluster: an id that is taken, or is the name of another cluster's Link, is not accepted. Pure.
 */
import { isDnsLabel } from '../../crds/names.ts';

/** A cluster, and the id that it claims. */
export interface IdClaim {
  /**
   * Name of the cluster, which no other cluster has here, such as `spec.targetClusterName` of its Link. A DNS label.
   */
  readonly name: string;
  /** Value of its ClusterProperty `cluster.clusterset.k8s.io`; undefined if it has none. */
  readonly claimed: string | undefined;
}

/**
 * Returns the id of each cluster by its name: the one that it claims if it may have that, and its name otherwise.
 * @param claims in order of seniority: of two clusters that claim one id, the first gets it
 */
export function clusterIds(claims: readonly IdClaim[]): ReadonlyMap<string, string> {
  const names = new Set(claims.map(({ name }) => name));
  const taken = new Set<string>();
  return new Map(
    claims.map(({ name, claimed }) => {
      const mayHave =
        claimed !== undefined &&
        isDnsLabel(claimed) &&
        !taken.has(claimed) &&
        (claimed === name || !names.has(claimed));
      const id = mayHave ? claimed : name;
      taken.add(id);
      return [name, id];
    }),
  );
}

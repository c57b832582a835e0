/**
 * Decides the ids of the clusters in a cluster set (rule K2). A cluster claims an id by its ClusterProperty, but may
 * not pass for another cluster: an id that another cluster has, or that is the name of another cluster, is not
 * accepted. Pure.
 */
import { isDnsLabel } from '../../crds/names.ts';

/** A cluster, and the id that it claims. */
export interface IdClaim {
  /**
   * Name of the cluster, unique among the claims: `spec.targetClusterName` of its Link, or the id of the local cluster.
   * A DNS label.
   */
  readonly name: string;
  /** Value of the cluster's ClusterProperty `cluster.clusterset.k8s.io`; undefined if it has none. */
  readonly claimed: string | undefined;
}

/**
 * Returns the id of each cluster by its name: the claimed id if that is accepted, and the name otherwise.
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

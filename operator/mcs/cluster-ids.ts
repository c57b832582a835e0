/**
 * Decides the ids of clusters (rule K2). A cluster claims an id by its ClusterProperty. The id is accepted if it is a
 * DNS label that is neither the id nor the name of another cluster, so that no cluster can pass for another. Pure.
 */
import { isDnsLabel } from '../../crds/names.ts';

/** A cluster, and the id that it claims. */
export interface IdClaim {
  /**
   * Name of the cluster: `spec.targetClusterName` of its Link, or the id of the local cluster. A cluster without a
   * session can occur more than once. Its name might not be a DNS label, because its Link might be invalid.
   */
  readonly name: string;
  /**
   * The claimed id: the value of the cluster's ClusterProperty `cluster.clusterset.k8s.io`. Undefined if the cluster
   * claims none, or if its claim is not known.
   */
  readonly claimed: string | undefined;
}

/**
 * Returns the ids of the clusters, keyed by their names. A cluster gets the id that it claims if that id is accepted.
 * Otherwise its name is its id.
 * @param claims sorted by seniority, most senior first: if two clusters claim the same id, the first one gets it
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

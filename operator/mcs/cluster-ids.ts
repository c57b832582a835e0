/**
 * What the clusters of the set are called (rule K2). A ClusterProperty is what a cluster says of itself, and no cluster
 * may pass for another: an id that is taken, or is the name of another's Link, is not accepted. Pure.
 */
import { isDnsLabel } from '../../crds/names.ts';

/** A cluster, and the id that it claims. */
export interface IdClaim {
  /** What it is called here, where no other has that name: `spec.targetClusterName` of its Link, say. A DNS label. */
  readonly name: string;
  /** Value of its ClusterProperty `cluster.clusterset.k8s.io`; undefined if it has none. */
  readonly claimed: string | undefined;
}

/**
 * Returns the id of each cluster by its name: what it claims, or its name if it claims nothing, or nothing that it may
 * have.
 * @param claims by seniority: of two clusters that claim one id, the first has it
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

/**
 * Finds Links that exchange clusters. Each of these Links names the cluster that the Lease of another one records, for
 * example after one `kubectl apply` of them all. Each Lease must keep its record until another Link has the recorded
 * cluster, so these Links would wait for each other for ever. The operator therefore treats each of them like an
 * invalid Link, and serves it by its former spec (rule E9). Pure.
 */

/** The fields of a Link that decide which cluster the Link has. */
interface Assigned {
  readonly name: string;
  readonly settings: { readonly cluster: string } | undefined;
  readonly isSuspended?: boolean;
}

/**
 * Returns the cluster that the Lease of a valid Link records, if the Link names another cluster now. Undefined in all
 * other cases, for example if the Link is invalid.
 */
export function formerCluster({ name, settings }: Assigned, served: ReadonlyMap<string, string>): string | undefined {
  const former = served.get(name);
  return settings === undefined || former === settings.cluster ? undefined : former;
}

/**
 * Reports whether a Link exchanges clusters with other Links, and so would wait for itself. A Link that leaves a
 * cluster waits for the Link that is to have this cluster. That Link might leave a cluster too, and wait for a third
 * Link, and so on. A suspended Link waits for no other.
 * @param served the target cluster that the Lease of each Link records. Key: name of the Link
 * @param ownerOf returns the Link that is to have a cluster
 */
export function isExchanged<L extends Assigned>(
  link: L,
  served: ReadonlyMap<string, string>,
  ownerOf: (cluster: string) => L | undefined,
): boolean {
  const waiting = new Set<L>();
  let at = link;
  for (;;) {
    const former = at.isSuspended === true ? undefined : formerCluster(at, served);
    const next = former === undefined ? undefined : ownerOf(former);
    if (next === link) return true;
    if (next === undefined || waiting.has(next)) return false;
    waiting.add(next);
    at = next;
  }
}

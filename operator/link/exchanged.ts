/**
 * Finds Links that exchange clusters, for example by one `kubectl apply`: each names the cluster that the Lease of
 * another Link records. No Lease can give up its record before another Link has the recorded cluster, so these Links
 * would wait for each other for ever. The operator therefore treats each of them like an invalid Link, and serves it by
 * its former spec (rule E9). Pure.
 */

/** The fields of a Link that decide which cluster the Link has. */
interface Assigned {
  readonly name: string;
  readonly settings: { readonly cluster: string } | undefined;
  readonly isSuspended?: boolean;
}

/**
 * Returns the cluster that the Lease of a valid Link records, if the Link names another cluster now; otherwise
 * undefined.
 */
export function formerCluster({ name, settings }: Assigned, served: ReadonlyMap<string, string>): string | undefined {
  const former = served.get(name);
  return settings === undefined || former === settings.cluster ? undefined : former;
}

/**
 * Reports whether a Link exchanges clusters with others, so that it waits for itself. A Link that leaves a cluster
 * waits for the Link that is to have this cluster. That Link might leave a cluster too, and wait for a third Link, and
 * so on.
 * @param served the target cluster that the Lease of each Link records, by the name of the Link
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

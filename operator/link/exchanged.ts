/**
 * Links that name each other's clusters, as after one `kubectl apply` that exchanges them. The Lease of each records the
 * cluster that another is to have, and none can give up its record before another has it: each stays what it was served
 * as, as if it were invalid (rule E9). Pure.
 */

/** A Link, as far as clusters are assigned by it. */
interface Assigned {
  readonly name: string;
  readonly settings: { readonly cluster: string } | undefined;
  readonly isSuspended?: boolean;
}

/** Returns the cluster that a valid Link was served for, if it names another one now. */
export function formerCluster({ name, settings }: Assigned, served: ReadonlyMap<string, string>): string | undefined {
  const former = served.get(name);
  return settings === undefined || former === settings.cluster ? undefined : former;
}

/**
 * Reports whether a Link waits for itself: for the Link that is to have the cluster that it was served for, which waits
 * for the next one, and so on.
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

/**
 * Links that name each other's clusters, as after one `kubectl apply` that exchanges them. The Lease of each records the
 * cluster that another is to have, and none can give up its record before another has it: each stays what it was served
 * as, as if it were invalid (rule E9). Pure.
 */
import type { LinkRead, Served } from './links.ts';

/** Returns the cluster of which a Link's Lease has the only record, if it is to be served for another one. */
function formerOf({ name, settings, isSuspended }: LinkRead, served: Served): string | undefined {
  if (settings === undefined || isSuspended === true) return undefined;
  const former = served.get(name);
  return former === settings.cluster ? undefined : former;
}

/**
 * Reports whether a Link waits for itself: for the Link that is to have the cluster that it was served for, which waits
 * for the next one, and so on.
 * @param ownerOf returns the Link that is to have a cluster
 */
export function isExchanged(
  link: LinkRead,
  served: Served,
  ownerOf: (cluster: string) => LinkRead | undefined,
): boolean {
  const waiting = new Set<LinkRead>();
  let at = link;
  for (;;) {
    const former = formerOf(at, served);
    const next = former === undefined ? undefined : ownerOf(former);
    if (next === link) return true;
    if (next === undefined || waiting.has(next)) return false;
    waiting.add(next);
    at = next;
  }
}

const asServed = new WeakMap<LinkRead, LinkRead>();

/** Returns a Link as an invalid one, which stays what it was served as; the same one each time. */
export function asInvalid(link: LinkRead): LinkRead {
  const known = asServed.get(link) ?? { ...link, settings: undefined };
  asServed.set(link, known);
  return known;
}

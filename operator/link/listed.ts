/**
 * Asks the API server which Links there are now. A watch might be out of date, and mirrors that were removed by mistake
 * would be lost (rule E5).
 */
import type { KubeClient } from '../kube/client.ts';
import { LINKS } from './link.ts';
import { assignmentOf, readLinkObject, type Served } from './links.ts';
import { servedClusters } from './records.ts';
import type { LinkObject } from './status/writer.ts';

/** The part of the environment that is needed to list Links and Leases. */
interface ListingEnvironment {
  readonly client: Pick<KubeClient, 'list'>;
  readonly config: { readonly namespace: string };
}

/**
 * Lists Links anew, and reports whether the mirrors of a cluster must stay. They must stay in each of these cases:
 * - A Link has the cluster, or keeps the cluster's mirrors.
 * - A suspended Link names the cluster, and its own Lease records no cluster.
 * - The Lease of a suspended Link records the cluster.
 * - No Lease records the cluster.
 * @throws ApiError or ConnectionError if Links cannot be listed
 */
export async function isLinked(
  cluster: string,
  served: Served,
  { client, config }: ListingEnvironment,
  signal: AbortSignal,
): Promise<boolean> {
  const { items } = await client.list<LinkObject>(LINKS, { namespace: config.namespace }, signal);
  const listed = new Map(items.map((object) => [object.metadata.name, readLinkObject(object)]));
  return assignmentOf(cluster, listed, served).do !== 'remove';
}

/**
 * Lists Links and Leases anew. Returns true if at least one Link exists, no Link names this cluster, and no Lease
 * records it. False if there is no Link at all, because all Links might have vanished at once.
 * @throws ApiError or ConnectionError if Links or Leases cannot be listed
 */
export async function hasNoLink(
  cluster: string,
  { client, config }: ListingEnvironment,
  signal: AbortSignal,
): Promise<boolean> {
  const { items } = await client.list<LinkObject>(LINKS, { namespace: config.namespace }, signal);
  if (items.length === 0 || items.some((object) => readLinkObject(object).named === cluster)) return false;
  return ![...(await servedClusters(client, config.namespace, signal)).values()].includes(cluster);
}

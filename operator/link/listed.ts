/**
 * Asks the API server which Links there are now. A watch may be out of date, and mirrors that were removed by mistake
 * would be lost (rule E5).
 */
import type { KubeClient } from '../kube/client.ts';
import { LINKS } from './link.ts';
import { assignmentOf, readLinkObject, type Served } from './links.ts';
import type { LinkObject } from './status/writer.ts';

/**
 * Lists Links anew, and reports whether the mirrors of a cluster must stay. They must if a Link has the cluster or
 * keeps its mirrors, or if a suspended Link names the cluster and its Lease records no other cluster.
 * @throws ApiError or ConnectionError if Links cannot be listed
 */
export async function isLinked(
  cluster: string,
  served: Served,
  { client, config }: { readonly client: Pick<KubeClient, 'list'>; readonly config: { readonly namespace: string } },
  signal: AbortSignal,
): Promise<boolean> {
  const { items } = await client.list<LinkObject>(LINKS, { namespace: config.namespace }, signal);
  const listed = new Map(items.map((object) => [object.metadata.name, readLinkObject(object)]));
  return assignmentOf(cluster, listed, served).do !== 'remove';
}

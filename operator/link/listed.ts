/** Links as the API server lists them at this moment: a watch may be late, and what is removed for that is lost (rule E5). */
import type { KubeClient } from '../kube/client.ts';
import { LINKS } from './link.ts';
import { assignmentOf, readLinkObject, type Served } from './links.ts';
import type { LinkObject } from './status/writer.ts';

/**
 * Reports whether a Link has, or is to have, a cluster that is being removed.
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

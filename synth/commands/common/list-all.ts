/** All objects of a list, read page by page: no answer is too long, or too slow, for having many of them. */
import type { KubeClient, ListOptions } from '../../../operator/kube/client.ts';
import { isNotFound } from '../../../operator/kube/errors.ts';
import { listPages } from '../../../operator/kube/list-pages.ts';
import type { KubeObject, Resource } from '../../../operator/kube/objects.ts';

/** Objects of a page. */
const PAGE = 500;
/** Nobody aborts it. */
const NEVER = new AbortController().signal;

/**
 * Lists what is selected; nothing if the API server does not serve the resource.
 * @throws ApiError as the API server answers, LimitError if the list does not end
 */
export const listAll = async <T extends KubeObject>(
  client: Pick<KubeClient, 'listEach'>,
  resource: Resource,
  select: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
  signal: AbortSignal = NEVER,
): Promise<readonly T[]> => {
  const items: T[] = [];
  const sink = { bytes: 0, listed: (item: T) => void items.push(item) };
  try {
    await listPages<T>({ client: () => client, resource, select, sink }, PAGE, signal);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
  return items;
};

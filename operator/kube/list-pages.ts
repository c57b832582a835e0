/** A list, page by page, into a sink; never more of it than may be kept, and never without end. */
import type { KubeClient, ListOptions } from './client.ts';
import { LimitError } from './errors.ts';
import { inMiB } from './lines.ts';
import type { KubeObject, Resource } from './objects.ts';

/** What takes the objects of a list. */
export interface ListSink<T extends KubeObject> {
  /** Weight of those that it has taken; 0 if objects are not weighed. */
  readonly bytes: number;
  listed(object: T): void;
}

export interface ListPagesOptions<T extends KubeObject> {
  /** Called before each page. */
  readonly client: () => Pick<KubeClient, 'listEach'>;
  readonly resource: Resource;
  readonly select?: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;
  readonly sink: ListSink<T>;
  /** Largest number of objects that are listed. @default - no limit */
  readonly maxObjects?: number | undefined;
  /** Largest number of bytes of the objects that are listed, as the sink weighs them. @default - no limit */
  readonly maxBytes?: number | undefined;
}

/** Most pages of a list: a server decides how many objects are on each, and whether there is another. */
const MAX_PAGES = 1_000;

/** Longest `continue` token, which is sent back in a URL. */
const MAX_TOKEN = 8_192;

/**
 * Reads the pages of a list.
 * @returns the version of the list
 * @throws LimitError if it has too many objects, or pages without end
 */
export async function listPages<T extends KubeObject>(
  { client, resource, select, sink, maxObjects = Infinity, maxBytes }: ListPagesOptions<T>,
  pageSize: number,
  signal: AbortSignal,
): Promise<string> {
  const what = `list ${resource.plural}`;
  let next: string | undefined;
  let objects = 0;
  const take = (object: T): void => {
    objects += 1;
    if (objects > maxObjects) throw new LimitError(`${what}: there are more than ${maxObjects} objects`);
    sink.listed(object);
    checkBytes(what, sink, maxBytes);
  };
  for (let pages = 1; ; pages += 1) {
    const query = { ...select, limit: pageSize, continue: next };
    const metadata = await client().listEach<T>(resource, query, take, signal);
    const token = metadata.continue ?? '';
    if (token === '') return metadata.resourceVersion;
    if (token === next || token.length > MAX_TOKEN || pages === MAX_PAGES) {
      throw new LimitError(`${what}: the list does not end (${objects} objects on ${pages} pages)`);
    }
    next = token;
  }
}

/** @throws LimitError if the objects of a sink take more memory than they may */
export function checkBytes(what: string, sink: Pick<ListSink<never>, 'bytes'>, maxBytes = Infinity): void {
  if (sink.bytes > maxBytes) throw new LimitError(`${what}: the objects take more than ${inMiB(maxBytes)}`);
}

/** One event of a watch, passed to a sink within the limits on what is watched. */
import type { WatchEvent } from '../kube/client.ts';
import { ApiError, ConnectionError, LimitError, type StatusBody } from '../kube/errors.ts';
import { checkBytes, type ListPagesOptions } from '../kube/list-pages.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Sink } from './store.ts';

/** The server sent an event of a type that there is not. */
export class UnknownEventError extends ConnectionError {}

/** What is watched, up to which size, and who takes it. */
type Watched<T extends KubeObject> = Pick<ListPagesOptions<T>, 'resource' | 'maxObjects' | 'maxBytes'> & {
  readonly sink: Sink<T>;
};

/** @throws LimitError beyond the limits, ApiError of an error event, UnknownEventError */
export function passOn<T extends KubeObject>({ type, object }: WatchEvent<T>, watched: Watched<T>): void {
  const { resource, sink, maxObjects = Infinity, maxBytes } = watched;
  const what = `watch ${resource.plural}`;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      if (sink.size >= maxObjects && type === 'ADDED') {
        throw new LimitError(`${what}: there are more than ${maxObjects} objects`);
      }
      sink.applied(object);
      checkBytes(what, sink, maxBytes);
      return;
    case 'DELETED':
      sink.removed(object);
      return;
    case 'BOOKMARK':
      return;
    case 'ERROR': {
      const status = object as unknown as StatusBody & { readonly code?: number };
      throw new ApiError(status.code ?? 500, status, what);
    }
    default:
      throw new UnknownEventError(`${what}: an event of unknown type ${String(type).slice(0, 32)}`);
  }
}

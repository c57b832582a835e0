/** When objects change: a list, and then a watch, again and again. What changes is not reported, only that it does. */
import { sleep } from '../../../operator/kube/backoff.ts';
import type { KubeClient } from '../../../operator/kube/client.ts';
import type { Resource } from '../../../operator/kube/objects.ts';

/** How long one watch lasts. */
const WATCH_SECONDS = 300;
/** Time until what has ended or failed is watched anew. */
const REWATCH_MS = 1_000;

export interface ChangesOptions {
  /** Longest time between two yields, in milliseconds. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

interface WatchOptions {
  readonly signal: AbortSignal;
  /** Called when the watch begins to fail. */
  readonly onFailure: (error: unknown) => void;
}

/** Yields at once, whenever objects of a resource have changed, and at least every so often, until the signal aborts. */
export async function* changes(
  client: Pick<KubeClient, 'list' | 'watch'>,
  of: Resource,
  namespace: string,
  options: ChangesOptions & WatchOptions,
): AsyncGenerator<void> {
  const { everyMs, signal } = options;
  let changed = Promise.withResolvers<void>();
  const watching = watch(client, of, namespace, options, () => changed.resolve());
  while (!signal.aborted) {
    changed = Promise.withResolvers<void>();
    const timer = setTimeout(() => changed.resolve(), everyMs);
    yield;
    await Promise.race([changed.promise, watching]);
    clearTimeout(timer);
  }
  await watching;
}

/** Watches until the signal aborts. */
const watch = async (
  client: Pick<KubeClient, 'list' | 'watch'>,
  of: Resource,
  namespace: string,
  { signal, onFailure }: WatchOptions,
  onChange: () => void,
): Promise<void> => {
  let isFailing = false;
  while (!signal.aborted) {
    try {
      const { metadata } = await client.list(of, { namespace }, signal);
      // What happened while nothing was watched is in the list.
      onChange();
      isFailing = false;
      const events = client.watch(of, {
        namespace,
        resourceVersion: metadata.resourceVersion,
        timeoutSeconds: WATCH_SECONDS,
        idleTimeoutMs: WATCH_SECONDS * 1_000,
        signal,
      });
      for await (const { type } of events) {
        if (type === 'ERROR') break;
        if (type !== 'BOOKMARK') onChange();
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing) onFailure(error);
      isFailing = true;
    }
    await sleep(REWATCH_MS, signal);
  }
};

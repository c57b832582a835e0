/**
 * Every state that Endpoints of the source cluster have been in, from a watch: for outcomes that a look now and then
 * would miss, such as a mirror that was ready for a moment.
 */
import type { TwoClusters } from './two-clusters.ts';
import type { EndpointsObject } from './objects.ts';

export class EndpointsHistory {
  readonly #states = new Map<string, string[]>();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #failure: unknown;

  /** Watches a namespace from now on; what is there now comes first. */
  static async start(clusters: TwoClusters, namespace = 'shop'): Promise<EndpointsHistory> {
    const history = new EndpointsHistory();
    const collection = { apiVersion: 'v1', kind: 'Endpoints', namespace };
    const { items, resourceVersion } = await clusters.east.listAll<EndpointsObject>(collection);
    for (const object of items) history.#record(object);
    const watching = async (): Promise<void> => {
      const events = clusters.east.watch<EndpointsObject>(collection, { resourceVersion }, history.#stop.signal);
      for await (const { type, object } of events) {
        if (type === 'ADDED' || type === 'MODIFIED') history.#record(object);
      }
    };
    history.#running = watching().catch((error: unknown) => {
      if (!history.#stop.signal.aborted) history.#failure = error;
    });
    return history;
  }

  /** The addresses of an object in each of its states, comma separated; `!` before those that are not ready. */
  states(name: string): readonly string[] {
    return this.#states.get(name) ?? [];
  }

  /** @throws Error if the watch failed, and states may have been missed */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    if (this.#failure !== undefined) throw new Error('the watch of Endpoints failed', { cause: this.#failure });
  }

  #record({ metadata, subsets = [] }: EndpointsObject): void {
    const addresses = subsets.flatMap((subset) => [
      ...(subset.addresses ?? []).map(({ ip }) => ip),
      ...(subset.notReadyAddresses ?? []).map(({ ip }) => `!${ip}`),
    ]);
    this.#states.set(metadata.name, [...this.states(metadata.name), addresses.join()]);
  }
}

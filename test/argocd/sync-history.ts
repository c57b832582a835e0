/** What Applications went through, however short it was: every state of sync that a watch tells of. */
import type { Api } from '../cluster/workload/index.ts';
import { APPLICATION, type Application } from './application.ts';

/** A watch that takes notes until it is stopped. */
export class SyncHistory {
  readonly #stop = new AbortController();
  readonly #states = new Map<string, Set<string>>();
  readonly #watching: Promise<void>;

  constructor(client: Api) {
    this.#watching = this.#watch(client);
    // Told by stop().
    this.#watching.catch(() => undefined);
  }

  /** Stops watching; what was seen of an Application is `<state>`, with what is not Synced, each once. */
  async stop(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    this.#stop.abort();
    await this.#watching;
    return this.#states;
  }

  async #watch(client: Api): Promise<void> {
    const { signal } = this.#stop;
    try {
      const { items, resourceVersion } = await client.listAll<Application>(APPLICATION);
      for (const each of items) this.#note(each);
      for await (const { object } of client.watch<Application>(APPLICATION, { resourceVersion }, signal)) {
        this.#note(object);
      }
      throw new Error('the watch of Applications has ended by itself');
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #note({ metadata: { name }, status }: Application): void {
    const other = (status?.resources ?? []).filter((each) => each.status !== undefined && each.status !== 'Synced');
    const state = [status?.sync?.status ?? 'not compared yet', ...other.map((each) => `${each.kind} ${each.name}`)];
    this.#states.set(name, (this.#states.get(name) ?? new Set()).add(state.join(', ')));
  }
}

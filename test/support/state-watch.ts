/**
 * A collection as its clients see it, version by version: the state of each object, how many are in a state, and when
 * that was first so. What is awaited fails if a version was missed.
 */
import type { Api, Collection, KubeObject } from '../cluster/workload/index.ts';

interface Waiting {
  readonly isSo: () => boolean;
  readonly resolve: (atMs: number) => void;
  readonly reject: (error: Error) => void;
}

export class StateWatch {
  readonly #stopping = new AbortController();
  readonly #states = new Map<string, string>();
  readonly #waiting = new Set<Waiting>();
  #versions = 0;
  #failure: Error | undefined;
  #running: Promise<void> = Promise.resolve();

  /** @param stateOf called with every version of every object, once; undefined: it does not count */
  static async start<T extends KubeObject>(
    api: Api,
    collection: Collection,
    stateOf: (object: T) => string | undefined,
  ): Promise<StateWatch> {
    const watch = new StateWatch();
    const { items, resourceVersion } = await api.listAll<T>(collection);
    for (const object of items) watch.#see(object, stateOf(object));
    watch.#running = watch.#run(api, collection, resourceVersion, stateOf);
    return watch;
  }

  /** Number of versions that were seen. */
  get versions(): number {
    return this.#versions;
  }

  /** How many objects are in a state. */
  count(state: string): number {
    return [...this.#states.values()].filter((each) => each === state).length;
  }

  /** When this many objects were first seen to be in a state, in milliseconds since 1970. */
  until(state: string, count: number, timeoutMs = 300_000): Promise<number> {
    const isSo = (): boolean => this.count(state) >= count;
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (isSo()) return Promise.resolve(Date.now());
    return new Promise((resolve, reject) => {
      const late = (): Error => new Error(`${this.count(state)} of ${count} are ${state} after ${timeoutMs / 1000} s`);
      const timer = setTimeout(() => settle(() => reject(late())), timeoutMs);
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        end();
      };
      const waiting: Waiting = {
        isSo,
        resolve: (atMs) => settle(() => resolve(atMs)),
        reject: (error) => settle(() => reject(error)),
      };
      this.#waiting.add(waiting);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** An API server ends the watch of a client that is slow: it goes on from the version that was seen last. */
  async #run<T extends KubeObject>(
    api: Api,
    collection: Collection,
    listed: string,
    stateOf: (object: T) => string | undefined,
  ): Promise<void> {
    const { signal } = this.#stopping;
    let resourceVersion = listed;
    try {
      while (!signal.aborted) {
        for await (const { type, object } of api.watch<T>(collection, { resourceVersion }, signal)) {
          if (type === 'ERROR') throw new Error(`versions were missed: ${JSON.stringify(object)}`);
          ({ resourceVersion } = object.metadata);
          if (type === 'DELETED') this.#states.delete(keyOf(object));
          else this.#see(object, stateOf(object));
          this.#notify();
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#failure = error as Error;
      for (const waiting of [...this.#waiting]) waiting.reject(this.#failure);
    }
  }

  #notify(): void {
    const now = Date.now();
    for (const waiting of [...this.#waiting]) if (waiting.isSo()) waiting.resolve(now);
  }

  #see(object: KubeObject, state: string | undefined): void {
    this.#versions += 1;
    if (state === undefined) this.#states.delete(keyOf(object));
    else this.#states.set(keyOf(object), state);
  }
}

const keyOf = ({ metadata: { namespace = '', name } }: KubeObject): string => `${namespace}/${name}`;

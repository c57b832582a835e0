/**
 * EndpointSlices found by the names of their Services, for those that no label finds. The names are spread over several
 * watches, since one query with all of them would outgrow what servers and proxies take for a URL.
 */
import { Label } from '../../crds/wire.ts';
import type { EndpointSlice } from '../kube/objects.ts';
import type { Store } from '../runtime/store.ts';

/** A running watch, and what it has found. */
export interface Watched {
  readonly store: Store<EndpointSlice>;
  /** Makes its connection anew. */
  reconnect(): void;
  stop(): void;
}

interface Shard extends Watched {
  readonly names: ReadonlySet<string>;
}

/** Most names in one query: with names of 63 characters it stays under 8 KiB. */
const MAX_NAMES = 100;

export class SlicesByName {
  readonly #watch: (labelSelector: string, shard: number) => Watched;
  readonly #shards: Shard[] = [];
  readonly #byName = new Map<string, Shard>();

  /** @param watch starts a watch; `shard` tells it from others */
  constructor(watch: (labelSelector: string, shard: number) => Watched) {
    this.#watch = watch;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Whether every watch has been listed. */
  get synced(): boolean {
    return this.#shards.every(({ store }) => store.synced);
  }

  /** The slices of Service `key`, which is called `name`; undefined while they have not been listed. */
  of(key: string, name: string): readonly EndpointSlice[] | undefined {
    const store = this.#byName.get(name)?.store;
    return store?.synced === true ? store.by('service', key) : undefined;
  }

  /** Watches these names. Names no longer wanted go with the next change: a few too many cost less than a new list. */
  want(names: ReadonlySet<string>): void {
    let missing = [...names].filter((name) => !this.#byName.has(name));
    if (missing.length === 0) return;
    const last = this.#shards.at(-1);
    const wanted = [...(last?.names ?? [])].filter((name) => names.has(name));
    if (last !== undefined && wanted.length < MAX_NAMES) {
      last.stop();
      this.#shards.pop();
      for (const name of last.names) this.#byName.delete(name);
      missing = [...wanted, ...missing];
    }
    for (let start = 0; start < missing.length; start += MAX_NAMES) this.#add(missing.slice(start, start + MAX_NAMES));
  }

  reconnect(): void {
    for (const shard of this.#shards) shard.reconnect();
  }

  stop(): void {
    for (const shard of this.#shards) shard.stop();
  }

  #add(names: readonly string[]): void {
    const query = `${Label.serviceName} in (${names.toSorted().join(',')})`;
    const shard = { ...this.#watch(query, this.#shards.length), names: new Set(names) };
    this.#shards.push(shard);
    for (const name of names) this.#byName.set(name, shard);
  }
}

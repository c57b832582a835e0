/** A kind as one list shows it, in place of a watch: its objects, or why they cannot be read. */
import type { KubeObject } from '../kube/objects.ts';
import type { KindState, ReadKind } from '../runtime/optional-kind.ts';
import { Store, type StoreOptions } from '../runtime/store.ts';

/** What a list of a kind has shown. The CRD of one that is `missing` is not installed. */
export type Listed<T = KubeObject> = readonly T[] | 'missing' | 'forbidden';

export class ListedKind<T extends KubeObject> implements ReadKind<T> {
  readonly store: Store<T>;
  readonly #listed: Listed<T>;

  /**
   * @param namespaces the only ones that are read; undefined for all
   * @param kept how the objects are kept
   */
  constructor(listed: Listed, namespaces: readonly string[] | undefined, kept: StoreOptions<T>) {
    this.store = new Store<T>({ ...kept, partitions: namespaces });
    this.#listed = listed as Listed<T>;
    if (typeof this.#listed === 'string') return;
    for (const partition of this.store.partitions) {
      const sink = this.store.sink(partition);
      sink.init();
      for (const object of this.#listed) sink.listed(object);
      sink.initDone();
    }
  }

  stateIn(namespace: string): KindState {
    if (typeof this.#listed === 'string') return this.#listed;
    return this.store.syncedPart(namespace) ? 'readable' : 'unknown';
  }

  /** Nothing is awaited: the cluster has answered. */
  isAwaitedIn(): boolean {
    return false;
  }
}

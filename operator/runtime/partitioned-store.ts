/**
 * What is known of one resource of which only parts may be read: some namespaces, or some objects by name. Each part is
 * a store that a reflector of its own fills, so that one that cannot be read keeps no other from being known; together
 * they read like one store. What is in no part does not exist here.
 */
import { keyOf, type KubeObject, splitKey } from '../kube/objects.ts';
import { type Lister, Store, type StoreOptions } from './store.ts';

/** What an object is filed under: its namespace, or its name. */
export type PartitionBy = 'namespace' | 'name';

export class PartitionedStore<T extends KubeObject> implements Lister<T> {
  /** By namespace or name; each is the sink of one reflector. */
  readonly parts: ReadonlyMap<string, Store<T>>;
  readonly #by: PartitionBy;

  /** @param options of every part: told of the changes of all */
  constructor(by: PartitionBy, parts: Iterable<string>, options: StoreOptions<T> = {}) {
    this.#by = by;
    this.parts = new Map([...parts].map((part) => [part, new Store<T>(options)]));
  }

  /** Whether every part has been listed. */
  get synced(): boolean {
    return [...this.parts.values()].every(({ synced }) => synced);
  }

  get size(): number {
    return [...this.parts.values()].reduce((sum, { size }) => sum + size, 0);
  }

  get(key: string): T | undefined {
    return this.#partOf(key)?.get(key);
  }

  *values(): IterableIterator<T> {
    for (const part of this.parts.values()) yield* part.values();
  }

  by(index: string, value: string): readonly T[] {
    return [...this.parts.values()].flatMap((part) => part.by(index, value));
  }

  /** As `Store.wrote`. */
  wrote(object: T, basedOn: T | undefined): void {
    this.#partOf(keyOf(object))?.wrote(object, basedOn);
  }

  /** As `Store.deleted`. */
  deleted(object: T): void {
    this.#partOf(keyOf(object))?.deleted(object);
  }

  #partOf(key: string): Store<T> | undefined {
    return this.parts.get(splitKey(key)[this.#by]);
  }
}

/** A store as reflectors fill it: its parts by what they are of, or the whole of it, of nothing in particular. */
export const sinksOf = <T extends KubeObject>(
  store: Store<T> | PartitionedStore<T>,
): readonly (readonly [string | undefined, Store<T>])[] =>
  store instanceof PartitionedStore ? [...store.parts] : [[undefined, store]];

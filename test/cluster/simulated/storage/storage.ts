/**
 * The simulated etcd: one revision counter over all collections, and for each collection its objects and the log of
 * what happened to them. Guarantees: every write gets a revision of its own; watchers see writes in that order; a past
 * state can be read back until it is compacted away.
 */
import { freeze, type KubeObject } from './object.ts';

/** What a write did. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One write in the log of a collection. */
export interface StorageEvent {
  readonly revision: number;
  readonly type: EventType;
  readonly key: string;
  /** The object after the write; for DELETED its last state under the revision of the deletion. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** All objects at one revision. */
export interface Snapshot {
  readonly revision: number;
  readonly collections: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>;
}

/** The key of an object in its collection, which is also the order of lists. */
export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

/** Events a collection keeps before it compacts by itself. */
const LOG_LIMIT = 20_000;

const byKey = ([a]: [string, KubeObject], [b]: [string, KubeObject]): number => (a < b ? -1 : a > b ? 1 : 0);

/** The objects of one resource. */
export class Collection {
  readonly #storage: Storage;
  readonly #listeners = new Set<(event: StorageEvent) => void>();
  readonly #dropListeners = new Set<() => void>();
  #objects = new Map<string, KubeObject>();
  #sorted: readonly [string, KubeObject][] | undefined;
  #log: StorageEvent[] = [];
  #compacted = 0;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#compacted = storage.revision;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The revision below which nothing but the present can be read. */
  get compacted(): number {
    return this.#compacted;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** All objects with their keys, in the order of keys. */
  entries(): readonly [string, KubeObject][] {
    return (this.#sorted ??= [...this.#objects].sort(byKey));
  }

  /** The state at a past revision, in the order of keys; undefined once that is compacted. */
  entriesAt(revision: number): readonly [string, KubeObject][] | undefined {
    if (revision < this.#compacted) return undefined;
    if ((this.#log.at(-1)?.revision ?? 0) <= revision) return this.entries();
    const past = new Map(this.#objects);
    for (const { key, previous } of this.#log.slice(this.#firstAfter(revision)).reverse()) {
      if (previous === undefined) past.delete(key);
      else past.set(key, previous);
    }
    return [...past].sort(byKey);
  }

  /** What happened after a revision, oldest first; undefined if part of it is compacted. */
  eventsAfter(revision: number): readonly StorageEvent[] | undefined {
    return revision < this.#compacted ? undefined : this.#log.slice(this.#firstAfter(revision));
  }

  /** Index of the first event after a revision. */
  #firstAfter(revision: number): number {
    let [low, high] = [0, this.#log.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#log[middle]!.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Stores an object under the next revision, which becomes its resourceVersion, and freezes it. */
  put(key: string, object: KubeObject): KubeObject {
    const previous = this.#objects.get(key);
    const revision = this.#storage.advance();
    object.metadata.resourceVersion = String(revision);
    freeze(object);
    this.#objects.set(key, object);
    this.#sorted = undefined;
    this.#record({ revision, type: previous === undefined ? 'ADDED' : 'MODIFIED', key, object, previous });
    return object;
  }

  /** Removes an object, if it is there. */
  remove(key: string): void {
    const previous = this.#objects.get(key);
    if (previous === undefined) return;
    const revision = this.#storage.advance();
    this.#objects.delete(key);
    this.#sorted = undefined;
    this.#record({ revision, type: 'DELETED', key, object: underRevision(previous, revision), previous });
  }

  #record(event: StorageEvent): void {
    this.#log.push(event);
    if (this.#log.length > LOG_LIMIT) {
      const dropped = this.#log.splice(0, LOG_LIMIT / 2);
      this.#compacted = dropped.at(-1)!.revision;
    }
    for (const listener of this.#listeners) listener(event);
  }

  /** Calls back on every write from now on; the result stops it. */
  listen(listener: (event: StorageEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls back when the collection is dropped; the result stops it. */
  listenForDrop(listener: () => void): () => void {
    this.#dropListeners.add(listener);
    return () => void this.#dropListeners.delete(listener);
  }

  /** Tells those who listen that nothing will happen here any more. */
  dropped(): void {
    for (const listener of this.#dropListeners) listener();
  }

  /** Forgets all that happened before now. */
  compact(): void {
    this.#log = [];
    this.#compacted = this.#storage.revision;
  }

  /** Replaces everything, silently: nobody who listens learns of it. */
  replace(objects: ReadonlyMap<string, KubeObject>): void {
    this.#objects = new Map(objects);
    this.#sorted = undefined;
    this.compact();
  }

  /** The objects by key, as they are now. */
  copy(): ReadonlyMap<string, KubeObject> {
    return new Map(this.#objects);
  }
}

/** An object with another resourceVersion, as the last state of a deleted object has. */
export const underRevision = (object: KubeObject, revision: number): KubeObject =>
  freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });

/** All collections, by `group/plural`. */
export class Storage {
  readonly #collections = new Map<string, Collection>();
  #revision = 1;

  get revision(): number {
    return this.#revision;
  }

  /** Takes the next revision. */
  advance(): number {
    return ++this.#revision;
  }

  /** A collection, made on first use. */
  collection(id: string): Collection {
    let collection = this.#collections.get(id);
    if (collection === undefined) {
      collection = new Collection(this);
      this.#collections.set(id, collection);
    }
    return collection;
  }

  /** Drops a collection with all its objects. */
  drop(id: string): void {
    this.#collections.get(id)?.dropped();
    this.#collections.delete(id);
  }

  /** Compacts every collection: what is older than now cannot be watched from or paged any more. */
  compact(): void {
    for (const collection of this.#collections.values()) collection.compact();
  }

  snapshot(): Snapshot {
    return {
      revision: this.#revision,
      collections: new Map([...this.#collections].map(([id, collection]) => [id, collection.copy()])),
    };
  }

  /** Goes back to a snapshot, its revision included, as a restore of etcd's data does. */
  restore(snapshot: Snapshot): void {
    this.#revision = snapshot.revision;
    for (const [id, collection] of this.#collections) collection.replace(snapshot.collections.get(id) ?? new Map());
    for (const [id, objects] of snapshot.collections) {
      if (!this.#collections.has(id)) this.collection(id).replace(objects);
    }
  }
}

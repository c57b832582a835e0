/**
 * What a reflector knows of one resource, read through a lister. Readers see the old state or the new one, never half
 * a list: a relist is collected aside and swapped in when it is complete.
 *
 * Our own writes are seen at once (`wrote`, `deleted`), before the watch tells of them: without that a reconcile that
 * follows its own write would plan against the past and be answered 409. Versions are opaque: an event counts as news
 * of our write by being equal to it, and everything the watch sends before that is older.
 */
import { keyOf, type KubeObject } from '../kube/objects.ts';

/** What a reflector tells, in order: `init` (`listed`…) `initDone`, then `applied` and `removed` for ever. */
export interface Sink<T extends KubeObject> {
  init(): void;
  listed(object: T): void;
  initDone(): void;
  applied(object: T): void;
  removed(object: T): void;
}

/** One object's change, as seen by readers: at least one side is there. */
export interface Change<T> {
  readonly key: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** The read side of a store. */
export interface Lister<T extends KubeObject> {
  /** Whether a list has ever completed. Nothing may be deleted on the strength of a lister that is not synced. */
  readonly synced: boolean;
  readonly size: number;
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  /** The objects that an index files under a value. */
  by(index: string, value: string): readonly T[];
}

export interface StoreOptions<T> {
  /** Named indexes: the values that an object is filed under. */
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>;
  /** Cuts what nobody reads, on the way in; undefined leaves the object out. */
  readonly trim?: (object: T) => T | undefined;
  /** A list completed and was swapped in, `lost` objects not being in it any more; told before the changes it made. */
  readonly onRelisted?: (first: boolean, lost: number) => void;
  readonly onChange?: (change: Change<T>) => void;
}

/** A write of ours that the watch has not told of yet. */
interface Pending {
  readonly uid: string | undefined;
  /** Undefined: a deletion. */
  readonly resourceVersion: string | undefined;
}

/** How many removals are remembered, for answers to our creations that come after them. */
const MAX_GONE = 1000;

export class Store<T extends KubeObject> implements Lister<T>, Sink<T> {
  readonly #options: StoreOptions<T>;
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>();
  readonly #pending = new Map<string, Pending>();
  /** Uids of what the watch told of as removed, the latest last. */
  readonly #gone = new Set<string>();
  #objects = new Map<string, T>();
  #incoming: Map<string, T> | undefined;
  #synced = false;

  constructor(options: StoreOptions<T> = {}) {
    this.#options = options;
    for (const name of Object.keys(options.indexes ?? {})) this.#indexes.set(name, new Map());
  }

  get synced(): boolean {
    return this.#synced;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  by(index: string, value: string): readonly T[] {
    const filed = this.#indexes.get(index);
    if (filed === undefined) throw new Error(`store has no index "${index}"`);
    const found = filed.get(value);
    return found === undefined ? [] : [...found.values()];
  }

  /**
   * Records an object as the API server answered our write, made on the strength of `basedOn`. Nobody is told: whoever
   * wrote it knows.
   */
  wrote(object: T, basedOn: T | undefined): void {
    const key = keyOf(object);
    // The watch was faster than the answer: what it told is this write or something after it.
    if (this.#objects.get(key) !== basedOn) return;
    const trimmed = this.#trim(object);
    if (trimmed === undefined) return;
    const { uid, resourceVersion } = trimmed.metadata;
    // What we created was deleted by others, and the watch told of both before the answer came.
    if (uid !== undefined && this.#gone.has(uid)) return;
    if (basedOn !== undefined && basedOn.metadata.resourceVersion === resourceVersion) return;
    this.#pending.set(key, { uid, resourceVersion });
    this.#put(key, trimmed);
  }

  /** Records that our deletion of `object` was accepted. Nobody is told. */
  deleted(object: T): void {
    const key = keyOf(object);
    if (this.#objects.get(key) !== object) return;
    this.#pending.set(key, { uid: object.metadata.uid, resourceVersion: undefined });
    this.#put(key, undefined);
  }

  init(): void {
    this.#incoming = new Map();
  }

  listed(object: T): void {
    const trimmed = this.#trim(object);
    if (trimmed !== undefined) this.#incoming?.set(keyOf(trimmed), trimmed);
  }

  initDone(): void {
    const incoming = this.#incoming ?? new Map<string, T>();
    this.#incoming = undefined;
    // The list may be older or newer than a write answered while it was made, and if newer the watch will never tell
    // of that write. So the list is believed: at worst one reconcile plans against the past and is answered 409.
    this.#pending.clear();
    const first = !this.#synced;
    const changes: Change<T>[] = [];
    for (const [key, before] of this.#objects) {
      if (!incoming.has(key)) changes.push({ key, before, after: undefined });
    }
    const lost = changes.length;
    for (const [key, after] of incoming) {
      const before = this.#objects.get(key);
      if (before?.metadata.resourceVersion !== after.metadata.resourceVersion) changes.push({ key, before, after });
    }
    // One assignment, then the indexes: no reader runs in between.
    this.#objects = incoming;
    for (const change of changes) this.#file(change);
    this.#synced = true;
    this.#options.onRelisted?.(first, lost);
    for (const change of changes) this.#options.onChange?.(change);
  }

  applied(given: T): void {
    const object = this.#trim(given);
    if (object === undefined) return;
    const key = keyOf(object);
    const pending = this.#pending.get(key);
    if (pending !== undefined) {
      const { uid, resourceVersion } = object.metadata;
      const news =
        pending.resourceVersion === undefined ? uid !== pending.uid : resourceVersion === pending.resourceVersion;
      if (!news) return;
      this.#pending.delete(key);
      if (pending.resourceVersion !== undefined) return;
    }
    // What left the selection may enter it again.
    if (object.metadata.uid !== undefined) this.#gone.delete(object.metadata.uid);
    this.#set(key, object);
  }

  removed(object: T): void {
    const key = keyOf(object);
    this.#remember(object.metadata.uid);
    const pending = this.#pending.get(key);
    if (pending !== undefined) {
      if (pending.uid !== object.metadata.uid) return;
      this.#pending.delete(key);
    }
    if (this.#objects.has(key)) this.#set(key, undefined);
  }

  #remember(uid: string | undefined): void {
    if (uid === undefined) return;
    this.#gone.add(uid);
    const [oldest] = this.#gone;
    if (this.#gone.size > MAX_GONE && oldest !== undefined) this.#gone.delete(oldest);
  }

  #trim(object: T): T | undefined {
    return this.#options.trim === undefined ? object : this.#options.trim(object);
  }

  #set(key: string, after: T | undefined): void {
    const change = this.#put(key, after);
    this.#options.onChange?.(change);
  }

  #put(key: string, after: T | undefined): Change<T> {
    const change = { key, before: this.#objects.get(key), after };
    if (after === undefined) this.#objects.delete(key);
    else this.#objects.set(key, after);
    this.#file(change);
    return change;
  }

  #file({ key, before, after }: Change<T>): void {
    for (const [name, valuesOf] of Object.entries(this.#options.indexes ?? {})) {
      const index = this.#indexes.get(name);
      if (index === undefined) continue;
      for (const value of before === undefined ? [] : valuesOf(before)) {
        const filed = index.get(value);
        filed?.delete(key);
        if (filed?.size === 0) index.delete(value);
      }
      for (const value of after === undefined ? [] : valuesOf(after)) {
        const filed = index.get(value) ?? new Map<string, T>();
        filed.set(key, after as T);
        index.set(value, filed);
      }
    }
  }
}

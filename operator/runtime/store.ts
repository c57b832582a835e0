/**
 * What reflectors know of one resource, read through a lister. One reflector fills a store, or one for each partition
 * where only some namespaces, or some objects by name, may be read. Readers see the old state or the new one, never
 * half a list: a relist is collected aside and swapped in when it is complete, for its partition alone.
 *
 * Our own writes are seen at once (`wrote`, `deleted`), before the watch reports them: without that a reconcile that
 * follows its own write would plan against the past and be answered 409.
 */
import { isDeepStrictEqual } from 'node:util';
import { keyOf, splitKey, type KubeObject } from '../kube/objects.ts';
import { type IndexFunctions, Indexes } from './indexes.ts';
import { OwnWrites } from './own-writes.ts';

/** What a reflector reports, in order: `init` (`listed`…) `initDone`, then `applied` and `removed` for ever. */
export interface Sink<T extends KubeObject> {
  /** Number of objects, without those of a list that has not completed. */
  readonly size: number;
  /** Weight of the objects; while a list is read, of those of the list. 0 if objects are not weighed. */
  readonly bytes: number;
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
  /** Set if a list showed it, and not a watch. */
  readonly isListed?: true;
}

/** The read side of a store. */
export interface Lister<T extends KubeObject> {
  /** Whether every sink has completed a list. Nothing may be deleted on the strength of a lister that is not synced. */
  readonly synced: boolean;
  readonly size: number;
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  /** The objects that an index files under a value. */
  by(index: string, value: string): readonly T[];
}

/** Learns what reflectors report, once readers see it. */
export interface StoreListener<T> {
  /**
   * A list completed and was swapped in; comes before the changes that it shows. @default - nothing is done
   * @param first whether it is the first list of its sink
   * @param lost how many objects of the partition are no longer in it
   * @param partition undefined in a store with one sink
   */
  relisted?(first: boolean, lost: number, partition: string | undefined): void;
  /** An object was created, changed or deleted by others. @default - nothing is done */
  changed?(change: Change<T>): void;
  /**
   * Our own deletion of an object was accepted, and is shown: its name is free, unless a finalizer holds the object.
   * Then {@link StoreListener.changed} comes as well, once the object is gone. @default - nothing is done
   */
  freed?(object: T): void;
}

export interface StoreOptions<T> {
  readonly indexes?: IndexFunctions<T>;
  /** Drops the fields that nobody reads; undefined leaves the object out. */
  readonly trim?: (object: T) => T | undefined;
  /** Returns the bytes that an object takes, once it is trimmed. @default - objects are not weighed */
  readonly weigh?: (object: T) => number;
  /**
   * The parts that the store is filled in, each by a sink of its own. An object of no partition is not stored.
   * @default - the store has one sink
   */
  readonly partitions?: Iterable<string> | undefined;
  /** Which half of its key assigns an object to a partition. @default namespace */
  readonly partitionBy?: 'namespace' | 'name';
  /** @default - nobody */
  readonly listener?: StoreListener<T>;
}

/** What one sink has filled. */
interface Part<T> {
  /** Undefined for the whole store. */
  readonly name: string | undefined;
  objects: Map<string, T>;
  /** The list that is being collected. */
  incoming: Map<string, T> | undefined;
  /** Weight of the objects. */
  bytes: number;
  /** Weight of the list that is being collected. */
  incomingBytes: number;
  synced: boolean;
  readonly writes: OwnWrites;
}

export class Store<T extends KubeObject> implements Lister<T> {
  readonly #options: StoreOptions<T>;
  readonly #partitionBy: 'namespace' | 'name';
  readonly #indexes: Indexes<T>;
  /** The only part of a store with one sink. */
  readonly #whole: Part<T> | undefined;
  readonly #parts: ReadonlyMap<string | undefined, Part<T>>;
  /** Resolve once every sink has completed a list. */
  #waiting: (() => void)[] = [];

  constructor(options: StoreOptions<T> = {}) {
    const { partitions, partitionBy = 'namespace', indexes = {} } = options;
    this.#options = options;
    this.#partitionBy = partitionBy;
    this.#indexes = new Indexes(indexes);
    const names: readonly (string | undefined)[] = partitions === undefined ? [undefined] : [...partitions];
    this.#parts = new Map(names.map((name) => [name, emptyPart<T>(name)]));
    this.#whole = this.#parts.get(undefined);
  }

  /** The partitions, each to be filled through its sink; `[undefined]` if the store has one sink. */
  get partitions(): readonly (string | undefined)[] {
    return [...this.#parts.keys()];
  }

  /**
   * Where a reflector reports what it finds.
   * @param partition of a store with partitions, the one that the reflector reads
   * @throws Error if the partition is unknown
   */
  sink(partition?: string): Sink<T> {
    const part = this.#parts.get(partition);
    if (part === undefined) throw new Error(`store has no partition "${partition ?? ''}"`);
    return {
      get size() {
        return part.objects.size;
      },
      get bytes() {
        return part.incoming === undefined ? part.bytes : part.incomingBytes;
      },
      init: () => {
        part.incoming = new Map();
        part.incomingBytes = 0;
      },
      listed: (object) => {
        const trimmed = this.#accepted(part, object);
        if (trimmed === undefined) return;
        part.incoming?.set(keyOf(trimmed), unlessSame(part.objects, trimmed));
        part.incomingBytes += this.#weigh(trimmed);
      },
      initDone: () => this.#swapIn(part),
      applied: (object) => this.#applied(part, object),
      removed: (object) => this.#removed(part, object),
    };
  }

  /** Resolves when every sink has completed a list, or when the signal aborts. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    if (this.synced || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  get synced(): boolean {
    return this.#whole?.synced ?? [...this.#parts.values()].every(({ synced }) => synced);
  }

  /** Whether the sink of one partition has completed a list. */
  syncedPart(partition: string): boolean {
    return (this.#whole ?? this.#parts.get(partition))?.synced === true;
  }

  get size(): number {
    return [...this.#parts.values()].reduce((sum, { objects }) => sum + objects.size, 0);
  }

  get(key: string): T | undefined {
    return this.#partOf(key)?.objects.get(key);
  }

  *values(): IterableIterator<T> {
    for (const { objects } of this.#parts.values()) yield* objects.values();
  }

  by(index: string, value: string): readonly T[] {
    return this.#indexes.by(index, value);
  }

  /** The values that an index files anything under. */
  indexed(index: string): IterableIterator<string> {
    return this.#indexes.values(index);
  }

  /**
   * Records an object as the API server answered our write, made on the strength of `basedOn`. The listener is not
   * called: the writer knows.
   * @param sentMs when the request was sent, on the monotonic clock. @default - before anything that was reported
   */
  wrote(object: T, basedOn: T | undefined, sentMs?: number): void {
    const key = keyOf(object);
    const part = this.#partOf(key);
    // If the watch was faster than the answer, it has reported this write or something after it.
    if (part === undefined || part.objects.get(key) !== basedOn) return;
    const trimmed = this.#trim(object);
    if (trimmed === undefined) return;
    if (part.writes.wrote(key, trimmed.metadata, basedOn?.metadata, sentMs)) this.#put(part, key, trimmed);
  }

  /**
   * Records an object as the API server answered our write of its status, made on the strength of `basedOn`. An answer
   * in which anything else has changed is left to the watch, because the listener must learn of that change. A server
   * that was restored from a backup may use a version again, for another content.
   */
  wroteStatus(object: T, basedOn: T): void {
    const trimmed = this.#trim(object);
    if (trimmed !== undefined && isDeepStrictEqual(besidesStatus(trimmed), besidesStatus(basedOn)))
      this.wrote(object, basedOn);
  }

  /** Records that our deletion of `object` was accepted: {@link StoreListener.freed}. */
  deleted(object: T): void {
    const key = keyOf(object);
    const part = this.#partOf(key);
    if (part === undefined || part.objects.get(key) !== object) return;
    part.writes.deleted(key, object.metadata);
    this.#put(part, key, undefined);
    this.#options.listener?.freed?.(object);
  }

  #swapIn(part: Part<T>): void {
    const incoming = part.incoming ?? new Map<string, T>();
    part.incoming = undefined;
    part.writes.clear();
    const changes: Change<T>[] = [];
    for (const [key, before] of part.objects) {
      if (!incoming.has(key)) changes.push({ key, before, after: undefined, isListed: true });
    }
    const lost = changes.length;
    for (const [key, after] of incoming) {
      const before = part.objects.get(key);
      if (before !== after) changes.push({ key, before, after, isListed: true });
    }
    // One assignment, then the indexes: no reader runs in between.
    part.objects = incoming;
    part.bytes = part.incomingBytes;
    for (const { key, before, after } of changes) this.#indexes.refile(key, before, after);
    const first = !part.synced;
    part.synced = true;
    if (this.synced) for (const resolve of this.#waiting.splice(0)) resolve();
    this.#options.listener?.relisted?.(first, lost, part.name);
    for (const change of changes) this.#options.listener?.changed?.(change);
  }

  /** What its trim leaves out now is gone from the store, as it is after a list. */
  #applied(part: Part<T>, given: T): void {
    const object = this.#trim(given);
    const { metadata } = object ?? given;
    const key = keyOf({ metadata });
    // What a trim leaves out may say that the object is going.
    if (this.#partOf(key) !== part || !part.writes.isNewer(key, given.metadata)) return;
    if (object !== undefined || part.objects.has(key)) this.#change(part, key, object);
  }

  #removed(part: Part<T>, object: T): void {
    const key = keyOf(object);
    const { metadata } = object;
    const held = part.writes.wasHeld(key, metadata) ? this.#accepted(part, object) : undefined;
    if (!part.writes.isNewerRemoval(key, metadata)) return;
    if (part.objects.has(key)) this.#change(part, key, undefined);
    // Its name is free only now.
    else if (held !== undefined) this.#options.listener?.changed?.({ key, before: held, after: undefined });
  }

  #partOf(key: string): Part<T> | undefined {
    return this.#whole ?? this.#parts.get(splitKey(key)[this.#partitionBy]);
  }

  #accepted(part: Part<T>, object: T): T | undefined {
    const trimmed = this.#trim(object);
    return trimmed !== undefined && this.#partOf(keyOf(trimmed)) === part ? trimmed : undefined;
  }

  #trim(object: T): T | undefined {
    return this.#options.trim === undefined ? object : this.#options.trim(object);
  }

  #weigh(object: T | undefined): number {
    return object === undefined ? 0 : (this.#options.weigh?.(object) ?? 0);
  }

  #change(part: Part<T>, key: string, after: T | undefined): void {
    const before = this.#put(part, key, after);
    this.#options.listener?.changed?.({ key, before, after });
  }

  #put(part: Part<T>, key: string, after: T | undefined): T | undefined {
    const before = part.objects.get(key);
    if (after === undefined) part.objects.delete(key);
    else part.objects.set(key, after);
    part.bytes += this.#weigh(after) - this.#weigh(before);
    this.#indexes.refile(key, before, after);
    return before;
  }
}

/**
 * Returns what is held if the listed object is the same: what readers and indexes hold stays the very object that
 * `wrote` and `deleted` are called with. A version does not decide it: a server that was restored from a backup gives
 * those that were lost once more, to other content.
 */
function unlessSame<T extends KubeObject>(held: ReadonlyMap<string, T>, listed: T): T {
  const before = held.get(keyOf(listed));
  return before !== undefined && isDeepStrictEqual(before, listed) ? before : listed;
}

const emptyPart = <T>(name: string | undefined): Part<T> => ({
  name,
  objects: new Map(),
  incoming: undefined,
  bytes: 0,
  incomingBytes: 0,
  synced: false,
  writes: new OwnWrites(),
});

/** Returns an object without its status, and without the metadata that every write changes. */
const besidesStatus = <T extends KubeObject>(object: T): object => ({
  ...object,
  status: undefined,
  metadata: { ...object.metadata, resourceVersion: undefined, managedFields: undefined },
});

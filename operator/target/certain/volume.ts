/**
 * Limits the total size, in bytes, of all objects that are derived from the target of one Link (rule E10). Existing
 * objects stay. New objects, and objects that grow, are admitted in the order in which they are requested. Keys whose
 * objects were refused are tried again after other objects have shrunk or are gone.
 *
 * A key stands for one target Service in one aspect. A Service that is mirrored and is also a member of a federated
 * Service has two keys.
 */

export interface VolumeOptions {
  /** Maximum total size of the objects that are derived from all keys, in bytes. */
  readonly most: number;
  /**
   * Returns the keys that have objects, each with the total size of these objects in bytes. The size is undefined if it
   * becomes known only later. Called once.
   */
  readonly found: () => Iterable<readonly [key: string, bytes: number | undefined]>;
  readonly listener: RoomListener;
}

/** Notified when refused keys might fit within the limit on bytes. */
export interface RoomListener {
  /** Called when there might be room for keys that were refused, so that they can be tried again. */
  roomFor(keys: readonly string[]): void;
}

/** How long changes are collected before refused keys are tried again, in milliseconds. */
const REVIEW_MS = 250;

/** Counts the bytes of the objects that are derived from the target of one Link, by key. */
export class Volume {
  readonly #options: VolumeOptions;
  /** Bytes by key. Counted when {@link admits} is first called: existing objects must have been listed by then. */
  #bytes: Map<string, number> | undefined;
  /** Keys of existing objects whose size is not known yet. */
  readonly #unmeasured = new Set<string>();
  #total = 0;
  readonly #refused = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: VolumeOptions) {
    this.#options = options;
  }

  /** Keys that are refused now. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  /**
   * Reports whether all objects of a key are allowed to take this many bytes, and counts these bytes if so. They are
   * allowed in three cases:
   * - the total of all keys stays within the limit;
   * - the objects of the key take no more bytes than before;
   * - the objects of the key exist already, and their size was not known.
   */
  admits(key: string, bytes: number): boolean {
    const all = (this.#bytes ??= this.#count());
    const before = all.get(key) ?? 0;
    const isThere = this.#unmeasured.delete(key);
    if (!isThere && bytes > before && this.#total - before + bytes > this.#options.most) {
      this.#refused.add(key);
      return false;
    }
    this.#refused.delete(key);
    this.#total += bytes - before;
    if (bytes === 0) all.delete(key);
    else all.set(key, bytes);
    if (bytes < before) this.#review();
    return true;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #count(): Map<string, number> {
    const all = new Map<string, number>();
    for (const [key, bytes] of this.#options.found()) {
      if (bytes === undefined) this.#unmeasured.add(key);
      else all.set(key, bytes);
    }
    this.#total = [...all.values()].reduce((sum, bytes) => sum + bytes, 0);
    return all;
  }

  #review(): void {
    if (this.#refused.size === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#options.listener.roomFor([...this.#refused]);
    }, REVIEW_MS);
  }
}

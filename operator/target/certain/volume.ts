/**
 * Limits the total size, in bytes, of all objects that are derived from one Link (rule E10). Existing objects stay, and
 * new objects are admitted in order of arrival. Keys whose objects were refused are tried again when there is room.
 */

export interface VolumeOptions {
  /** Maximum total size of the objects that are derived from all keys, in bytes. */
  readonly most: number;
  /**
   * Returns the size of the existing objects of each key, in bytes; undefined if the size becomes known later. Called
   * once.
   */
  readonly found: () => Iterable<readonly [key: string, bytes: number | undefined]>;
  readonly listener: RoomListener;
}

/** Notified when refused keys may fit within the limit on bytes. */
export interface RoomListener {
  /** Called when there may be room for keys that were refused, so that they can be tried again. */
  roomFor(keys: readonly string[]): void;
}

/** Time for which changes are collected before refused keys are tried again, in milliseconds. */
const REVIEW_MS = 250;

/** Counts the bytes of what is derived from one Link, by target Service. */
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

  /** Number of target Services that are refused now. */
  get refused(): number {
    return this.#refused.size;
  }

  /**
   * Reports whether all objects that are derived from a target Service may take this many bytes, and counts these bytes
   * if so. The objects may take the bytes in three cases: the total stays within the limit, the objects take no more
   * bytes than before, or the objects exist already and their size was not known.
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

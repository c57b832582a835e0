/**
 * How many bytes all that is derived from one Link may take (rule E10). What there is stays, and what comes first is
 * served beside it; what is refused is tried again when there is room.
 */

export interface VolumeOptions {
  /** Most bytes of all keys. */
  readonly most: number;
  /** Returns the bytes of what there is already, by key; called once; undefined for those that it asks for first. */
  readonly found: () => Iterable<readonly [key: string, bytes: number | undefined]>;
  readonly listener: RoomListener;
}

/** Learns of room. */
export interface RoomListener {
  /** There may be room for keys that were refused. */
  roomFor(keys: readonly string[]): void;
}

/** Time in which changes are collected before what was refused is tried again. */
const REVIEW_MS = 250;

/** The bytes of what is derived from one Link, by the target Service that it is of. */
export class Volume {
  readonly #options: VolumeOptions;
  /** Undefined until it is asked for: what there is has to be listed first. */
  #bytes: Map<string, number> | undefined;
  /** Keys of what there is already, of a size that is not known yet. */
  readonly #unmeasured = new Set<string>();
  #total = 0;
  readonly #refused = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: VolumeOptions) {
    this.#options = options;
  }

  /** Number of target Services that were refused. */
  get refused(): number {
    return this.#refused.size;
  }

  /** Reports whether what is derived from a target Service may take so many bytes. What does not grow always may. */
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

/**
 * The last time that a kind vanished from a cluster with all its objects (rules E5, J4, K5). A CRD that is recreated has no
 * objects until their owners apply them again. Until then, an empty list is not evidence of deletion.
 */

/** Time for which what is missing does not count as deleted once the kind is back. */
const RETURN_GRACE_MS = 600_000;

export interface AbsenceOptions {
  /** In milliseconds. @default 600000 */
  readonly graceMs?: number | undefined;
  /** Called when the time is over. @default - nobody waits for it */
  readonly onEnd?: () => void;
}

export class Absence {
  readonly graceMs: number;
  readonly #onEnd: (() => void) | undefined;
  /** Keys of objects that have been seen since. */
  readonly #seen = new Set<string>();
  /** On the monotonic clock. */
  #noticedMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor({ graceMs = RETURN_GRACE_MS, onEnd }: AbsenceOptions) {
    this.graceMs = graceMs;
    this.#onEnd = onEnd;
  }

  /** When it was last noticed, on the monotonic clock; -Infinity: never. */
  get noticedMs(): number {
    return this.#noticedMs;
  }

  /** Notes that the kind is not served, or soon will not be, or that all its objects are gone at once. */
  noticed(): void {
    this.stop();
    this.#noticedMs = performance.now();
    if (this.#onEnd === undefined) return;
    this.#timer = setTimeout(() => {
      this.stop();
      this.#onEnd?.();
    }, this.graceMs);
  }

  /** Notes that there is such an object. */
  saw(key: string): void {
    if (this.#leftMs > 0) this.#seen.add(key);
  }

  /**
   * Returns how much longer it explains that an object is missing, in milliseconds; 0 if that was deleted by itself.
   * @param key of one that may have been seen since. @default - none has
   */
  leftMs(key?: string): number {
    return key !== undefined && this.#seen.has(key) ? 0 : this.#leftMs;
  }

  /** Forgets it. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#noticedMs = -Infinity;
    this.#seen.clear();
  }

  get #leftMs(): number {
    return Math.max(0, this.#noticedMs + this.graceMs - performance.now());
  }
}

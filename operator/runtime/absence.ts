/**
 * The last time that a kind vanished from a cluster with all its objects (rules E5, J4, K5). When a CRD is recreated,
 * there are no objects of its kind until their owners apply them again. Until then, an empty list is not evidence of
 * deletion.
 */

/**
 * Length of the grace period, in milliseconds. It starts when the kind was last noticed to be missing. During the grace
 * period, a missing object does not count as deleted.
 */
export const RETURN_GRACE_MS = 600_000;

export interface AbsenceOptions {
  /** Length of the grace period, in milliseconds. @default 600000 */
  readonly graceMs?: number | undefined;
  /** Called when the grace period is over. @default - nothing is done */
  readonly onEnd?: () => void;
}

export class Absence {
  readonly graceMs: number;
  readonly #onEnd: (() => void) | undefined;
  /** Keys of objects that have been seen since the kind last vanished. */
  readonly #seen = new Set<string>();
  /** Value of {@link noticedMs}. */
  #noticedMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor({ graceMs = RETURN_GRACE_MS, onEnd }: AbsenceOptions) {
    this.graceMs = graceMs;
    this.#onEnd = onEnd;
  }

  /**
   * When {@link noticed} was last called, on the monotonic clock. -Infinity if it was never called, or if the absence
   * has been forgotten since.
   */
  get noticedMs(): number {
    return this.#noticedMs;
  }

  /**
   * Starts the grace period anew. Called when the kind is not served, or soon will not be, or when all its objects are
   * gone at once.
   */
  noticed(): void {
    this.stop();
    this.#noticedMs = performance.now();
    if (this.#onEnd === undefined) return;
    this.#timer = setTimeout(() => {
      this.stop();
      this.#onEnd?.();
    }, this.graceMs);
  }

  /** Notes that an object of the kind exists. */
  saw(key: string): void {
    if (this.#leftMs > 0) this.#seen.add(key);
  }

  /**
   * Returns how much longer a missing object does not count as deleted, in milliseconds. 0 if the grace period is over,
   * or if the object has been seen since the kind last vanished, so that it was deleted by itself.
   * @param key key of the object. @default - an object that has not been seen
   */
  leftMs(key?: string): number {
    return key !== undefined && this.#seen.has(key) ? 0 : this.#leftMs;
  }

  /** Ends the grace period, and forgets that the kind vanished. */
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

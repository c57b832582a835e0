/**
 * When a kind was last found to be gone from a cluster, with all its objects (rule K5). A CRD that is put back comes without
 * them, and whoever lost them must write them first: until then, that there is none says nothing.
 */

/** Time for which what is missing does not count as deleted once the kind is back. */
const RETURN_GRACE_MS = 600_000;

export interface AbsenceOptions {
  /** In milliseconds. @default 600000 */
  readonly graceMs?: number | undefined;
  /** Called when the time is over. */
  readonly onEnd: () => void;
}

export class Absence {
  readonly #graceMs: number;
  readonly #onEnd: () => void;
  /** Keys of objects that have been seen since. */
  readonly #seen = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ graceMs = RETURN_GRACE_MS, onEnd }: AbsenceOptions) {
    this.#graceMs = graceMs;
    this.#onEnd = onEnd;
  }

  /** Notes that there is no such kind, or will soon be none. */
  noticed(): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.stop();
      this.#onEnd();
    }, this.#graceMs);
  }

  /** Notes that there is such an object. */
  saw(key: string): void {
    if (this.#timer !== undefined) this.#seen.add(key);
  }

  /** Whether an object that is not there may have gone with its kind. */
  explains(key: string): boolean {
    return this.#timer !== undefined && !this.#seen.has(key);
  }

  /** Forgets it. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#seen.clear();
  }
}

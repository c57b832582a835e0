/**
 * Merges requests to reconcile all keys before they reach a controller. While clusters are listed, for example, several
 * such requests arrive in a row. They are carried out once: when no other request has arrived for a while, or when the
 * first one has waited for five times as long. Keys that are added meanwhile are handed to the controller together with
 * all keys. While no such request waits, an added key is handed to the controller at once.
 */

export interface GatheringOptions {
  /** Returns all keys; called when they are handed on. */
  readonly all: () => Iterable<string>;
  /** Adds a key to the controller. */
  readonly add: (key: string) => void;
  /**
   * How long a request for all keys waits for another one, in milliseconds. The first of several requests waits at most
   * five times as long. @default 200
   */
  readonly quietMs?: number | undefined;
}

const QUIET_MS = 200;
/**
 * Maximum time for which a request for all keys waits, as a multiple of `quietMs`. A cluster that keeps asking delays
 * the others no longer than this.
 */
const MOST_TIMES = 5;

export class Gathering {
  readonly #options: GatheringOptions;
  readonly #quietMs: number;
  /**
   * Keys added while a request for all keys waits. `all` may not return them: a key whose objects are gone may still
   * need work.
   */
  readonly #added = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** Latest time at which a waiting request for all keys is carried out, on the monotonic clock. */
  #dueMs = 0;

  constructor(options: GatheringOptions) {
    this.#options = options;
    this.#quietMs = options.quietMs ?? QUIET_MS;
  }

  add(key: string): void {
    if (this.#timer === undefined) this.#options.add(key);
    else this.#added.add(key);
  }

  addAll(): void {
    const now = performance.now();
    if (this.#timer === undefined) this.#dueMs = now + MOST_TIMES * this.#quietMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), Math.max(0, Math.min(this.#quietMs, this.#dueMs - now)));
  }

  /** If a request for all keys waits, carries it out at once. */
  flush(): void {
    if (this.#timer === undefined) return;
    const { all, add } = this.#options;
    const keys = new Set([...this.#added, ...all()]);
    this.stop();
    for (const key of keys) add(key);
  }

  /** Drops a waiting request for all keys, and the keys that were added meanwhile. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#added.clear();
  }
}

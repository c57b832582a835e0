/**
 * Keys on their way to a controller. Where all of them are to be reconciled several times in a row, as while clusters are
 * listed, that is done once: when nobody has asked for it for a moment, or after a while at the latest. What is added
 * meanwhile goes with it. A key that is added at another time does not wait.
 */

export interface GatheringOptions {
  /** Returns all keys; called when they are handed on. */
  readonly all: () => Iterable<string>;
  /** Takes a key. */
  readonly add: (key: string) => void;
  /** Time that a request for all keys waits for another, in milliseconds; the first waits five times as long at most. @default 200 */
  readonly quietMs?: number | undefined;
}

const QUIET_MS = 200;
/** A cluster that asks again and again holds up the others no longer. */
const MOST_TIMES = 5;

export class Gathering {
  readonly #options: GatheringOptions;
  readonly #quietMs: number;
  /** Keys that were added while all of them waited: what is not there any more may need work too. */
  readonly #added = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** When all are handed on at the latest, on the monotonic clock. */
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

  /** Hands on what waits, without waiting. */
  flush(): void {
    if (this.#timer === undefined) return;
    const { all, add } = this.#options;
    const keys = new Set([...this.#added, ...all()]);
    this.stop();
    for (const key of keys) add(key);
  }

  /** Forgets what waits. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#added.clear();
  }
}

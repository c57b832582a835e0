/**
 * When an API server was last found away: a connection to it broke, a watch fell silent, or it could not serve. Since
 * then it may have been restored from a backup (rule H3), and lack what was read of it and written to it before.
 */
export class Interruptions {
  #lastMs = -Infinity;
  #next = new AbortController();

  /** When the last one was noticed, on the monotonic clock. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Aborts when the next one is noticed. */
  get next(): AbortSignal {
    return this.#next.signal;
  }

  noticed(): void {
    this.#lastMs = performance.now();
    const noticed = this.#next;
    this.#next = new AbortController();
    noticed.abort();
  }
}

/** Work that is under way, which can be waited for, or be interrupted, as a whole. */
export class UnderWay {
  readonly #works = new Set<Promise<unknown>>();
  #interruption = new AbortController();

  /** Whether nothing is under way. */
  get isEmpty(): boolean {
    return this.#works.size === 0;
  }

  /** Does work, whose signal aborts when it is interrupted. */
  async run<T>(work: (interrupted: AbortSignal) => Promise<T>): Promise<T> {
    const running = work(this.#interruption.signal);
    const ended = running.catch(() => undefined);
    this.#works.add(ended);
    try {
      return await running;
    } finally {
      this.#works.delete(ended);
    }
  }

  /** Resolves when what is under way now has ended, well or not. */
  async ended(): Promise<void> {
    await Promise.all(this.#works);
  }

  /** Aborts the signals of what is under way, for a reason. Resolves when that has ended. */
  async interrupt(reason: unknown): Promise<void> {
    const before = this.#interruption;
    this.#interruption = new AbortController();
    before.abort(reason);
    await this.ended();
  }
}

/** Bounds how much is under way at once, and shares the places fairly among those who want more than there are. */
export class FairSemaphore {
  #free: number;
  /** Those who wait, by group; the group whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /** @param places most tasks under way at once */
  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Runs a task as soon as there is a place. Groups that wait take turns; within a group, the first to come is the
   * first to be served.
   * @throws the reason of the signal if it aborts while the task waits; what the task throws
   */
  async run<T>(group: string, signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(group, signal);
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  #wait(group: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        const queue = this.#waiting.get(group);
        queue?.delete(enter);
        if (queue?.size === 0) this.#waiting.delete(group);
        reject(signal?.reason as Error);
      };
      this.#waiting.set(group, (this.#waiting.get(group) ?? new Set()).add(enter));
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** Gives a place that became free to the next one who waits. */
  #next(): void {
    const [turn] = this.#waiting;
    if (turn === undefined) {
      this.#free += 1;
      return;
    }
    const [group, queue] = turn;
    const [enter] = queue;
    this.#waiting.delete(group);
    if (enter !== undefined) queue.delete(enter);
    // The group goes behind the others.
    if (queue.size > 0) this.#waiting.set(group, queue);
    enter?.();
  }
}

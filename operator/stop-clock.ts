/** The one deadline of everything that an operator does when it stops (rule H2). */
import { sleep } from './kube/backoff.ts';

/** Leaves time for the process itself to end within 5 s. */
const STOP_DEADLINE_MS = 4_500;

export class StopClock {
  readonly #begun = Promise.withResolvers<void>();
  #dueMs: number | undefined;
  /** Why the operator stops, if it was not asked to. */
  failure: Error | undefined;

  /** Starts the clock; what it was first started for counts. */
  begin(failure?: Error): void {
    if (this.#dueMs !== undefined) return;
    this.#dueMs = performance.now() + STOP_DEADLINE_MS;
    this.failure = failure;
    this.#begun.resolve();
  }

  /** Milliseconds that are left. */
  get leftMs(): number {
    return this.#dueMs === undefined ? STOP_DEADLINE_MS : Math.max(0, this.#dueMs - performance.now());
  }

  /** Resolves when the time is over, or when `done` aborts. */
  async overdue(done: AbortSignal): Promise<'overdue'> {
    await this.#begun.promise;
    await sleep(this.leftMs, done);
    return 'overdue';
  }
}

/**
 * Keys to reconcile. A key is queued at most once and never handled twice at the same time; added while it is being
 * handled, it is handled again afterwards. Failures come back after a capped, jittered wait of the key's own, for ever.
 */
import { type BackoffPolicy, backoffMs } from '../kube/backoff.ts';

/** What a queue measures of itself; the names are client-go's. */
export interface WorkqueueMetrics {
  /** Keys that wait or are being handled. */
  depth(keys: number): void;
  added(): void;
  retried(): void;
  /** How long a key waited in the queue. */
  taken(queuedSeconds: number): void;
}

export interface WorkqueueOptions {
  /** Wait after the first, and at most, of a key's failures in a row. @default 100 ms, 5 min */
  readonly backoff?: BackoffPolicy | undefined;
  readonly metrics?: WorkqueueMetrics | undefined;
}

/** What a handler wants done next. */
export interface Result {
  /** Handle the key again at once, by the same worker: what was done changes what is to be done. */
  readonly again?: boolean;
  /** Whether nothing could be done yet: the failures of the key count on. */
  readonly isPending?: boolean | undefined;
  /** Handle the key again after so long even if nothing changes. */
  readonly requeueAfterMs?: number | undefined;
  /** Handle it again after its backoff, or this long if the server asked for more. */
  readonly retryAfterMs?: number | undefined;
}

/** Handles one key. It must not reject. */
export type Handler = (key: string, signal: AbortSignal) => Promise<Result>;

/** So often in a row a key is handled again at once; then it waits for its turn, so that it starves no other. */
const MAX_AGAIN = 8;

const DEFAULT_BACKOFF: BackoffPolicy = { baseMs: 100, capMs: 300_000 };

export class Workqueue {
  readonly #metrics: WorkqueueMetrics | undefined;
  readonly #backoff: BackoffPolicy;
  /** Waiting, in order, with the time they were added. */
  readonly #queue = new Map<string, number>();
  readonly #processing = new Set<string>();
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { readonly timer: NodeJS.Timeout; readonly dueMs: number }>();
  #wake: (() => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(options: WorkqueueOptions = {}) {
    this.#metrics = options.metrics;
    this.#backoff = options.backoff ?? DEFAULT_BACKOFF;
  }

  /** Keys waiting or being handled; those that wait for their time are not counted. */
  get depth(): number {
    return this.#queue.size + this.#processing.size;
  }

  /** The keys that are being handled. */
  get underWay(): ReadonlySet<string> {
    return this.#processing;
  }

  add(key: string): void {
    if (this.#processing.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#queue.has(key)) return;
    this.#queue.set(key, performance.now());
    this.#metrics?.added();
    this.#metrics?.depth(this.depth);
    this.#wake.shift()?.();
  }

  /** Resolves when nothing is queued or being handled. */
  async idle(): Promise<void> {
    if (this.depth === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Handles keys, `concurrency` at once, until the signal aborts and the handlers under way have returned. */
  async run(concurrency: number, handler: Handler, signal: AbortSignal): Promise<void> {
    const wakeAll = () => {
      for (const wake of this.#wake.splice(0)) wake();
    };
    signal.addEventListener('abort', wakeAll, { once: true });
    await Promise.all(Array.from({ length: concurrency }, () => this.#work(handler, signal)));
    signal.removeEventListener('abort', wakeAll);
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#queue.clear();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #work(handler: Handler, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = this.#queue.entries().next();
      if (next.done === true) {
        await new Promise<void>((resolve) => this.#wake.push(resolve));
        continue;
      }
      const [key, addedMs] = next.value;
      this.#queue.delete(key);
      this.#processing.add(key);
      this.#metrics?.taken((performance.now() - addedMs) / 1000);
      const result = await this.#handle(key, handler, signal);
      this.#processing.delete(key);
      if (signal.aborted) return;
      this.#settle(key, result);
      this.#metrics?.depth(this.depth);
      if (this.depth === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  async #handle(key: string, handler: Handler, signal: AbortSignal): Promise<Result> {
    for (let times = 0; ; times += 1) {
      this.#again.delete(key);
      const result = await handler(key, signal);
      if (result.again !== true || signal.aborted) return result;
      if (times === MAX_AGAIN) {
        this.#again.add(key);
        return result;
      }
    }
  }

  #settle(key: string, { isPending, requeueAfterMs, retryAfterMs }: Result): void {
    if (retryAfterMs === undefined) {
      if (isPending !== true) this.#succeeded(key);
    } else {
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.#metrics?.retried();
      this.#addAfter(key, Math.max(retryAfterMs, backoffMs(failures, this.#backoff, Math.random)));
    }
    if (requeueAfterMs !== undefined) this.#addAfter(key, requeueAfterMs);
    if (this.#again.delete(key)) this.add(key);
  }

  /** What the key was to be handled again for has been seen by who handled it now. */
  #succeeded(key: string): void {
    this.#failures.delete(key);
    clearTimeout(this.#timers.get(key)?.timer);
    this.#timers.delete(key);
  }

  /** Adds the key after a while; of several such times the earliest counts. */
  #addAfter(key: string, delayMs: number): void {
    const dueMs = performance.now() + delayMs;
    const waiting = this.#timers.get(key);
    if (waiting !== undefined) {
      if (waiting.dueMs <= dueMs) return;
      clearTimeout(waiting.timer);
    }
    const timer = setTimeout(() => {
      this.#timers.delete(key);
      this.add(key);
    }, delayMs);
    this.#timers.set(key, { timer, dueMs });
  }
}

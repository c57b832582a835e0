/**
 * The reconcile loop, one class for Links and for mirrors: keys wait in a queue, workers reconcile them, one error
 * policy says when what failed is tried again, and all of it is measured under the names that controller-runtime uses.
 */
import type { Metrics } from '../metrics/index.ts';
import { type BackoffPolicy, jittered, jitteredWithin, RETRY_BACKOFF } from '../kube/backoff.ts';
import { ApiError, describe, isConflict, isForbidden, isInvalid } from '../kube/errors.ts';
import { FENCED_RETRY_MS, FencedError } from './fence.ts';
import type { Logger } from './logger.ts';
import type { Outcome } from './outcome.ts';
import { ENDLESS, giveWay, type Turns } from './turns.ts';
import { type Result, Workqueue } from './workqueue.ts';

export interface ControllerOptions {
  /** Label `controller` and `name` of its metrics. */
  readonly name: string;
  /**
   * Makes the state that a key stands for true. What it throws is logged, and the key is tried again. A write that was
   * not sent, since the Lease may have expired, has not failed.
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Outcome | undefined>;
  /** Keys reconciled at once. */
  readonly concurrency: number;
  readonly metrics: Pick<Metrics, 'reconcile' | 'workqueue' | 'forgetController'>;
  readonly log: Logger;
  /** How long a key that failed waits. @default 200 ms to 5 min */
  readonly backoff?: BackoffPolicy | undefined;
  /** Turns in which keys are reconciled. @default - one for all */
  readonly turns?: Turns | undefined;
}

export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: Workqueue;
  readonly #backoff: BackoffPolicy;

  constructor(options: ControllerOptions) {
    const { name, metrics, backoff = RETRY_BACKOFF } = options;
    this.#options = options;
    this.#backoff = backoff;
    this.#queue = new Workqueue({
      backoff,
      metrics: {
        depth: (keys) => metrics.workqueue.depth.set({ name }, keys),
        added: () => metrics.workqueue.adds.inc({ name }),
        retried: () => metrics.workqueue.retries.inc({ name }),
        taken: (seconds) => metrics.workqueue.queueDuration.observe({ name }, seconds),
      },
    });
  }

  /** The keys that are being reconciled. */
  get underWay(): ReadonlySet<string> {
    return this.#queue.underWay;
  }

  add(key: string): void {
    this.#queue.add(key);
  }

  /** Resolves when no key waits for a worker or is being reconciled. Keys that wait for their time do not count. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Reconciles keys until the signal aborts and the reconciles under way have returned. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#queue.run(this.#options.concurrency, (key, until) => this.#handle(key, until), signal);
  }

  /** Removes its metrics: the controller will not run again. */
  async forget(): Promise<void> {
    await this.#options.metrics.forgetController(this.#options.name);
  }

  async #handle(key: string, signal: AbortSignal): Promise<Result> {
    const { name: controller, metrics } = this.#options;
    await giveWay(this.#options.turns ?? ENDLESS);
    const beganMs = performance.now();
    metrics.reconcile.activeWorkers.inc({ controller });
    const outcome = await this.#reconcile(key, signal);
    const seconds = (performance.now() - beganMs) / 1000;
    metrics.reconcile.activeWorkers.dec({ controller });
    metrics.reconcile.time.observe({ controller }, seconds);
    metrics.workqueue.workDuration.observe({ name: controller }, seconds);
    const { again = false, isPending, requeueAfterMs, errors = [] } = outcome;
    const failed = errors.length > 0;
    metrics.reconcile.total.inc({ controller, result: failed ? 'error' : 'success' });
    if (failed) metrics.reconcile.errors.inc({ controller });
    return {
      again,
      isPending,
      requeueAfterMs,
      retryAfterMs: failed && !again ? retryAfterMs(errors, this.#backoff.capMs) : undefined,
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { name: controller, reconcile, log } = this.#options;
    try {
      return (await reconcile(key, signal)) ?? {};
    } catch (error) {
      if (signal.aborted) return {};
      if (error instanceof FencedError) return { isPending: true, requeueAfterMs: jittered(FENCED_RETRY_MS) };
      // A conflict says that the view was old; the next reconcile has a newer one.
      if (!isConflict(error)) log.warn({ controller, key, error: describe(error) }, 'reconcile failed');
      return { errors: [error] };
    }
  }
}

/**
 * The error policy (rule H4): the least time to wait after a reconcile that failed, in milliseconds. A server that asks
 * for time gets it; what only a change can mend waits nearly `capMs`, and no longer; anything else waits for the key's
 * backoff alone. Of several errors the one that may be tried first decides.
 */
export function retryAfterMs(errors: readonly unknown[], capMs: number, random: () => number = Math.random): number {
  const waits = errors.map((error) => {
    if (error instanceof ApiError && error.retryAfterMs !== undefined) return error.retryAfterMs;
    return isForbidden(error) || isInvalid(error) ? jitteredWithin(capMs, random) : 0;
  });
  return Math.min(...waits);
}

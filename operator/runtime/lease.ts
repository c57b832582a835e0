/**
 * Mutual exclusion by a coordination.k8s.io/v1 Lease, with the protocol of client-go's leader election: a LeaseLock and
 * another user of that protocol, such as Linkerd's controller, never hold one Lease at once. Time is measured on this
 * process' monotonic clock, so a wall clock that jumps or differs neither ends a Lease early nor prolongs it. That
 * clock stands still while a machine sleeps, so whether the Lease may be written under is decided by both clocks. An
 * API server that was away may have been restored from a backup that lacks the Lease, so it must be renewed then, too.
 */
import { RevokedError } from '../kube/abort.ts';
import { jittered, sleep } from '../kube/backoff.ts';
import { describe, isConflict, isNotFound } from '../kube/errors.ts';
import type { Lease } from '../kube/objects.ts';
import { within } from '../kube/within.ts';
import type { Interruptions } from './interruptions.ts';
import { type Held, LeaseRecord, type LeaseRecordOptions } from './lease-record.ts';

export interface LeaseLockOptions extends LeaseRecordOptions {
  /** How long a renewal is retried before the Lease counts as lost; less than `leaseDurationMs`. */
  readonly renewDeadlineMs: number;
  /** Wait between tries of one renewal, and half of it between tries to acquire; less than `renewDeadlineMs`. */
  readonly retryPeriodMs: number;
  /** Wait between renewals. @default retryPeriodMs */
  readonly renewEveryMs?: number;
  /**
   * Of the API server: after one, nothing is written under the Lease until it has been renewed, which is done at once.
   */
  readonly interruptions?: Interruptions | undefined;
}

export interface LeaseHandlers {
  /**
   * We hold the Lease until `lost` aborts, which it does before the Lease can have expired and before it is released.
   * The reason is a RevokedError: what is being written is given up, since whoever has the Lease next does not wait for
   * it.
   */
  held(lost: AbortSignal): void;
  /** Another holds the Lease. Called once for each holder. */
  heldByAnother?(holder: string): void;
  /** Nobody holds the Lease any more, and it is about to be taken: {@link heldByAnother} may be called again. */
  free?(): void;
  /** The Lease was lost and not released; `lost` has aborted, and it is being acquired again. */
  lost(reason: string): void;
  /**
   * A request failed and will be retried. Called for each failure that differs from the one before, and every minute
   * while it is the same.
   */
  failing?(message: string, error: unknown): void;
}

/** The part of a Lease's duration after which it counts as lost in any case; in the rest, writers finish. */
const LOST_AFTER = 0.9;

/** Time until a failure that lasts is reported again. */
const REPEAT_MS = 60_000;

/** Candidates try to acquire an expired Lease within this time. */
const CONTENTION_MS = 100;

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  readonly #record: LeaseRecord;
  readonly #renewEveryMs: number;
  /** Without a renewal for this long the Lease counts as lost. */
  readonly #lostAfterMs: number;
  /** Deadline of one attempt; as in client-go, two of them fit into a renewal. */
  readonly #attemptMs: number;
  readonly #removal = new AbortController();
  /** Whether a renewal is due at once, and what wakes whoever waits for the next one. */
  #isDue = false;
  #due = new AbortController();
  /** Who waits for the next renewal. */
  #awaiting: (() => void)[] = [];
  #running: Promise<void> = Promise.resolve();
  #held: Held | undefined;
  #predecessor: string | undefined;

  /** @throws RangeError if the durations contradict each other */
  constructor(options: LeaseLockOptions) {
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, renewEveryMs = retryPeriodMs } = options;
    if (!(renewDeadlineMs < leaseDurationMs) || !(retryPeriodMs < renewDeadlineMs) || !(retryPeriodMs > 0)) {
      throw new RangeError('a Lease needs retryPeriodMs < renewDeadlineMs < leaseDurationMs');
    }
    if (!(renewEveryMs < leaseDurationMs * LOST_AFTER)) {
      throw new RangeError(`a Lease of ${leaseDurationMs} ms cannot be renewed only every ${renewEveryMs} ms`);
    }
    this.#options = options;
    this.#record = new LeaseRecord(options);
    this.#renewEveryMs = renewEveryMs;
    this.#lostAfterMs = Math.min(renewEveryMs + renewDeadlineMs, leaseDurationMs * LOST_AFTER);
    this.#attemptMs = renewDeadlineMs / 2;
  }

  /**
   * Whether the Lease is certainly held at this moment: ask right before each write. After a pause of the process or
   * the machine it is false at once, while `lost` aborts only when a timer fires.
   */
  get mayWrite(): boolean {
    if (this.#held === undefined) return false;
    const { sinceMs, sinceWallMs } = this.#held;
    return this.#leftMs(sinceMs) > 0 && Date.now() < sinceWallMs + this.#lostAfterMs && !this.#isInDoubt(sinceMs);
  }

  /** Identity of the holder from whom the Lease was taken when it was last acquired, since it had expired. */
  get predecessor(): string | undefined {
    return this.#predecessor;
  }

  /**
   * Renews the Lease at once if we hold it, since {@link LeaseRecordOptions.notes} returns other annotations now.
   * Resolves when they have been written, or when the Lease is lost. Resolves at once if we do not hold the Lease.
   */
  renew(): Promise<void> {
    this.#isDue = true;
    this.#due.abort();
    this.#due = new AbortController();
    return new Promise((resolve) => {
      if (this.#held === undefined) resolve();
      else this.#awaiting.push(resolve);
    });
  }

  /** When the Lease was last read or written with success, on the monotonic clock; undefined if that never happened. */
  get heardMs(): number | undefined {
    return this.#record.heardMs;
  }

  /**
   * Acquires the Lease, keeps it, and acquires it again when it was lost, until `signal` aborts; then releases it,
   * within 2 s. Never rejects because of a cluster. Stop what writes under the Lease before aborting `signal`: the
   * `lost` signal aborts then, but the release does not wait for its listeners.
   */
  async run(signal: AbortSignal, handlers: LeaseHandlers): Promise<void> {
    this.#running = this.#hold(AbortSignal.any([signal, this.#removal.signal]), handlers);
    await this.#running;
    if (this.#removal.signal.aborted) return;
    await this.#record.leave(() => 'release').catch((error: unknown) => handlers.failing?.(describe(error), error));
  }

  /**
   * Ends {@link run} for good and deletes the Lease, if it is ours. Aborting `signal` ends the attempt.
   * @param mayDelete whether nobody needs it any more, asked right before; if not, it is released instead
   * @throws ApiError or ConnectionError if it could not be deleted within 2 s; it then expires by itself
   */
  async remove(signal: AbortSignal, mayDelete: () => boolean = () => true): Promise<void> {
    this.#removal.abort();
    await this.#running;
    await this.#record.leave(() => (mayDelete() ? 'delete' : 'release'), signal);
  }

  async #hold(stop: AbortSignal, handlers: LeaseHandlers): Promise<void> {
    for (;;) {
      const held = await this.#acquire(stop, handlers);
      if (held === undefined) return;
      const lost = new AbortController();
      this.#held = held;
      this.#predecessor = held.predecessor;
      handlers.held(lost.signal);
      const reason = await this.#keep(held, stop, handlers);
      this.#held = undefined;
      for (const resolve of this.#awaiting.splice(0)) resolve();
      lost.abort(new RevokedError(`Lease ${this.#record.key}: ${reason ?? 'released'}`));
      if (reason === undefined) return;
      handlers.lost(reason);
    }
  }

  /** Tries until the Lease is ours. @returns undefined if it was stopped */
  async #acquire(stop: AbortSignal, handlers: LeaseHandlers): Promise<Held | undefined> {
    let holder: string | undefined;
    const failing = onceEach(handlers);
    const free = (): void => {
      if (holder !== undefined) handlers.free?.();
      holder = undefined;
    };
    while (!stop.aborted) {
      // What is seen late of the last renewal is waited for in vain (rule H10).
      let waitMs = jittered(this.#options.retryPeriodMs / 2);
      try {
        const attempt = await within(this.#attemptMs, stop, (signal) => this.#attempt(signal, { free }));
        if (attempt.holder === 'us') return attempt;
        if (attempt.identity !== holder) handlers.heldByAnother?.((holder = attempt.identity));
        waitMs = Math.min(waitMs, attempt.remainingMs + Math.random() * CONTENTION_MS);
        failing.over();
      } catch (error) {
        if (!isConflict(error) && !isAborted(stop)) failing.by(error);
      }
      await sleep(waitMs, stop);
    }
    return undefined;
  }

  /** Renews until the Lease is lost. @returns why it was lost; undefined if it was stopped */
  async #keep(held: Held, stop: AbortSignal, handlers: LeaseHandlers): Promise<string | undefined> {
    let { sinceMs } = held;
    let known: Lease | undefined = held.lease;
    let waitMs = this.#renewEveryMs;
    let isRetry = false;
    const failing = onceEach(handlers);
    for (;;) {
      await this.#untilDue(Math.max(0, Math.min(waitMs, this.#leftMs(sinceMs))), sinceMs, isRetry, stop);
      if (stop.aborted) return undefined;
      // The version that was known may be that of another Lease by now.
      if (this.#isInDoubt(sinceMs)) known = undefined;
      const leftMs = this.#leftMs(sinceMs);
      if (leftMs <= 0) return `not renewed for ${this.#lostAfterMs / 1000} s${failing.suffix()}`;
      try {
        const renewal = await within(Math.min(this.#attemptMs, leftMs), stop, (signal) =>
          this.#attempt(signal, { held, known }),
        );
        if (renewal.holder === 'another') return `taken by ${renewal.identity}`;
        this.#held = renewal;
        known = renewal.lease;
        sinceMs = renewal.sinceMs;
        waitMs = this.#renewEveryMs;
        isRetry = false;
        failing.over();
      } catch (error) {
        if (isAborted(stop)) return undefined;
        isRetry = true;
        // The write may have succeeded all the same: the Lease is read before the next one.
        known = undefined;
        const changed = isConflict(error) || isNotFound(error);
        waitMs = jittered(changed ? this.#options.retryPeriodMs / 4 : this.#options.retryPeriodMs);
        if (!changed) failing.by(error);
      }
    }
  }

  async #attempt(...given: Parameters<LeaseRecord['attempt']>): ReturnType<LeaseRecord['attempt']> {
    this.#isDue = false;
    const awaiting = this.#awaiting.splice(0);
    try {
      const attempt = await this.#record.attempt(...given);
      for (const resolve of awaiting) resolve();
      return attempt;
    } catch (error) {
      this.#awaiting.push(...awaiting);
      throw error;
    }
  }

  /** Waits for so long, and no longer than until the Lease is in doubt. A retry is not made earlier. */
  async #untilDue(waitMs: number, sinceMs: number, isRetry: boolean, stop: AbortSignal): Promise<void> {
    const { interruptions } = this.#options;
    if (isRetry) await sleep(waitMs, stop);
    else if (!this.#isDue && !this.#isInDoubt(sinceMs))
      await sleep(waitMs, stop, this.#due.signal, interruptions?.next);
  }

  /** Whether the API server may be another than the one that the Lease was acquired or renewed on. */
  #isInDoubt(sinceMs: number): boolean {
    return sinceMs < (this.#options.interruptions?.lastMs ?? -Infinity);
  }

  #leftMs(sinceMs: number): number {
    return sinceMs + this.#lostAfterMs - performance.now();
  }
}

/** For a check after an await: TypeScript takes `signal.aborted` for what it was before. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** Reports a failure if it differs from the one before, or was reported a minute ago. */
function onceEach(handlers: LeaseHandlers) {
  let last: string | undefined;
  let reportedMs = -Infinity;
  return {
    by: (error: unknown) => {
      const message = describe(error);
      const isDue = message !== last || performance.now() - reportedMs >= REPEAT_MS;
      last = message;
      if (!isDue) return;
      reportedMs = performance.now();
      handlers.failing?.(message, error);
    },
    over: () => {
      last = undefined;
    },
    suffix: () => (last === undefined ? '' : `: ${last}`),
  };
}

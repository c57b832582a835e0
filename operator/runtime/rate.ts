/**
 * The rate at which Events and log lines are reported: a burst at once, then one at a time, with a count of those that
 * were left out (rule G3). The rates of all of them are here. Time is that of the monotonic clock.
 */

export interface Rate {
  /** Number that are reported without a pause. */
  readonly burst: number;
  /** Time after which one more may be reported, in milliseconds. */
  readonly everyMs: number;
}

/** Writes of all Events about one object: as many as client-go's recorder allows. */
export const EVENT_RATE: Rate = { burst: 25, everyMs: 300_000 };
/** Log lines with one message about one Link. */
export const LOG_RATE: Rate = { burst: 25, everyMs: 60_000 };
/** Reports of objects that a target sends and that the API does not allow, for one Link. */
export const MALFORMED_RATE: Rate = { burst: 1, everyMs: 60_000 };

/** A token bucket, full at first. */
export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #countedMs = performance.now();

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#tokens = rate.burst;
  }

  /** Time until there is a token, in milliseconds; 0 if there is one. */
  waitMs(): number {
    this.#refill();
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) * this.#rate.everyMs);
  }

  /** Takes a token. Reports whether there was one. */
  take(): boolean {
    if (this.waitMs() > 0) return false;
    this.#tokens -= 1;
    return true;
  }

  #refill(): void {
    const now = performance.now();
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + (now - this.#countedMs) / this.#rate.everyMs);
    this.#countedMs = now;
  }
}

/**
 * Reports values at a rate. Those that exceed it are not reported one by one: when the next may be, the latest is, with
 * the number of the others.
 */
export class Throttle<T> {
  readonly #bucket: TokenBucket;
  readonly #report: (value: T, more: number) => void;
  #held: { readonly latest: T; readonly more: number } | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param report is given a value, and the number of others that it stands for */
  constructor(rate: Rate, report: (value: T, more: number) => void) {
    this.#bucket = new TokenBucket(rate);
    this.#report = report;
  }

  add(value: T): void {
    if (this.#held === undefined && this.#bucket.take()) {
      this.#report(value, 0);
      return;
    }
    this.#held = { latest: value, more: this.#held === undefined ? 0 : this.#held.more + 1 };
    this.#await();
  }

  /** Reports what is held, without waiting. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#report(held.latest, held.more);
  }

  #await(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#bucket.take()) this.flush();
      else this.#await();
    }, this.#bucket.waitMs()).unref();
  }
}

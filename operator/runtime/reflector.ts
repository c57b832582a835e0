/**
 * Lists, then watches, for ever: reports every object of one resource to a sink. A list is paged. A watch resumes from
 * the last version that it received if the server ended the one before in the ordinary course. Otherwise, or if the
 * server no longer serves that version (410) or the resource (404), the resource is listed again, after a capped,
 * jittered wait, without limit.
 *
 * The wait grows until a watch has lived for a while, whatever is heard on it: a server that answers and ends every
 * watch at once, or has forgotten every version that it gives, is not asked without a pause (rule E11).
 */
import { type BackoffPolicy, backoffMs, sleep } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { ApiError, ConnectionError, isExpired, isNotFound, LimitError, SilenceError } from '../kube/errors.ts';
import { listPages, type ListPagesOptions } from '../kube/list-pages.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Interruptions } from './interruptions.ts';
import type { Sink } from './store.ts';
import { passOn, UnknownEventError } from './watch-event.ts';

/**
 * Each list and watch asks for the client, so that `reconnect` takes up new credentials; both are held to the limits.
 */
export interface ReflectorOptions<T extends KubeObject> extends ListPagesOptions<T> {
  readonly sink: Sink<T>;
  readonly client: () => KubeClient;
  readonly timings?: Partial<ReflectorTimings>;
  /**
   * Called when a watch is open, and after each list or watch that failed (see health.ts). A watch after one that ended
   * young counts as open once it has lived for `settledMs`. What happens in the ordinary course, such as a 410, a
   * connection that breaks or a watch that falls silent once, is not a failure unless the next attempt fails too.
   */
  readonly onState?: (state: ReflectorState) => void;
  /** Called when the server has been heard: it was listed, an event or bookmark came, or it ended a watch in time. */
  readonly onHeard?: (() => void) | undefined;
  /** Notified when the server that the current data came from becomes unreachable. */
  readonly interruptions?: Interruptions | undefined;
}

export interface ReflectorTimings {
  /** Objects on one page of a list. */
  readonly pageSize: number;
  /**
   * How long a watch may be silent. The server is asked to end each watch somewhat earlier: on a quiet resource, that
   * end is the only sign of life of a server that sends no bookmarks.
   */
  readonly idleTimeoutMs: number;
  /** How long a watch must live, at most, to show that the server is well: the next failure is the first again. */
  readonly settledMs: number;
  readonly backoff: BackoffPolicy;
}

export const DEFAULT_TIMINGS: ReflectorTimings = {
  pageSize: 500,
  idleTimeoutMs: 150_000,
  settledMs: 10_000,
  backoff: { baseMs: 500, capMs: 30_000 },
};

export type ReflectorState = { readonly connected: true } | { readonly connected: false; readonly error: unknown };

/** The server ended a watch long before the time that was asked for. */
class EarlyEndError extends ConnectionError {
  /** Whether there was an event. */
  readonly heard: boolean;

  constructor(message: string, heard: boolean) {
    super(message);
    this.heard = heard;
  }
}

interface WatchState {
  isOpen: boolean;
  /** When it opened, on the monotonic clock; 0 before. */
  openedMs: number;
  /** Whether it has lived long enough to show that the server is well. */
  isSettled: boolean;
}

/** Reports whether no answer came, or that of a proxy or server that cannot serve now. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof ApiError && error.code >= 500);

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #timings: ReflectorTimings;
  /** Where the next watch resumes; undefined if a list comes first. */
  #resourceVersion: string | undefined;
  /** Whether the server may be away, or may not have reached `#resourceVersion`. */
  #isInDoubt = false;
  /** When the last attempt failed, on the monotonic clock; undefined if nothing has failed since a list. */
  #failedMs: number | undefined;
  #attempt: AbortController | undefined;
  #relist = false;
  /** Failures since a watch settled. */
  #failures = 0;
  /** 410s in a row. */
  #expiries = 0;
  /** Watches in a row that fell silent. */
  #silences = 0;
  /** Whether an open watch does not prove that the server is well, since the last one ended young. */
  #isSuspect = false;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#timings = { ...DEFAULT_TIMINGS, ...options.timings };
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const attempt = new AbortController();
      this.#attempt = attempt;
      const either = AbortSignal.any([signal, attempt.signal]);
      if (this.#relist) this.#resourceVersion = undefined;
      this.#relist = false;
      const watch: WatchState = { isOpen: false, openedMs: 0, isSettled: false };
      try {
        if (this.#isInDoubt) await this.#check(either);
        if (this.#wasInterrupted) this.#resourceVersion = undefined;
        if (this.#resourceVersion === undefined) await this.#list(either);
        this.#isInDoubt = false;
        this.#failedMs = undefined;
        await this.#watch(either, watch);
      } catch (error) {
        if (signal.aborted) return;
        if (!attempt.signal.aborted) await sleep(this.#failed(error, watch), either);
      }
    }
  }

  /**
   * Drops the connection and makes a new one, with the current client.
   * @param resume whether the watch goes on from where it was; otherwise everything is listed anew. A version that one
   *   cluster has given means nothing to another (rule E2).
   */
  reconnect({ resume }: { readonly resume: boolean }): void {
    this.#relist ||= !resume;
    this.#attempt?.abort();
  }

  /**
   * Decides what an attempt that failed calls for.
   * @returns how long to wait, in milliseconds
   */
  #failed(error: unknown, watch: WatchState): number {
    this.#failedMs ??= performance.now();
    const isSilence = error instanceof SilenceError;
    const endedYoung = watch.isOpen && !watch.isSettled;
    this.#expiries = isExpired(error) ? this.#expiries + 1 : 0;
    this.#silences = isSilence ? this.#silences + 1 : 0;
    // A server that was away for a moment, even if the next try came too late to notice, may have been restored from a
    // backup: it may not reach this version for a long time, or have outgrown it by another history. Beyond a limit,
    // only a list can show that there is less by now. What was not served is another collection once it is: a watch
    // from an older version opens, and only then fails.
    const isUseless = isExpired(error) || isNotFound(error) || error instanceof LimitError;
    const isAway = isUnavailable(error);
    if (isAway && this.#resourceVersion !== undefined) this.#options.interruptions?.noticed();
    if (isUseless || isAway) this.#resourceVersion = undefined;
    this.#isInDoubt = !isUseless;
    // What happens in the ordinary course is not a failure.
    if (this.#expiries === 1 || this.#silences === 1) return 0;
    this.#failures += 1;
    // Middleboxes cut quiet connections: whether the server can be read shows in the next attempt (rule E4). One that
    // ends a watch at once, without an event, has shown it already.
    const isBroken = watch.isOpen && isAway && !isSilence && !(error instanceof UnknownEventError);
    const isUnheard = error instanceof EarlyEndError && !error.heard;
    const isFirst = watch.isSettled || this.#failures === 1;
    if (!isBroken || isUnheard || !isFirst) {
      this.#isSuspect = endedYoung || isSilence;
      this.#options.onState?.({ connected: false, error });
    }
    if (error instanceof ApiError && error.retryAfterMs !== undefined) return error.retryAfterMs;
    // Two attempts that were answered at once are `baseMs` apart, whatever the jitter.
    return backoffMs(endedYoung ? this.#failures : this.#failures - 1, this.#timings.backoff, Math.random);
  }

  /**
   * Whether another watch found that the server had been away while this one was refused: it has nothing to notice that
   * by, and the server may have been restored meanwhile.
   */
  get #wasInterrupted(): boolean {
    return this.#failedMs !== undefined && (this.#options.interruptions?.lastMs ?? -Infinity) >= this.#failedMs;
  }

  /**
   * Checks that the server answers, sooner than a list would show, and that it has reached our version. One that was
   * restored from a backup accepts a watch from a version that it has yet to reach, and is silent until it does.
   * @throws ApiError `ResourceVersionTooLarge` if it has not reached it
   */
  async #check(signal: AbortSignal): Promise<void> {
    const { client, resource, select } = this.#options;
    const resourceVersion = this.#resourceVersion;
    const from =
      resourceVersion === undefined ? {} : ({ resourceVersion, resourceVersionMatch: 'NotOlderThan' } as const);
    await client().list<T>(resource, { ...select, limit: 1, ...from }, signal);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { sink } = this.#options;
    sink.init();
    try {
      this.#resourceVersion = await listPages(this.#options, this.#timings.pageSize, signal);
      this.#options.onHeard?.();
    } catch (error) {
      // What was read of a list, which may be too long, must not be kept until the next one.
      sink.init();
      throw error;
    }
    sink.initDone();
  }

  /**
   * Returns when the server ends the watch at the time that it was asked for.
   * @throws ApiError of an error event, EarlyEndError if the server ends it long before
   */
  async #watch(signal: AbortSignal, watch: WatchState): Promise<void> {
    const { client, resource, select } = this.#options;
    const { idleTimeoutMs } = this.#timings;
    const timeoutSeconds = Math.max(1, Math.floor((idleTimeoutMs / 1000) * (0.8 + 0.15 * Math.random())));
    let events = 0;
    let timer: NodeJS.Timeout | undefined;
    const stream = client().watch<T>(resource, {
      ...select,
      resourceVersion: this.#resourceVersion ?? '',
      timeoutSeconds,
      idleTimeoutMs,
      signal,
      onOpen: () => (timer = this.#opened(watch, timeoutSeconds * 900)),
    });
    try {
      for await (const event of stream) {
        events += 1;
        passOn(event, this.#options);
        this.#resourceVersion = event.object.metadata.resourceVersion ?? this.#resourceVersion;
        this.#silences = 0;
        this.#options.onHeard?.();
        if (watch.isSettled) this.#settle();
      }
    } finally {
      clearTimeout(timer);
    }
    if (!watch.isSettled) {
      const seconds = ((performance.now() - watch.openedMs) / 1000).toFixed(1);
      const message = `watch ${resource.plural}: the server closed it after ${seconds} s`;
      throw new EarlyEndError(message, events > 0);
    }
    this.#silences = 0;
    this.#options.onHeard?.();
    this.#settle();
    this.#isInDoubt = events === 0;
  }

  /**
   * A watch is open, which settles once it has lived for `settledMs`, or for most of its time.
   * @param mostMs most of its time
   */
  #opened(watch: WatchState, mostMs: number): NodeJS.Timeout {
    watch.isOpen = true;
    watch.openedMs = performance.now();
    if (!this.#isSuspect) this.#options.onState?.({ connected: true });
    return setTimeout(
      () => {
        watch.isSettled = true;
        // After silence only a sign of life shows that the server is well.
        if (this.#silences === 0) this.#settle();
      },
      Math.min(this.#timings.settledMs, mostMs),
    );
  }

  /** A watch has lived long enough to show that the server is well. */
  #settle(): void {
    this.#failures = 0;
    this.#expiries = 0;
    if (this.#isSuspect) this.#options.onState?.({ connected: true });
    this.#isSuspect = false;
  }
}

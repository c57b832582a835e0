/**
 * Lists, then watches, for ever: reports every object of one resource to a sink. A list is paged. A watch resumes from
 * the last version that it received; if the server no longer serves that version (410), the resource is listed again. A
 * connection that fails or goes silent is made anew after a capped, jittered wait, without limit.
 */
import { backoffMs, sleep } from '../kube/backoff.ts';
import type { KubeClient, ListOptions } from '../kube/client.ts';
import { ApiError, ConnectionError, isExpired, SilenceError, type StatusBody } from '../kube/errors.ts';
import type { KubeObject, Resource } from '../kube/objects.ts';
import type { Sink } from './store.ts';

export interface ReflectorOptions<T extends KubeObject> {
  /** Called before each list and watch, so that `reconnect` takes up new credentials. */
  readonly client: () => KubeClient;
  readonly resource: Resource;
  readonly select?: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;
  readonly sink: Sink<T>;
  readonly timings?: Partial<ReflectorTimings>;
  /** Called when a watch is open, and after each list or watch that failed (see health.ts). */
  readonly onState?: (state: ReflectorState) => void;
}

export interface ReflectorTimings {
  /** Objects on one page of a list. */
  readonly pageSize: number;
  /** How long a watch may be silent. An API server sends a bookmark about every minute. */
  readonly idleTimeoutMs: number;
  /** Minimum time that the server is asked to keep a watch open; each watch asks for up to twice as long. */
  readonly watchSeconds: number;
  readonly backoff: { readonly baseMs: number; readonly capMs: number };
}

export const DEFAULT_TIMINGS: ReflectorTimings = {
  pageSize: 500,
  idleTimeoutMs: 150_000,
  watchSeconds: 300,
  backoff: { baseMs: 500, capMs: 30_000 },
};

export type ReflectorState = { readonly connected: true } | { readonly connected: false; readonly error: unknown };

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #timings: ReflectorTimings;
  /** Where the next watch resumes; undefined: list first. */
  #resourceVersion: string | undefined;
  #attempt: AbortController | undefined;
  #relist = false;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#timings = { ...DEFAULT_TIMINGS, ...options.timings };
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const attempt = new AbortController();
      this.#attempt = attempt;
      const either = AbortSignal.any([signal, attempt.signal]);
      if (this.#relist) this.#resourceVersion = undefined;
      this.#relist = false;
      try {
        if (this.#resourceVersion === undefined) await this.#list(either);
        else if (failures > 0) await this.#checkVersion(this.#resourceVersion, either);
        await this.#watch(either, () => {
          failures = 0;
        });
      } catch (error) {
        if (signal.aborted) return;
        if (attempt.signal.aborted) continue;
        // Not even a bookmark came: the server may not reach this version for a long time.
        const unheard = error instanceof SilenceError && !error.heard;
        const expired = isExpired(error) || unheard;
        if (expired) this.#resourceVersion = undefined;
        failures += 1;
        // One 410 is normal; a second in a row is a failure like any other.
        if (expired && !unheard && failures === 1) continue;
        this.#options.onState?.({ connected: false, error });
        const pause =
          error instanceof ApiError && error.retryAfterMs !== undefined
            ? error.retryAfterMs
            : backoffMs(failures - 1, this.#timings.backoff, Math.random);
        await sleep(pause, either);
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
   * Checks after a failure that the server has reached our version. One that was restored from a backup accepts a watch
   * from a version that it has yet to reach, and is silent until it does.
   * @throws ApiError `ResourceVersionTooLarge` if it has not reached it
   */
  async #checkVersion(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, resource, select } = this.#options;
    const options = { ...select, limit: 1, resourceVersion, resourceVersionMatch: 'NotOlderThan' } as const;
    await client().list<T>(resource, options, signal);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, select, sink } = this.#options;
    sink.init();
    let next: string | undefined;
    do {
      const page = await client().list<T>(
        resource,
        { ...select, limit: this.#timings.pageSize, continue: next },
        signal,
      );
      for (const object of page.items) sink.listed(object);
      next = page.metadata.continue === '' ? undefined : page.metadata.continue;
      if (next === undefined) this.#resourceVersion = page.metadata.resourceVersion;
    } while (next !== undefined);
    sink.initDone();
  }

  /** Returns when the server ends the watch, as it does from time to time. */
  async #watch(signal: AbortSignal, heard: () => void): Promise<void> {
    const { client, resource, select, sink } = this.#options;
    const { idleTimeoutMs, watchSeconds } = this.#timings;
    const began = performance.now();
    let events = 0;
    const stream = client().watch<T>(resource, {
      ...select,
      resourceVersion: this.#resourceVersion ?? '',
      timeoutSeconds: Math.round(watchSeconds * (1 + Math.random())),
      idleTimeoutMs,
      signal,
      onOpen: () => this.#options.onState?.({ connected: true }),
    });
    for await (const { type, object } of stream) {
      events += 1;
      switch (type) {
        case 'ADDED':
        case 'MODIFIED':
          sink.applied(object);
          break;
        case 'DELETED':
          sink.removed(object);
          break;
        case 'BOOKMARK':
          break;
        case 'ERROR': {
          const status = object as unknown as StatusBody & { readonly code?: number };
          throw new ApiError(status.code ?? 500, status, `watch ${resource.plural}`);
        }
        default:
          throw new ConnectionError(`watch ${resource.plural}: an event of unknown type ${String(type).slice(0, 32)}`);
      }
      this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion;
      heard();
    }
    // The server ended the watch: at the time that was asked for, or so early that something is wrong.
    if (events === 0 && performance.now() - began < 1000) {
      throw new ConnectionError(`watch ${resource.plural}: closed as soon as it was opened`);
    }
    heard();
  }
}

/**
 * Writes the status of one Link, at most once a second and only if it has changed (rule G2). The writer remembers how
 * the API server answered the last write, so that a CRD that drops our fields, such as Linkerd's own, causes no second
 * write (rule G5).
 */
import { isDeepStrictEqual } from 'node:util';
import { backoffMs, jittered, RETRY_BACKOFF } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type Fields, fieldsOf } from '../../kube/conditions.ts';
import { describe, isConflict, isNotFound } from '../../kube/errors.ts';
import { fenced, FENCED_RETRY_MS, FencedError, type MayWrite } from '../../runtime/fence.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { KubeObject, Resource } from '../../kube/objects.ts';
import type { LinkStatusPatch } from './status.ts';
import { type LinkStatusBefore, readStatus } from './before.ts';

/** A Link as its status writer reads it. */
export interface LinkObject extends KubeObject {
  readonly spec?: unknown;
  /** Foreign data, read by {@link readStatus}. */
  readonly status?: unknown;
}

export interface StatusWriterOptions {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly log: Logger;
  /** Returns the Link as last seen; undefined if it is gone. */
  readonly current: () => LinkObject | undefined;
  /** Computes the new status; `before` is the present one. */
  readonly compute: (before: LinkStatusBefore) => LinkStatusPatch;
  /** Called when the API server has dropped the fields that Linkerd's CRD does not have. */
  readonly onPruned: () => void;
  /** @default 1000 */
  readonly periodMs?: number;
  /** Whether this replica certainly leads. Only the replica that leads may write. */
  readonly mayWrite: MayWrite;
}

/**
 * Minimum time between the starts of two writes, as a multiple of the duration of the earlier one. So a long status, or
 * one on a slow API server, is written less often.
 */
const IDLE_RATIO = 10;
/** Upper bound of the time that {@link IDLE_RATIO} gives, as a multiple of the period. */
const MAX_PERIODS = 5;

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #signal: AbortSignal;
  /**
   * The last write that succeeded. `patch`: the status that was sent. `answered`: the status that the API server
   * returned, and `version`: that of the Link then. `link`: the Link as it was last read before the write began.
   */
  #sent:
    | {
        readonly patch: LinkStatusPatch;
        readonly answered: Fields;
        readonly version: string | undefined;
        readonly link: LinkObject | undefined;
      }
    | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires, on the monotonic clock. */
  #timerMs = 0;
  /** The patch that failed last, and when to try it again, on the monotonic clock. */
  #failed: { readonly patch: LinkStatusPatch; readonly retryMs: number } | undefined;
  #writing = false;
  #written: Promise<void> = Promise.resolve();
  #again = false;
  #failures = 0;
  /** Earliest time of the next write, on the monotonic clock. */
  #dueMs = -Infinity;

  constructor(options: StatusWriterOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true });
  }

  /** Schedules a write, which includes all changes made before it starts. */
  schedule(): void {
    if (this.#signal.aborted) return;
    if (this.#writing) {
      this.#again = true;
      return;
    }
    const period = this.#options.periodMs ?? 1000;
    const waitMs = Math.max(period / 10, this.#dueMs - performance.now());
    // A change does not wait for the retry of an earlier write that failed (rule F3).
    if (this.#timer === undefined || this.#timerMs > performance.now() + waitMs) this.#after(waitMs);
  }

  /**
   * Called when Links were listed anew. The list overrides the answer to our last write, since a server that was
   * restored from a backup has lost that write. A write that failed is tried again without waiting any longer.
   */
  listed(): void {
    if (this.#sent !== undefined) this.#sent = { ...this.#sent, link: undefined };
    this.#failed = undefined;
    this.schedule();
  }

  /** Resolves when no write is under way. After the signal has aborted, none begins. */
  async ended(): Promise<void> {
    await this.#written;
  }

  #after(ms: number): void {
    clearTimeout(this.#timer);
    this.#timerMs = performance.now() + ms;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#written = this.#write();
    }, ms);
  }

  async #write(): Promise<void> {
    const { client, resource, namespace, name, current, compute, onPruned, mayWrite } = this.#options;
    const link = current();
    if (link === undefined || this.#signal.aborted) return;
    this.#writing = true;
    const beganMs = performance.now();
    let isDue = false;
    let tried: LinkStatusPatch | undefined;
    try {
      // Until the watch reports anything newer, the answer to our own write is the newest that is known.
      const newest = this.#sent?.link === link ? this.#sent : undefined;
      const live = newest?.answered ?? fieldsOf(link.status);
      // If the API server prunes conditions, only the last patch has their transition times.
      const before = readStatus(live['conditions'] === undefined ? { ...this.#sent?.patch, ...live } : live);
      const patch = compute(before);
      if (this.#isWritten(patch, live)) return;
      if (this.#failed !== undefined && isAlike(this.#failed.patch, patch)) {
        const waitMs = this.#failed.retryMs - beganMs;
        if (waitMs > 0) {
          this.#after(waitMs);
          return;
        }
      }
      isDue = true;
      tried = patch;
      const target = { namespace, name, subresource: 'status' };
      // A status says that a generation is applied. Another server, or one that was restored from a backup, may have
      // another spec of that generation.
      const resourceVersion = newest?.version ?? link.metadata.resourceVersion;
      const body = { metadata: { resourceVersion }, status: patch };
      const written = await fenced(client, mayWrite).patch<LinkObject>(resource, target, body, this.#signal);
      const answered = fieldsOf(written.status);
      this.#sent = { patch, answered, version: written.metadata.resourceVersion, link };
      this.#failures = 0;
      this.#failed = undefined;
      if (answered['conditions'] === undefined) onPruned();
    } catch (error) {
      if (this.#signal.aborted || isNotFound(error)) return;
      if (error instanceof FencedError) this.#after(FENCED_RETRY_MS);
      // A watch event that shows what has changed ends the wait early.
      else if (isConflict(error)) this.#after(jittered(this.#options.periodMs ?? 1000));
      else this.#failedWith(error, tried);
    } finally {
      const { periodMs = 1000 } = this.#options;
      const tookMs = performance.now() - beganMs;
      if (isDue) this.#dueMs = beganMs + Math.max(periodMs, Math.min(tookMs * IDLE_RATIO, periodMs * MAX_PERIODS));
      this.#writing = false;
      if (this.#again) {
        this.#again = false;
        this.schedule();
      }
    }
  }

  #failedWith(error: unknown, tried: LinkStatusPatch | undefined): void {
    const { log, name } = this.#options;
    if (this.#failures === 0)
      log.warn({ link: name, error: describe(error) }, 'the status of the Link cannot be written');
    const waitMs = backoffMs(this.#failures, RETRY_BACKOFF, Math.random);
    this.#failed = tried && { patch: tried, retryMs: performance.now() + waitMs };
    this.#after(waitMs);
    this.#failures += 1;
  }

  /**
   * Reports whether the status on the API server already has the values of a patch, except in fields that the server
   * drops.
   */
  #isWritten(patch: LinkStatusPatch, live: Fields): boolean {
    const kept = Object.entries(patch).every(([field, value]) =>
      value === null ? !(field in live) : isDeepStrictEqual(live[field], value),
    );
    if (kept) return true;
    if (this.#sent === undefined || !isDeepStrictEqual(this.#sent.patch, patch)) return false;
    // The patch was sent and does not show: it was pruned, or somebody else changed the status. Only in the second case
    // is a write needed.
    return this.#sent.answered['conditions'] === undefined || isDeepStrictEqual(this.#sent.answered, live);
  }
}

/**
 * Reports whether two patches are equal, or differ only in transition times. Each computation gives a new time to a
 * condition that is not written yet.
 */
const isAlike = (a: LinkStatusPatch, b: LinkStatusPatch): boolean => textOf(a) === textOf(b);

const textOf = (patch: LinkStatusPatch): string =>
  JSON.stringify(patch, (key, value: unknown) => (key === 'lastTransitionTime' ? undefined : value));

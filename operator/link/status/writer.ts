/**
 * Decides when the status of one Link is written: at most once in a period (1 s by default), and not before a tenth of
 * the period has passed since the first change, so that one write includes several changes. A status that could not be
 * written is tried again after a growing delay. A new status does not wait for that delay. `StatusPatch` decides
 * whether a write is needed, and makes it.
 */
import type { KubeClient } from '../../kube/client.ts';
import { backoffMs, RETRY_BACKOFF } from '../../kube/backoff.ts';
import { type Fields, fieldsOf } from '../../kube/conditions.ts';
import { describe } from '../../kube/errors.ts';
import type { KubeObject, Resource } from '../../kube/objects.ts';
import type { MayWrite } from '../../runtime/fence.ts';
import type { Logger } from '../../runtime/logger.ts';
import { contentOf, StatusPatch } from '../../runtime/status-patch.ts';
import { type LinkStatusBefore, readStatus } from './before.ts';
import type { LinkStatusPatch } from './status.ts';

/** A Link as its status writer reads it. */
export interface LinkObject extends KubeObject {
  readonly spec?: unknown;
  /** Foreign data, read by {@link readStatus}. */
  readonly status?: unknown;
}

export interface StatusWriterOptions {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly name: string;
  readonly log: Logger;
  /** Returns the Link as last seen; undefined if it is deleted. */
  readonly current: () => LinkObject | undefined;
  /** Computes the new status; `before` is the present one. */
  readonly compute: (before: LinkStatusBefore) => LinkStatusPatch;
  /**
   * Called after each successful write of the status.
   * @param written the Link in the answer of the API server
   * @param before the Link that the status was computed from
   */
  readonly onWritten: (written: LinkObject, before: LinkObject) => void;
  /**
   * Minimum time between the starts of two writes, in milliseconds.
   * @default 1000
   */
  readonly periodMs?: number | undefined;
  /** Whether this replica certainly leads. Only the replica that leads is allowed to write. */
  readonly mayWrite: MayWrite;
}

const PERIOD_MS = 1_000;
/**
 * How long to wait before a status is written again because the CRD dropped a part of it, in milliseconds. Users who
 * have upgraded the CRD see a complete status within about this time. It is shorter than the default of
 * {@link StatusPatch} (1 hour), because there are few Links.
 */
const DROPPED_MS = 300_000;

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #signal: AbortSignal;
  readonly #periodMs: number;
  readonly #statuses: StatusPatch<LinkObject>;
  /** The last status that was written. If the CRD drops conditions, only this copy has their transition times. */
  #sent: LinkStatusPatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires, on the monotonic clock. */
  #timerMs = 0;
  /** Content of the status that failed last, and when to try it again, on the monotonic clock. */
  #failed: { readonly content: string; readonly retryMs: number } | undefined;
  #failures = 0;
  /**
   * Earliest time at which a change can cause another write, on the monotonic clock. It is set when a write has been
   * tried.
   */
  #dueMs = 0;
  #writing = false;
  #written: Promise<void> = Promise.resolve();
  #again = false;

  constructor(options: StatusWriterOptions, signal: AbortSignal) {
    const { client, resource, mayWrite, onWritten, periodMs = PERIOD_MS } = options;
    this.#options = options;
    this.#signal = signal;
    this.#periodMs = periodMs;
    this.#statuses = new StatusPatch({ client, of: resource, mayWrite, periodMs, droppedMs: DROPPED_MS, onWritten });
    signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true });
  }

  /** Schedules a write, which includes all changes made before it starts. */
  schedule(): void {
    if (this.#signal.aborted) return;
    if (this.#writing) {
      this.#again = true;
      return;
    }
    const waitMs = Math.max(this.#periodMs / 10, this.#dueMs - performance.now());
    // A change does not wait for the retry of an earlier write that failed (rule F3).
    if (this.#timer === undefined || this.#timerMs > performance.now() + waitMs) this.#after(waitMs);
  }

  /**
   * Called when Links were listed anew. A write that failed no longer waits for its retry delay: it is scheduled like
   * the write after a change.
   */
  listed(): void {
    this.#statuses.listed();
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
    const link = this.#options.current();
    if (link === undefined || this.#signal.aborted) return;
    this.#writing = true;
    let tried: LinkStatusPatch | undefined;
    try {
      const patch = this.#options.compute(readStatus(this.#before(fieldsOf(link.status))));
      const waitMs = this.#backoffMs(patch);
      if (waitMs > 0) {
        this.#after(waitMs);
        return;
      }
      tried = patch;
      const beganMs = performance.now();
      const outcome = await this.#statuses.write(link, patch, this.#signal);
      if (outcome === 'unchanged') {
        this.#succeeded();
        return;
      }
      const nextMs = outcome === 'written' ? this.#periodMs : outcome.waitMs;
      this.#dueMs = beganMs + Math.min(nextMs, this.#periodMs);
      if (outcome !== 'written') {
        this.#after(nextMs);
        return;
      }
      this.#sent = patch;
      this.#succeeded();
    } catch (error) {
      if (!this.#signal.aborted) this.#failedWith(error, tried);
    } finally {
      this.#writing = false;
      if (this.#again) {
        this.#again = false;
        this.schedule();
      }
    }
  }

  /**
   * Returns the present status. If it has no conditions, because the CRD dropped them, the fields that are missing are
   * taken from the last status that was written.
   */
  #before(live: Fields): Fields {
    return live['conditions'] === undefined ? { ...this.#sent, ...live } : live;
  }

  /**
   * Returns how much longer a status must wait because a write with the same content failed, in milliseconds. 0 or less
   * if it does not have to wait.
   */
  #backoffMs(patch: LinkStatusPatch): number {
    if (this.#failed === undefined || this.#failed.content !== contentOf(patch)) return 0;
    return this.#failed.retryMs - performance.now();
  }

  #succeeded(): void {
    this.#failures = 0;
    this.#failed = undefined;
  }

  #failedWith(error: unknown, tried: LinkStatusPatch | undefined): void {
    const { log, name } = this.#options;
    if (this.#failures === 0)
      log.warn({ link: name, error: describe(error) }, 'the status of the Link cannot be written');
    const now = performance.now();
    const waitMs = backoffMs(this.#failures, RETRY_BACKOFF, Math.random);
    this.#failed = tried && { content: contentOf(tried), retryMs: now + waitMs };
    this.#dueMs = now + this.#periodMs;
    this.#after(waitMs);
    this.#failures += 1;
  }
}

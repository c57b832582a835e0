/**
 * The only writer of statuses (rule G2): it writes one that differs, each object's once in a period. If the CRD lacks our
 * fields and drops a part of a status (rule G5), the status is written again only after a long time, for the CRD may have
 * been upgraded. A status that somebody else writes too, another implementation of an API, or another operator that sees
 * other clusters, is written less and less often. It has the conditions of others, and is about a generation, so it is
 * written only over the version that it was made from: another server, or one that was restored from a backup, may have
 * another spec of that generation.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { jittered } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { fieldsOf } from '../kube/conditions.ts';
import { isConflict, isNotFound } from '../kube/errors.ts';
import { keyOf, type KubeObject, type Resource, splitKey } from '../kube/objects.ts';
import { fenced, FENCED_RETRY_MS, FencedError, type Fenceable, type MayWrite } from './fence.ts';
import { Repairs } from './repairs.ts';

/** An object that has a status. */
interface Reported extends KubeObject {
  readonly status?: unknown;
}

/** What is asked of an API server. */
interface PatchClient extends Pick<KubeClient, 'patch'>, Fenceable<PatchClient> {}

export interface StatusPatchOptions<T extends Reported> {
  readonly client: PatchClient;
  readonly of: Resource;
  readonly mayWrite: MayWrite;
  /** Waits for the turn of a write, and makes it. @default - at once */
  readonly turn?: <R>(signal: AbortSignal, execute: () => Promise<R>) => Promise<R>;
  /** Time between the starts of two writes of one status, in milliseconds; more if writes take long. */
  readonly periodMs: number;
  /** Time after which a status is written again that the CRD dropped a part of, in milliseconds. @default 3600000 */
  readonly droppedMs?: number;
  /** Time in which a watch shows what was written, in milliseconds. @default 10000 */
  readonly shownMs?: number;
  /** Returns an object as the store keeps it. @default - as it is */
  readonly read?: (object: T) => T;
  /** Called with an object as it was written. */
  readonly onWritten?: (written: T, before: T) => void;
}

/** What became of a status; `waitMs`: it is written after so long. */
export type StatusOutcome = 'written' | 'unchanged' | { readonly waitMs: number };

/** Delay before a retry after a conflict. A watch event ends it early. */
const CONFLICT_MS = 1_000;

/**
 * Minimum time between the starts of two writes, as a multiple of the duration of the earlier one. So a long status, or
 * one on a slow API server, is written less often.
 */
const IDLE_RATIO = 10;
/** Upper bound of the time that {@link IDLE_RATIO} gives, as a multiple of the period. */
const MAX_PERIODS = 5;

/** An object that is still as it was before a write after so long was restored from a backup. */
const SHOWN_MS = 10_000;

/** If the CRD still drops a part of a status that is written again after so long, the API server stores nothing. */
const DROPPED_MS = 3_600_000;

const asItIs = <T>(object: T): T => object;

/** The last write of one status. */
interface Last {
  /** When it was answered, on the monotonic clock. */
  readonly atMs: number;
  /** When the next may begin, on the monotonic clock. */
  readonly nextMs: number;
  readonly status: object;
  /** As the API server has kept it: the CRD may drop a part. */
  readonly kept: unknown;
  /** Version of the object that it was written over; undefined once a list has shown how the object is. */
  readonly over: string | undefined;
}

export class StatusPatch<T extends Reported> {
  readonly #options: StatusPatchOptions<T>;
  readonly #last = new Map<string, Last>();
  readonly #repairs = new Repairs();

  constructor(options: StatusPatchOptions<T>) {
    this.#options = options;
  }

  /**
   * Writes a status, unless the object has it.
   * @param status patch of the status: absent fields stay as they are, and null removes a field
   * @throws ApiError or ConnectionError if it cannot be written
   */
  async write(object: T, status: object, signal: AbortSignal): Promise<StatusOutcome> {
    const { periodMs, droppedMs = DROPPED_MS, shownMs = SHOWN_MS } = this.#options;
    const key = keyOf(object);
    const last = this.#last.get(key);
    if (hasAll(object.status, status)) return 'unchanged';
    const now = performance.now();
    if (last !== undefined && isDeepStrictEqual(status, last.status)) {
      // The CRD drops a part of it.
      const leftMs = last.atMs + droppedMs - now;
      if (leftMs > 0 && isDeepStrictEqual(object.status, last.kept)) return { waitMs: leftMs };
      // The watch has yet to show it. An object that stays as it was has been restored from a backup.
      const isShown = object.metadata.resourceVersion !== last.over || now - last.atMs >= shownMs;
      if (!isShown) return { waitMs: shownMs - (now - last.atMs) };
    }
    const content = contentOf(status);
    const waitMs = Math.max((last?.nextMs ?? 0) - now, this.#repairs.waitMs(key, content));
    if (waitMs > 0) return { waitMs };
    try {
      await this.#write(key, object, status, signal);
      this.#repairs.wrote(key, content);
      return 'written';
    } catch (error) {
      // The view was old, and says nothing of what others have written since.
      if (isConflict(error)) return { waitMs: jittered(Math.max(periodMs, CONFLICT_MS)) };
      if (error instanceof FencedError) return { waitMs: jittered(FENCED_RETRY_MS) };
      if (!isNotFound(error)) throw error;
      // The object is gone.
      this.forget(key);
      return 'unchanged';
    }
  }

  async #write(key: string, object: T, status: object, signal: AbortSignal): Promise<void> {
    const { client, of, mayWrite, periodMs, read = asItIs, onWritten, turn } = this.#options;
    const { resourceVersion } = object.metadata;
    const target = { ...splitKey(key), subresource: 'status' };
    const body = { metadata: { resourceVersion }, status };
    let beganMs = performance.now();
    const write = (): Promise<T> => {
      beganMs = performance.now();
      return fenced(client, mayWrite).patch<T>(of, target, body, signal);
    };
    const written = await (turn === undefined ? write() : turn(signal, write));
    const atMs = performance.now();
    const idleMs = Math.max(periodMs, Math.min((atMs - beganMs) * IDLE_RATIO, periodMs * MAX_PERIODS));
    this.#last.set(key, {
      atMs,
      nextMs: beganMs + idleMs,
      status,
      kept: read(written).status,
      over: resourceVersion,
    });
    onWritten?.(written, object);
  }

  /** Called when the objects were listed anew: what a list shows without our last write has been restored. */
  listed(): void {
    for (const [key, last] of this.#last) this.#last.set(key, { ...last, over: undefined });
  }

  /** Forgets an object that is gone. */
  forget(key: string): void {
    this.#last.delete(key);
    this.#repairs.forget(key);
  }
}

/** Reports whether a status has the value of each field of a patch. */
function hasAll(live: unknown, patch: object): boolean {
  const fields = fieldsOf(live);
  return Object.entries(patch).every(([field, value]) =>
    value === null ? !(field in fields) : isDeepStrictEqual(fields[field], value),
  );
}

/** Digest of a status. The time at which a condition changed is not what two writers disagree about. */
export const contentOf = (status: object): string =>
  createHash('sha256').update(JSON.stringify(status, withoutTimes)).digest('base64');

const withoutTimes = (field: string, value: unknown): unknown => (field === 'lastTransitionTime' ? undefined : value);

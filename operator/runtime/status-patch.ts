/**
 * Writes the status of objects of one kind: only one that differs, each object's once in a period, and none that the
 * API server has changed to what there is already. One that somebody else writes too, another implementation of an API,
 * or another operator that sees other clusters, is written less and less often. It is written whole, conditions of
 * others included, so only over the version that it was made from.
 */
import { isDeepStrictEqual } from 'node:util';
import { jittered } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
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
  /** Time between two writes of one status, in milliseconds. */
  readonly periodMs: number;
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

/** An object that is still as it was before a write after so long was restored from a backup. */
const SHOWN_MS = 10_000;

const asItIs = <T>(object: T): T => object;

/** The last write of one status. */
interface Last {
  /** On the monotonic clock. */
  readonly atMs: number;
  readonly status: object;
  /** As the API server has kept it: the CRD may drop a part. */
  readonly kept: unknown;
  /** Versions of the object before and after it. */
  readonly versions: readonly (string | undefined)[];
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
   * @throws ApiError or ConnectionError if it cannot be written
   */
  async write(object: T, status: object, signal: AbortSignal): Promise<StatusOutcome> {
    const { client, of, mayWrite, periodMs, shownMs = SHOWN_MS, read = asItIs, onWritten, turn } = this.#options;
    const key = keyOf(object);
    const last = this.#last.get(key);
    if (isDeepStrictEqual(status, object.status)) return 'unchanged';
    // The watch has yet to show it, or the CRD drops a part of it.
    const { resourceVersion } = object.metadata;
    const sinceLastMs = performance.now() - (last?.atMs ?? -Infinity);
    if (last?.versions.includes(resourceVersion) === true && isDeepStrictEqual(status, last.status)) {
      // After a restore from a backup, the same version may stand for another object.
      const isWritten = resourceVersion === last.versions.at(-1);
      if (isWritten && isDeepStrictEqual(object.status, last.kept)) return 'unchanged';
      if (!isWritten && sinceLastMs < shownMs) return { waitMs: shownMs - sinceLastMs };
    }
    const content = JSON.stringify(status, withoutTimes);
    const waitMs = Math.max(periodMs - sinceLastMs, this.#repairs.waitMs(key, content));
    if (waitMs > 0) return { waitMs };
    const target = { ...splitKey(key), subresource: 'status' };
    const patch = { metadata: { resourceVersion }, status };
    const write = (): Promise<T> => fenced(client, mayWrite).patch<T>(of, target, patch, signal);
    try {
      const written = await (turn === undefined ? write() : turn(signal, write));
      const versions = [resourceVersion, written.metadata.resourceVersion];
      this.#last.set(key, { atMs: performance.now(), status, kept: read(written).status, versions });
      this.#repairs.wrote(key, content);
      onWritten?.(written, object);
      return 'written';
    } catch (error) {
      // The view was old, and says nothing of what others have written since.
      if (isConflict(error)) return { waitMs: Math.max(periodMs, CONFLICT_MS) };
      if (error instanceof FencedError) return { waitMs: jittered(FENCED_RETRY_MS) };
      if (!isNotFound(error)) throw error;
      // The object is gone.
      this.forget(key);
      return 'unchanged';
    }
  }

  /** Forgets an object that is gone. */
  forget(key: string): void {
    this.#last.delete(key);
    this.#repairs.forget(key);
  }
}

/** The time at which a condition changed is not what two writers disagree about. */
const withoutTimes = (field: string, value: unknown): unknown => (field === 'lastTransitionTime' ? undefined : value);

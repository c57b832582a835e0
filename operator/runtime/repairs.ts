/**
 * How often the same content had to be written to an object again. Somebody who keeps undoing what we write is answered
 * less and less often; a write that failed has been undone by nobody and does not count. Content is remembered as a
 * digest.
 */
import { backoffMs } from '../kube/backoff.ts';
import type { KubeObject } from '../kube/objects.ts';

/** How often one repair is repeated at once before it is spaced out. */
const FREE_REPAIRS = 3;
const REPAIR_BACKOFF = { baseMs: 1_000, capMs: 300_000 };
/** After so long without a repair of an object, the next one is free again. */
const REPAIR_MEMORY_MS = 600_000;

interface Repair {
  readonly digest: string;
  /** How often the content has been written again. */
  readonly count: number;
  /** When it may be written again, on the monotonic clock. */
  readonly notBeforeMs: number;
}

/** A version of an object that does not come to have the content that is written to it. */
interface InVain {
  readonly digest: string;
  readonly resourceVersion: string | undefined;
}

export class Repairs {
  readonly #repairs = new Map<string, Repair>();
  readonly #inVain = new Map<string, InVain>();

  /** How long to wait before content is written to an object again, in milliseconds; 0: it may be written now. */
  waitMs(id: string, digest: string): number {
    const repair = this.#remembered(id, digest);
    return repair === undefined ? 0 : Math.max(0, repair.notBeforeMs - performance.now());
  }

  /** Records that content was written to an object. */
  wrote(id: string, digest: string): void {
    const before = this.#remembered(id, digest);
    const count = before === undefined ? 0 : before.count + 1;
    const wait = count < FREE_REPAIRS ? 0 : backoffMs(count - FREE_REPAIRS, REPAIR_BACKOFF, Math.random);
    // The one that was written last comes last.
    this.#repairs.delete(id);
    this.#repairs.set(id, { digest, count, notBeforeMs: performance.now() + wait });
    this.#forgetOld();
  }

  /** Number of objects of which writes are remembered. */
  get size(): number {
    return this.#repairs.size;
  }

  /** Records that an object, as the API server returned it, does not have the content that was just written to it. */
  inVain(id: string, digest: string, { metadata }: KubeObject): void {
    this.#inVain.set(id, { digest, resourceVersion: metadata.resourceVersion });
  }

  /** Whether writing content to this version of an object is known to change nothing. */
  isInVain(id: string, digest: string, { metadata }: KubeObject): boolean {
    const known = this.#inVain.get(id);
    return known?.digest === digest && known.resourceVersion === metadata.resourceVersion;
  }

  /** Forgets an object that is gone. */
  forget(id: string): void {
    this.#repairs.delete(id);
    this.#inVain.delete(id);
  }

  /** Forgets what says nothing any more: others may have deleted the object, as with its namespace. */
  #forgetOld(): void {
    const now = performance.now();
    for (const [id, { notBeforeMs }] of this.#repairs) {
      if (now - notBeforeMs < REPAIR_MEMORY_MS) return;
      this.#repairs.delete(id);
    }
  }

  #remembered(id: string, digest: string): Repair | undefined {
    const repair = this.#repairs.get(id);
    const isRecent = repair !== undefined && performance.now() - repair.notBeforeMs < REPAIR_MEMORY_MS;
    return isRecent && repair.digest === digest ? repair : undefined;
  }
}

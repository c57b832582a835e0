/**
 * How often the same content had to be written to an object again, or the same object created or deleted again.
 * Somebody who keeps undoing what we write is answered less and less often; a write that failed has been undone by
 * nobody and does not count. Content is remembered as a digest.
 */
import { backoffMs } from '../kube/backoff.ts';
import type { KubeObject } from '../kube/objects.ts';

/** How often one repair is repeated at once before it is spaced out. */
const FREE_REPAIRS = 3;
const REPAIR_BACKOFF = { baseMs: 1_000, capMs: 300_000 };
/** After so long without a repair of an object, the next one is free again. */
const REPAIR_MEMORY_MS = 600_000;
/** The same of an object that was written once: most writes are never undone, and would fill the memory. */
const ONCE_MEMORY_MS = 60_000;
/** After so long, what a webhook undid as it was written is written again: webhooks change, and go. */
const IN_VAIN_WAIT_MS = 3_600_000;
/** The same where the webhook only adds labels and annotations: the object works, and there may be thousands. */
const ADDED_WAIT_MS = 24 * 3_600_000;

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
  /** When the content may be written again, on the monotonic clock. */
  readonly notBeforeMs: number;
}

export class Repairs {
  readonly #repairs = new Map<string, Repair>();
  /** Those that have been written once. */
  readonly #once = new Map<string, Repair>();
  /** Those that a webhook keeps from what is written. */
  readonly #undone = new Map<string, InVain>();
  /** Those to which a webhook only adds. */
  readonly #addedTo = new Map<string, InVain>();

  /** How long to wait before content is written to an object again, in milliseconds; 0 if it may be written now. */
  waitMs(id: string, digest: string): number {
    const repair = this.#remembered(id, digest);
    return repair === undefined ? 0 : Math.max(0, repair.notBeforeMs - performance.now());
  }

  /** The same for this version of an object, if the content was written to it {@link inVain}; 0 if it was not. */
  inVainMs(id: string, digest: string, { metadata }: KubeObject): number {
    const known = this.#undone.get(id) ?? this.#addedTo.get(id);
    const isInVain = known?.digest === digest && known.resourceVersion === metadata.resourceVersion;
    return isInVain ? Math.max(0, known.notBeforeMs - performance.now()) : 0;
  }

  /** Whether anything was written to an object lately. */
  has(id: string): boolean {
    return this.#once.has(id) || this.#repairs.has(id);
  }

  /** Records that content was written to an object. */
  wrote(id: string, digest: string): void {
    const before = this.#remembered(id, digest);
    const count = before === undefined ? 0 : before.count + 1;
    const wait = count < FREE_REPAIRS ? 0 : backoffMs(count - FREE_REPAIRS, REPAIR_BACKOFF, Math.random);
    // The one that was written last comes last.
    this.#once.delete(id);
    this.#repairs.delete(id);
    (count === 0 ? this.#once : this.#repairs).set(id, { digest, count, notBeforeMs: performance.now() + wait });
    this.#forgetOld();
  }

  /** Number of objects whose writes are remembered. */
  get size(): number {
    return new Set([...this.#once.keys(), ...this.#repairs.keys(), ...this.#undone.keys(), ...this.#addedTo.keys()])
      .size;
  }

  /**
   * Records that an object, as the API server returned it, does not have the content that was just written to it.
   * @param isAdded whether it has that, and labels or annotations more
   * @returns how long to wait before that is written again, in milliseconds
   */
  inVain(id: string, digest: string, { metadata: { resourceVersion } }: KubeObject, isAdded: boolean): number {
    const waitMs = isAdded ? ADDED_WAIT_MS : IN_VAIN_WAIT_MS;
    // The one that is written again last comes last.
    this.#undone.delete(id);
    this.#addedTo.delete(id);
    const known = { digest, resourceVersion, notBeforeMs: performance.now() + waitMs };
    (isAdded ? this.#addedTo : this.#undone).set(id, known);
    this.#forgetOld();
    return waitMs;
  }

  /** Forgets an object that is gone. */
  forget(id: string): void {
    this.#once.delete(id);
    this.#repairs.delete(id);
    this.#undone.delete(id);
    this.#addedTo.delete(id);
  }

  /** Forgets what says nothing any more: others may have deleted the object, as with its namespace. */
  #forgetOld(): void {
    const now = performance.now();
    const inVain = [this.#undone, this.#addedTo].map((objects) => [objects, 0] as const);
    for (const [repairs, memoryMs] of [...this.#memories(), ...inVain]) {
      for (const [id, { notBeforeMs }] of repairs) {
        if (now - notBeforeMs < memoryMs) break;
        repairs.delete(id);
      }
    }
  }

  #memories(): readonly (readonly [Map<string, Repair>, number])[] {
    return [
      [this.#once, ONCE_MEMORY_MS],
      [this.#repairs, REPAIR_MEMORY_MS],
    ];
  }

  #remembered(id: string, digest: string): Repair | undefined {
    for (const [repairs, memoryMs] of this.#memories()) {
      const repair = repairs.get(id);
      const isRecent = repair !== undefined && performance.now() - repair.notBeforeMs < memoryMs;
      if (isRecent && repair.digest === digest) return repair;
    }
    return undefined;
  }
}

/**
 * How long a cluster without a Link keeps its mirrors (rule E5). Another Link can take them over for a moment, as when a
 * Link is renamed, and those of Links that vanished all at once stay as long as Links may return.
 */
import type { LinkPresence } from './presence.ts';

/** Time that a cluster may be without a Link before its mirrors are removed: a rename takes a moment. */
const REMOVAL_GRACE_MS = 2_000;
/** Time between two looks, in that time, whether Links can be there at all. */
const PRESENCE_PERIOD_MS = 500;
/** Longest time between two looks while Links may return: a person may say meanwhile that they will not. */
const LOOK_MS = 10_000;
/** Time between two looks while a Link is there that no watch has shown. */
const UNSEEN_MS = 1_000;

export interface GraceOptions {
  readonly presence: Pick<LinkPresence, 'holdMs'>;
  /** Asks the API server whether a Link has a cluster. @throws ApiError or ConnectionError if it does not say */
  readonly isLinked: (cluster: string, signal: AbortSignal) => Promise<boolean>;
  /** @default 2000 */
  readonly removalGraceMs?: number | undefined;
}

export class Grace {
  readonly #presence: Pick<LinkPresence, 'holdMs'>;
  readonly #isLinked: GraceOptions['isLinked'];
  readonly #removalGraceMs: number;
  /** When each cluster was first found to have no Link, on the monotonic clock. */
  readonly #unlinkedMs = new Map<string, number>();

  constructor({ presence, isLinked, removalGraceMs = REMOVAL_GRACE_MS }: GraceOptions) {
    this.#presence = presence;
    this.#isLinked = isLinked;
    this.#removalGraceMs = removalGraceMs;
  }

  /**
   * Returns after how many milliseconds a cluster without a Link must be looked at again, as it keeps its mirrors until
   * then; 0 if they may be removed.
   * @param isUnlinked whether a person has removed the Link that it had
   * @throws ApiError or ConnectionError if the API server does not say whether Links can be there, or are
   */
  async leftMs(cluster: string, signal: AbortSignal, isUnlinked: () => Promise<boolean>): Promise<number> {
    const sinceMs = this.#unlinkedMs.get(cluster) ?? performance.now();
    this.#unlinkedMs.set(cluster, sinceMs);
    // Asked from the beginning: a CRD that is replaced is away for a moment only.
    const holdMs = await this.#presence.holdMs(sinceMs, signal, isUnlinked);
    if (holdMs > 0) return Math.min(holdMs, LOOK_MS);
    const graceMs = sinceMs + this.#removalGraceMs - performance.now();
    if (graceMs > 0) return Math.min(graceMs, PRESENCE_PERIOD_MS);
    // A watch may be late, and a Link that was made anew is all that keeps the mirrors.
    return (await this.#isLinked(cluster, signal)) ? UNSEEN_MS : 0;
  }

  /** Ends the time of a cluster: it has a Link again, or its mirrors are removed. */
  end(cluster: string): void {
    this.#unlinkedMs.delete(cluster);
  }
}

/**
 * Grace period in which a cluster without a Link keeps its mirrors (rule E5). If a new Link names the cluster within
 * this period, its session uses these mirrors instead of new ones. So a user can rename a Link. The period is 2 s. If
 * all Links vanished at once, it is longer: it lasts while no Link can be created, because the CRD or the namespace of
 * Links is missing or being deleted, and then for `returnGraceMs`, 10 minutes by default.
 */
import type { LinkPresence } from './presence.ts';

/**
 * Grace period if not all Links vanished at once, in milliseconds. A user renames a Link by deleting it and creating it
 * under another name, which takes a moment.
 */
const REMOVAL_GRACE_MS = 2_000;
/** Longest time between two checks of whether Links can exist at all, within the grace period, in milliseconds. */
const PRESENCE_PERIOD_MS = 500;
/**
 * Longest time between two checks while mirrors wait for Links to return, in milliseconds. The operator notices within
 * this time that a `linkspan unlink` has ended the wait.
 */
const LOOK_MS = 10_000;
/** Time between two checks while the API server lists a Link that no watch has shown, in milliseconds. */
const UNSEEN_MS = 1_000;

export interface GraceOptions {
  readonly presence: Pick<LinkPresence, 'holdMs'>;
  /**
   * Asks the API server whether the mirrors of a cluster must stay: see `isLinked` in `listed.ts`.
   * @throws ApiError or ConnectionError if there is no answer
   */
  readonly isLinked: (cluster: string, signal: AbortSignal) => Promise<boolean>;
  /**
   * Grace period if not all Links vanished at once, in milliseconds.
   * @default 2000
   */
  readonly removalGraceMs?: number | undefined;
}

export class Grace {
  readonly #presence: Pick<LinkPresence, 'holdMs'>;
  readonly #isLinked: GraceOptions['isLinked'];
  readonly #removalGraceMs: number;
  /** When each cluster was first found to have no Link, on the monotonic clock. */
  readonly #goneMs = new Map<string, number>();
  /**
   * Clusters whose Link a person has removed with `linkspan unlink`, as the Link's Lease has shown. The operator
   * remembers these clusters, because a session renews the Lease when it ends, and a renewed Lease no longer shows who
   * removed the Link.
   */
  readonly #unlinked = new Set<string>();

  constructor({ presence, isLinked, removalGraceMs = REMOVAL_GRACE_MS }: GraceOptions) {
    this.#presence = presence;
    this.#isLinked = isLinked;
    this.#removalGraceMs = removalGraceMs;
  }

  /**
   * Returns the time until a cluster without a Link must be checked again, in milliseconds; 0 if its mirrors can be
   * removed now.
   * @param isUnlinked reports whether a person has removed the cluster's Link with `linkspan unlink`. Its argument
   *   `goneMs` is the time at which the cluster was first found to have no Link, in milliseconds since the epoch
   * @throws ApiError or ConnectionError if the API server does not answer
   */
  async leftMs(
    cluster: string,
    signal: AbortSignal,
    isUnlinked: (goneMs: number) => Promise<boolean>,
  ): Promise<number> {
    const sinceMs = this.#goneMs.get(cluster) ?? performance.now();
    this.#goneMs.set(cluster, sinceMs);
    const goneMs = Date.now() - (performance.now() - sinceMs);
    const isKnown = async (): Promise<boolean> => {
      if (!this.#unlinked.has(cluster) && (await isUnlinked(goneMs))) this.#unlinked.add(cluster);
      return this.#unlinked.has(cluster);
    };
    // A CRD that is replaced is missing only for a moment. To notice this, the operator checks from the start of the
    // grace period whether Links can exist.
    const holdMs = await this.#presence.holdMs(sinceMs, signal, isKnown);
    if (holdMs > 0) return Math.min(holdMs, LOOK_MS);
    const graceMs = sinceMs + this.#removalGraceMs - performance.now();
    if (graceMs > 0) return Math.min(graceMs, PRESENCE_PERIOD_MS);
    // The mirrors must stay if a Link was created again. The watch might be late to show that Link.
    return (await this.#isLinked(cluster, signal)) ? UNSEEN_MS : 0;
  }

  /**
   * Ends the grace period of a cluster. Called when its mirrors do not have to be removed, or when their removal has
   * ended.
   */
  end(cluster: string): void {
    this.#goneMs.delete(cluster);
    this.#unlinked.delete(cluster);
  }
}

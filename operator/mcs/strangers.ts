/**
 * Decides when the parts of strangers end (rule K5). A stranger is a cluster that has a part in a ServiceImport of this
 * operator, although no Link has named the cluster, and no Lease has recorded it, since the operator started. Strangers
 * exist because ServiceImports are written without the Leases of Links. While another controller holds the Lease of a
 * Link, no Lease records the cluster of the Link. If that Link is deleted while no operator runs, the part of the
 * cluster is the only trace of the Link. The part ends if no Link of the cluster comes back within a grace period.
 */
import { RETURN_GRACE_MS } from '../runtime/absence.ts';
import type { Logger } from '../runtime/logger.ts';
import { type Outcome, soonest } from '../runtime/outcome.ts';
import { Departures } from '../target/certain/departures.ts';

/**
 * How long the operator waits before it asks the API server again about a stranger whose grace period is over, in
 * milliseconds.
 */
const LOOK_MS = 60_000;

export interface LinkSearch {
  /**
   * Reports whether no Link has named a cluster, and no Lease has recorded it, since the operator started. False while
   * no Link at all is known, because all Links may have vanished at once.
   */
  readonly isStranger: (cluster: string) => boolean;
  /**
   * Asks the API server for Links and Leases, and reports whether no Link names a cluster and no Lease records it.
   * False if there is no Link at all, because all Links may have vanished at once.
   * @throws ApiError or ConnectionError if there is no answer
   */
  readonly hasNoLink: (cluster: string, signal: AbortSignal) => Promise<boolean>;
}

export interface StrangersOptions {
  readonly search: LinkSearch;
  /**
   * Grace period: how long the part of a stranger is kept at least, in milliseconds, so that the Link of the stranger
   * can come back. @default 600000
   */
  readonly graceMs?: number | undefined;
}

export class Strangers {
  readonly #search: LinkSearch;
  readonly #times: Departures;
  /**
   * For each key of a ServiceImport, the strangers that have no Link, according to the last answer of the API server.
   * An answer is dropped after one attempt to end the parts of these strangers.
   */
  readonly #unlinked = new Map<string, ReadonlySet<string>>();

  constructor({ search, graceMs = RETURN_GRACE_MS }: StrangersOptions) {
    this.#search = search;
    this.#times = new Departures(graceMs);
  }

  /**
   * Notes which clusters have a part in a ServiceImport of this operator.
   * @returns the strangers among these clusters, and how much longer the grace period of each lasts, in milliseconds; 0
   *   or less once that period is over
   */
  update(key: string, clusters: readonly string[]): ReadonlyMap<string, number> {
    const strangers = this.#times.update(key, clusters.filter(this.#search.isStranger));
    this.#answered(key, new Set([...strangers.keys()].filter((cluster) => this.mayEnd(key, cluster))));
    return strangers;
  }

  /**
   * Reports whether the part of a stranger is allowed to end now, because the API server has answered that the stranger
   * has no Link.
   */
  mayEnd(key: string, cluster: string): boolean {
    return this.#unlinked.get(key)?.has(cluster) === true;
  }

  /**
   * Asks the API server about the strangers whose grace period is over. Each answer is valid for one attempt to end the
   * part.
   * @param strangers result of {@link update} in the same reconcile
   * @throws ApiError or ConnectionError if there is no answer
   */
  async ask(key: string, strangers: ReadonlyMap<string, number>, log: Logger, signal: AbortSignal): Promise<Outcome> {
    const unlinked = new Set<string>();
    for (const [cluster, leftMs] of strangers) {
      if (leftMs > 0 || this.mayEnd(key, cluster) || !(await this.#search.hasNoLink(cluster, signal))) continue;
      log.info({ controller: 'imports', service: key, cluster }, 'the cluster has no Link any more: its part ends');
      unlinked.add(cluster);
    }
    this.#answered(key, unlinked);
    const requeueAfterMs = soonest([...strangers.values()].map((ms) => (ms > 0 ? ms : LOOK_MS)));
    return { again: unlinked.size > 0, requeueAfterMs };
  }

  #answered(key: string, unlinked: ReadonlySet<string>): void {
    if (unlinked.size === 0) this.#unlinked.delete(key);
    else this.#unlinked.set(key, unlinked);
  }
}

/**
 * Clusters that have a part in a ServiceImport of this operator, although no Link and no Lease has named them since the
 * operator started (rule K5). ServiceImports are written without the Leases of Links. While another controller holds
 * the Lease of a Link, no Lease records its cluster. If that Link is deleted while no operator runs, the part is the
 * only trace of it. The part ends when no Link has come back for a while.
 */
import { RETURN_GRACE_MS } from '../runtime/absence.ts';
import type { Logger } from '../runtime/logger.ts';
import { type Outcome, soonest } from '../runtime/outcome.ts';
import { Departures } from '../target/certain/departures.ts';

/** Time until the API server is asked again, if it lists a Link or a Lease of the cluster, in milliseconds. */
const LOOK_MS = 60_000;

export interface LinkSearch {
  /**
   * Reports whether there are Links, but none has named a cluster, and no Lease has recorded it, since the operator
   * started.
   */
  readonly isStranger: (cluster: string) => boolean;
  /**
   * Asks the API server whether there are Links, but none names a cluster, and no Lease records it.
   * @throws ApiError or ConnectionError if there is no answer
   */
  readonly hasNoLink: (cluster: string, signal: AbortSignal) => Promise<boolean>;
}

export interface StrangersOptions {
  readonly search: LinkSearch;
  /** How long a part stays, in milliseconds, since its Link may come back. @default 600000 */
  readonly graceMs?: number | undefined;
}

export class Strangers {
  readonly #search: LinkSearch;
  readonly #times: Departures;
  /** Clusters that have no Link, by the answer of the API server; by the key of the ServiceImport. */
  readonly #unlinked = new Map<string, ReadonlySet<string>>();

  constructor({ search, graceMs = RETURN_GRACE_MS }: StrangersOptions) {
    this.#search = search;
    this.#times = new Departures(graceMs);
  }

  /**
   * Notes which clusters have a part in a ServiceImport of this operator.
   * @returns the strangers among them whose part may not end yet, and how much longer each keeps it, in milliseconds; 0
   *   or less if only the API server has yet to be asked
   */
  update(key: string, clusters: readonly string[]): ReadonlyMap<string, number> {
    const strangers = this.#times.update(key, clusters.filter(this.#search.isStranger));
    this.#answered(key, new Set([...strangers.keys()].filter((cluster) => this.mayEnd(key, cluster))));
    return strangers;
  }

  /** Reports whether the part of a stranger may end now. */
  mayEnd(key: string, cluster: string): boolean {
    return this.#unlinked.get(key)?.has(cluster) === true;
  }

  /**
   * Asks the API server about strangers whose time is over. Each answer is valid for one attempt to end the part.
   * @param strangers what {@link update} returned before that attempt
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

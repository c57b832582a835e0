/**
 * Since when pods have been gone that have something here: an endpoint mirror (rule D11), or a Service of a ServiceImport
 * (rule K3). It is kept in memory: an operator that starts gives each pod that is gone the whole grace period.
 */
export class Departures {
  readonly #graceMs: number;
  readonly #sinceMs = new Map<string, ReadonlyMap<string, number>>();

  /** @param graceMs how long a pod may be gone before what it has is deleted */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /**
   * Notes which pods of a Service are gone now.
   * @param gone hostnames of the pods that have something here and are gone
   * @returns how long each keeps it, in milliseconds; 0 or less: no longer
   */
  update(key: string, gone: Iterable<string>): ReadonlyMap<string, number> {
    const now = performance.now();
    const before = this.#sinceMs.get(key);
    const since = new Map([...gone].map((hostname) => [hostname, before?.get(hostname) ?? now]));
    if (since.size === 0) this.#sinceMs.delete(key);
    else this.#sinceMs.set(key, since);
    return new Map([...since].map(([hostname, sinceMs]) => [hostname, sinceMs + this.#graceMs - now]));
  }
}

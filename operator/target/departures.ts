/**
 * Since when pods that have an endpoint mirror have been gone (rule D11). It is kept in memory: an operator that starts
 * gives each pod that is gone the whole grace period.
 */
export class Departures {
  readonly #sinceMs = new Map<string, ReadonlyMap<string, number>>();

  /**
   * Notes which pods of a Service are gone now.
   * @param gone hostnames of the pods that have an endpoint mirror and are gone
   * @returns how long each has been gone, in milliseconds
   */
  update(key: string, gone: Iterable<string>): ReadonlyMap<string, number> {
    const now = performance.now();
    const before = this.#sinceMs.get(key);
    const since = new Map([...gone].map((hostname) => [hostname, before?.get(hostname) ?? now]));
    if (since.size === 0) this.#sinceMs.delete(key);
    else this.#sinceMs.set(key, since);
    return new Map([...since].map(([hostname, sinceMs]) => [hostname, now - sinceMs]));
  }
}

/**
 * Remembers when pods were found to be gone, as long as they still have an endpoint mirror (rule D11) or a Service of
 * their own from a ServiceImport (rule K3). The times are kept in memory: after a restart each such pod gets the whole
 * grace period again.
 */
export class Departures {
  readonly #graceMs: number;
  readonly #sinceMs = new Map<string, ReadonlyMap<string, number>>();

  /** @param graceMs time between the end of a pod and the deletion of its objects, in milliseconds */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /**
   * Notes which pods of a Service are gone now.
   * @param gone hostnames of pods that are gone and still have objects
   * @returns how much longer each of these pods keeps its objects, in milliseconds, by hostname; 0 or less if the time
   *   is over
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

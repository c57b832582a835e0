/**
 * Remembers when pods were found to be gone, and when strangers were found. Their objects then stay for a grace period:
 * - a pod that is gone keeps its endpoint mirror (rule D11), and the Service that stands for it in a ServiceImport
 *   (rule K3);
 * - a stranger keeps its part in a ServiceImport (rule K5).
 *
 * The times are kept only in memory: after a restart, the whole grace period begins again.
 */
export class Departures {
  readonly #graceMs: number;
  readonly #sinceMs = new Map<string, ReadonlyMap<string, number>>();

  /** @param graceMs how long the objects stay, in milliseconds */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /**
   * Notes which pods of a Service are gone now, or which strangers have a part in a ServiceImport now. Forgets all
   * others that were noted under the same key.
   * @param key identifies the Service or the ServiceImport
   * @param gone hostnames of pods that are gone and still have objects, or cluster names of strangers
   * @returns how much longer the objects of each of these stay, in milliseconds, by hostname or cluster name; 0 or less
   *   if the time is over
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

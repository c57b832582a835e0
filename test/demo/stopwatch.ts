/** Time for people to read. */

/** Time since its start. */
export interface Stopwatch {
  readonly ms: () => number;
  /** As in `207 ms` or `1.2 s`. */
  readonly text: () => string;
}

/** Starts one. */
export const stopwatch = (): Stopwatch => {
  const start = performance.now();
  const ms = (): number => performance.now() - start;
  const text = (): string => (ms() < 1000 ? `${ms().toFixed(0)} ms` : `${(ms() / 1000).toFixed(1)} s`);
  return { ms, text };
};

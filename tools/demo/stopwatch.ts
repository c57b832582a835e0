/** Time for people to read. */

/** Time since its start. */
export interface Stopwatch {
  readonly ms: () => number;
  /** As {@link duration} has it. */
  readonly text: () => string;
}

/** Starts one. */
export const stopwatch = (): Stopwatch => {
  const start = performance.now();
  const ms = (): number => performance.now() - start;
  return { ms, text: () => duration(ms()) };
};

/** A number of milliseconds, as in `207 ms` or `1.2 s`. */
export const duration = (ms: number): string => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`);

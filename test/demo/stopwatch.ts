/** Time for people to read. */

/** Starts a stopwatch; the function that it returns reads it, as in `207 ms` or `1.2 s`. */
export const stopwatch = (): (() => string) => {
  const start = performance.now();
  return () => {
    const ms = performance.now() - start;
    return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
  };
};

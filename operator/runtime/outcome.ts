/** What one reconcile came to. */
export interface Outcome {
  /** Reconcile the key again at once: what was written changes what is to be done. */
  readonly again?: boolean;
  /** Nothing failed, but reconcile the key again after so long, in milliseconds. */
  readonly requeueAfterMs?: number | undefined;
  /** Nothing could be done yet: what has failed before is still to be done, and is not tried sooner for that. */
  readonly isPending?: boolean;
  /** What failed and is not logged by the controller, since the reconcile reports it itself. */
  readonly errors?: readonly unknown[];
}

/** All of these as one: of several waits the shortest. */
export function merged(outcomes: readonly Outcome[]): Outcome {
  return {
    again: outcomes.some(({ again }) => again === true),
    isPending: outcomes.some(({ isPending }) => isPending === true),
    errors: outcomes.flatMap(({ errors = [] }) => errors),
    requeueAfterMs: soonest(outcomes.map(({ requeueAfterMs }) => requeueAfterMs)),
  };
}

/** Returns the least of these times that comes; undefined if none does. */
export function soonest(timesMs: Iterable<number | undefined>): number | undefined {
  let least = Infinity;
  for (const each of timesMs) least = Math.min(least, each ?? Infinity);
  return least === Infinity ? undefined : least;
}

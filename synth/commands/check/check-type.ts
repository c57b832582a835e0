/** A check: what it is called, what it means when it fails, and how it judges what was read. Pure. */

/** One thing that is wrong. */
export interface Finding {
  /** An error is broken now; a warning will break, or could not be looked at. */
  readonly level: 'warning' | 'error';
  /** The object and its cluster, as in `Link linkerd-multicluster/west`. */
  readonly object: string;
  /** Completes "`object`: …". */
  readonly reason: string;
  /** What the user can do; each command stands between backticks. */
  readonly remedy: string;
}

/** What is wrong, nothing if all is well; or why it could not be judged, if another check reports the cause. */
export type Judgement =
  | {
      readonly findings: readonly Finding[];
      /** What could not be judged, and why; another check reports the cause. */
      readonly partly?: string | undefined;
    }
  | { readonly skipped: string };

/** A check of what was read. */
export interface Check<Facts> {
  /** Stable: in JSON, and the anchor in docs/checks.md. */
  readonly id: string;
  readonly category: string;
  /** What is so when all is well. */
  readonly title: string;
  /** What does not work when it is not so, for the page of checks. */
  readonly means: string;
  /** What to do, for the page of checks. */
  readonly remedy: string;
  readonly judge: (facts: Facts) => Judgement;
}

export const error = (object: string, reason: string, remedy: string): Finding => ({
  level: 'error',
  object,
  reason,
  remedy,
});

export const warning = (object: string, reason: string, remedy: string): Finding => ({
  level: 'warning',
  object,
  reason,
  remedy,
});

export const judged = (findings: readonly Finding[], partly?: string): Judgement => ({ findings, partly });
export const skipped = (reason: string): Judgement => ({ skipped: reason });

/** What docs/spec/ has of a kind beside its schema. */

/** Reasons of one condition, each with its meaning. */
export interface ConditionReasons {
  readonly type: string;
  /** What the condition is about. */
  readonly about: string;
  readonly reasons: Readonly<Record<string, string>>;
}

/** The page of a kind. */
export interface KindPage {
  readonly kind: string;
  readonly intro: string;
  readonly example: string;
  readonly schema: object;
  readonly conditions: readonly ConditionReasons[];
  /** What happens, by occasion: Markdown. */
  readonly when: Readonly<Record<string, string>>;
  /** Files of operator/ that say the reasons, without their ending. */
  readonly sources: readonly string[];
  /** Words of these files that are reasons of another kind. */
  readonly elsewhere?: readonly string[];
}

/** Meaning of the reason that most conditions begin with. */
export const PENDING = 'not known yet; nothing is wrong';

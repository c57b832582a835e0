/**
 * A suite that must hold on every API server there is. Apart from index.ts, since that also serves programs that do
 * not run under vitest.
 */
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { backings } from './backings.ts';
import type { Backing } from './types.ts';

let current: Backing | undefined;

/** The backing whose suite runs, if it is one of those below. */
export const currentBacking = (): Backing | undefined => current;

const suiteOn = (title: string, backing: Backing, suite: () => void): void => {
  describe(`${title} [${backing}]`, () => {
    beforeAll(() => {
      current = backing;
    });
    afterAll(() => {
      current = undefined;
    });
    suite();
  });
};

/**
 * `describe`, once for each backing of this run. A quick run has the real one alone, where there is one: what the
 * conformance suite compares holds on both.
 */
export const onEachBacking = (title: string, suite: (backing: Backing) => void): void => {
  const all = backings();
  const chosen = inject('isQuick') && all.includes('real') ? (['real'] as const) : all;
  for (const backing of chosen) suiteOn(title, backing, () => suite(backing));
};

/** `describe`, once for each backing, in quick runs too: for suites that compare them. */
export const onBothBackings = (title: string, suite: (backing: Backing) => void): void => {
  for (const backing of backings()) suiteOn(title, backing, () => suite(backing));
};

/** `describe` for what only real servers can show; skipped, visibly, where there are none. */
export const onReal = (title: string, suite: () => void): void => {
  describe.runIf(backings().includes('real'))(`${title} [real]`, suite);
};

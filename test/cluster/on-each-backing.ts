/**
 * A suite that must hold on every API server there is. Apart from index.ts, since that also serves programs that do
 * not run under vitest.
 */
import { describe } from 'vitest';
import { backings } from './backings.ts';
import type { Backing } from './types.ts';

/** `describe`, once for each backing of this run. */
export const onEachBacking = (title: string, suite: (backing: Backing) => void): void => {
  for (const backing of backings()) describe(`${title} [${backing}]`, () => suite(backing));
};

/** `describe` for what only real servers can show; skipped, visibly, where there are none. */
export const onReal = (title: string, suite: () => void): void => {
  describe.runIf(backings().includes('real'))(`${title} [real]`, suite);
};

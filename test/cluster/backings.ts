/**
 * The backings that this run has. Test suites ask here instead of trying: suites on a backing that is missing do not
 * run, and the global set-up reports that once.
 */
import { missingBinaries } from './real/binaries.ts';
import type { Backing } from './types.ts';

/** Names the backings of a run, separated by commas; set by the global set-up, or by hand to run on fewer. */
export const BACKINGS_VARIABLE = 'LINKSPAN_TEST_BACKINGS';

const isBacking = (name: string): name is Backing => name === 'real' || name === 'simulated';

/**
 * The backings to run on: what the environment names, else both, without `real` where its programs are not built.
 * @throws Error when the environment names one that does not exist
 */
export const backings = (): readonly Backing[] => {
  const named = process.env[BACKINGS_VARIABLE];
  if (named === undefined || named === '')
    return missingBinaries().length === 0 ? ['simulated', 'real'] : ['simulated'];
  return named.split(',').map((name) => {
    if (isBacking(name)) return name;
    throw new Error(`${BACKINGS_VARIABLE}: "${name}" is neither real nor simulated`);
  });
};

/** Ends the tests that look for a defect with the process that tries defects: a defect may make an endless loop of them. */
import { endWithNpm } from '../cluster/real/npm-parent.ts';

/** Run by vitest before the tests. */
export const setup = endWithNpm;

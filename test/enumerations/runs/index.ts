/** All reference runs. */
import type { Run } from '../run.ts';
import { joinedRuns } from './joined.ts';
import { linkRuns } from './links.ts';
import { mirrorRuns } from './mirrors.ts';
import { severalLinksRuns } from './several-links.ts';
import { runsBesideOthers } from './others.ts';

export const RUNS: readonly Run[] = [
  ...mirrorRuns,
  ...linkRuns,
  ...severalLinksRuns,
  ...joinedRuns,
  ...runsBesideOthers,
];

/** @throws RangeError if there is none of that name */
export function runOf(name: string): Run {
  const run = RUNS.find((each) => each.name === name);
  if (run === undefined) throw new RangeError(`no reference run is called "${name}"`);
  return run;
}

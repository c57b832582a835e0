/**
 * The track record: faults that the operator once had, as defects that put them back, who found each, and what finds it now.
 * Several defects together make one fault where more than one place guards against it. `npm run fuzz -- --defects` checks it;
 * docs/reliability.md shows it.
 */
import type { Defect } from './defect.ts';
import { DEFECTS } from './defects/index.ts';
import type { Fault } from './faults/fault.ts';
import { FOUND } from './faults/found.ts';
import { REPORTED } from './faults/reported.ts';

export const FAULTS: readonly Fault[] = [...REPORTED, ...FOUND];

/**
 * Returns the defect of a name.
 * @throws RangeError if there is none
 */
export function defectOf(name: string): Defect {
  const defect = DEFECTS.find((each) => each.name === name);
  if (defect === undefined) throw new RangeError(`no defect is called "${name}": see test/mutants/defects`);
  return defect;
}

/** The track record of docs/reliability.md, from test/mutants/faults.ts. */
import { defectOf, FAULTS } from '../../mutants/faults.ts';
import type { Fault } from '../../mutants/faults/fault.ts';

const BEFORE = 'reports and reading';

export function trackRecord(): string {
  const rows = FAULTS.map(
    (fault) =>
      `| ${fault.rule}: ${fault.defects.map(withoutRule).join('; ')} | ${fault.by ?? BEFORE} | ${finderOf(fault)} |`,
  );
  return ['| fault | found by | what finds it now |', '| --- | --- | --- |', ...rows].join('\n');
}

/** Some defects are named after the rules that they break. */
const withoutRule = (name: string): string => name.replace(/^([A-Z]\d+ )+/, '');

function finderOf({ needed, plans, outside, defects }: Fault): string {
  if (outside !== undefined) {
    const tests = new Set(defects.map(defectOf).flatMap((each) => each.tests));
    return `${[...tests].map((test) => `\`${test}\``).join(', ')}: ${outside}`;
  }
  const count = needed === undefined ? '' : `, ${needed.toLocaleString('en')}`;
  return plans === undefined ? `histories${count}` : `${plans.class}${count} plans of "${plans.named}"`;
}

/** Faults of commands that a review found. */
import type { Defect } from '../defect.ts';

export const COMMANDS: readonly Defect[] = [
  {
    name: 'uninstall refuses because of Links that are handed back',
    file: 'synth/commands/install/links-left.ts',
    rule: 'H9',
    find: "isSuspended(link) && writer === 'another'",
    replace: 'false',
    tests: ['test/synth/commands/install/needed.test.ts'],
  },
  {
    name: 'uninstall leaves a suspended Link that nobody writes for',
    file: 'synth/commands/install/links-left.ts',
    rule: 'H9',
    find: "isSuspended(link) && writer === 'another'",
    replace: 'isSuspended(link)',
    tests: ['test/synth/commands/install/needed.test.ts'],
  },
  {
    name: 'uninstall leaves federated Services of clusters that no Link is handed back of',
    file: 'synth/commands/install/links-left.ts',
    rule: 'I7',
    find: "if (mode === 'gateway' || [...clusters].some((each) => !handedBack.has(each))) return undefined;",
    replace: "if (mode === 'gateway') return undefined;",
    tests: ['test/synth/commands/install/needed.test.ts'],
  },
];

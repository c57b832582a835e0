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
  {
    name: 'an account that is limited to namespaces reads all after the next mint',
    file: 'synth/commands/link/access-read.ts',
    find: 'held.link?.spec?.targetNamespaces ?? limitsOf(account)',
    replace: 'held.link?.spec?.targetNamespaces ?? []',
    tests: ['test/synth/commands/credentials/credentials.test.ts', 'test/synth/commands/link/again.test.ts'],
  },
  {
    name: 'allow leaves rights in the whole cluster to an account that it limits to namespaces',
    file: 'synth/commands/link/allow.ts',
    find: 'const stale = staleRights(read, objects);',
    replace: 'const stale = staleRights(read, objects).slice(0, 0);',
    tests: ['test/synth/commands/link/link-gen.test.ts'],
  },
  {
    name: 'allow deletes rights that others have set',
    file: 'synth/commands/link/allow.ts',
    find: 'flags.forceConflicts ? [] : stale.flatMap',
    replace: 'objects.length > 0 ? [] : stale.flatMap',
    tests: ['test/synth/commands/link/link-gen.test.ts'],
  },
  {
    name: 'link-gen makes a Link that reads more than its account may',
    file: 'synth/commands/link/link-gen.ts',
    find: 'const limits = limitsOf(account);',
    replace: 'const limits = limitsOf(account).slice(0, 0);',
    tests: ['test/synth/commands/link/link-gen.test.ts'],
  },
];

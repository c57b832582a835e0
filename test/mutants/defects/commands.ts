import type { Defect } from '../defect.ts';

const LINK_GEN = ['test/synth/commands/link/link-gen.test.ts'];
const LINK = ['test/synth/commands/link/link.test.ts'];

export const COMMANDS: readonly Defect[] = [
  {
    name: 'a gateway without an identity is linked to',
    file: 'synth/commands/link/gateway.ts',
    find: "if (identity === '') {",
    replace: 'if (identity === undefined) {',
    tests: ['test/synth/commands/link/gateway.test.ts'],
  },
  {
    name: 'the address of an API server that only this machine reaches is written into credentials',
    file: 'synth/commands/link/api-server.ts',
    find: "OWN_MACHINE.addSubnet('127.0.0.0', 8);",
    replace: '',
    tests: ['test/synth/commands/link/api-server.test.ts'],
  },
  {
    name: 'credentials are deleted while mirrors are left',
    file: 'synth/commands/link/unlink.ts',
    find: 'await untilRemoved(source, names.targetName, flags);',
    replace: '',
    tests: LINK,
  },
  {
    name: 'a Link is written without --apply',
    file: 'synth/commands/link/link.ts',
    find: 'if (!flags.apply) {',
    replace: 'if (flags.output) {',
    tests: LINK,
  },
  {
    name: 'credentials are made of the token of another account',
    file: 'synth/commands/link/token.ts',
    find: '.filter(({ metadata }) => metadata.annotations?.[Annotation.serviceAccountName] === name)',
    replace: '.filter(({ metadata }) => metadata.name !== name)',
    tests: LINK_GEN,
  },
  {
    name: 'allow gives rights to an account that others have made',
    file: 'synth/commands/link/allow.ts',
    find: 'if (found === undefined) return;',
    replace: 'if (found !== undefined) return;',
    tests: LINK_GEN,
  },
  {
    name: 'a label query that excludes a label asks for it',
    file: 'synth/commands/link/label-query.ts',
    find: "negation === '!'",
    replace: "negation === '-'",
    tests: ['test/synth/commands/link/label-query.test.ts'],
  },
];

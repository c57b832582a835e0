import type { Defect } from '../defect.ts';

const HISTORIES = 'test/operator/access/histories.test.ts';

export const ACCESS: readonly Defect[] = [
  {
    name: 'L133 a set of clients that may also open opaque connections is desired twice',
    file: 'operator/access/decide.ts',
    rule: 'L133',
    find: '[...clients].map(([set, identities]) => authentication(namespace, set, identities)),',
    replace:
      '[...[...clients].map(([set, identities]) => authentication(namespace, set, identities)), ...(tcp.identities === undefined ? [] : [authentication(namespace, setId(tcp.identities), tcp.identities)])],',
    tests: [HISTORIES],
  },
];

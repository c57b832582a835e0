import type { Defect } from '../defect.ts';

export const GATEWAY: readonly Defect[] = [
  {
    file: 'operator/gateway/addresses.ts',
    tests: ['test/operator/gateway/addresses.test.ts'],
    name: 'every address that a name leads to is used',
    rule: 'E10',
    find: '.slice(0, MAX_ADDRESSES)',
    replace: '',
  },
];

import type { Defect } from '../defect.ts';

const OBSERVED = { file: 'operator/gateway/gateway.ts', tests: ['test/operator/gateway/gateway.test.ts'] };

export const GATEWAY: readonly Defect[] = [
  {
    file: 'operator/gateway/addresses.ts',
    tests: ['test/operator/gateway/addresses.test.ts'],
    name: 'every address that a name leads to is used',
    rule: 'E10',
    find: '.slice(0, MAX_ADDRESSES)',
    replace: '',
  },
  {
    ...OBSERVED,
    name: 'a gateway without a known address fails its probes',
    rule: 'L126',
    find: 'return found.length === 0 ? undefined : found;',
    replace: "return found.length === 0 && config.probeVia === 'service' ? undefined : found;",
  },
  {
    ...OBSERVED,
    name: 'a gateway whose name does not resolve after a restart is not probed',
    rule: 'L126',
    find: '(addresses.length > 0 ? addresses : listedAddresses())',
    replace: 'addresses',
  },
];

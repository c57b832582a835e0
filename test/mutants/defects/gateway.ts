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
    find: '{ ...this.#inUse, port: probe.port } : listed()',
    replace: '{ ...this.#inUse, port: probe.port } : { ...listed(), addresses: [] }',
  },
  {
    ...OBSERVED,
    name: 'a gateway that is probed no more is measured as it was',
    find: 'for (const former of [gatewayAlive, gatewayLatency]) former.remove(this.#labels);',
    replace: '',
  },
  {
    file: 'operator/gateway/addresses.ts',
    tests: ['test/operator/gateway/addresses.test.ts'],
    name: 'a half answer of DNS counts as one without the other addresses',
    rule: 'L127',
    find: 'if (familyOf(address) === unanswered) continue;',
    replace: '',
  },
  {
    file: 'operator/gateway/addresses.ts',
    tests: ['test/operator/gateway/addresses.test.ts'],
    name: 'L158 an answer of DNS about one family drops nothing of that family',
    rule: 'L158',
    find: 'if (familyOf(address) === unanswered) continue;',
    replace: 'if (unanswered !== undefined) continue;',
  },
  {
    file: 'operator/gateway/addresses.ts',
    tests: ['test/operator/gateway/addresses.test.ts'],
    name: 'a name that leads to another family alone is no problem while there are addresses',
    rule: 'L128',
    find: '} else if (!answer.addresses.some(isOfCluster)) {',
    replace: '} else if (known.size === 0 && !answer.addresses.some(isOfCluster)) {',
  },
  {
    ...OBSERVED,
    name: 'L156 a gateway that stays in use is probed as the one that the Link has now',
    rule: 'L156',
    find: 'return (this.#inUse ?? this.#settings)?.probe;',
    replace: 'return this.#settings?.probe;',
  },
  {
    ...OBSERVED,
    name: 'L156 a gateway that could not be looked up counts as applied',
    rule: 'L156',
    find: 'isDeepStrictEqual(this.#inUse?.gateway, named)',
    replace: 'this.#lookup !== undefined',
  },
  {
    ...OBSERVED,
    name: 'L156 a verdict on the former gateway holds for the next',
    rule: 'L156',
    find: 'if (isAnother) this.#forgetVerdict();',
    replace: '',
  },
  {
    ...OBSERVED,
    name: 'L157 the former gateway is probed at the port of the next after a restart',
    rule: 'L157',
    find: '{ ...this.#inUse, port: probe.port } : listed()',
    replace: '{ ...this.#inUse, port: probe.port } : { ...listed(), port: probe.port }',
  },
  {
    file: 'operator/gateway/probe.ts',
    tests: ['test/operator/gateway/probe.test.ts'],
    name: 'L159 a probe asks the first address alone',
    rule: 'L159',
    find: 'await Promise.any(targets.map((target) => probe(target, options, either)));',
    replace: 'await Promise.any(targets.slice(0, 1).map((target) => probe(target, options, either)));',
  },
];

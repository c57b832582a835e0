import type { Defect } from '../defect.ts';

const LOSSES = { file: 'operator/target/certain/losses.ts', tests: ['test/operator/target/certain/losses.test.ts'] };

export const TARGET: readonly Defect[] = [
  {
    file: 'operator/target/renewal/ca-bundle.ts',
    tests: ['test/operator/target/renewal/ca-bundle.test.ts'],
    name: 'a new CA is lost if as many have expired',
    rule: 'L116',
    find: 'before.every(({ fingerprint256 }) => kept.has(fingerprint256))',
    replace: 'true',
  },
  {
    ...LOSSES,
    name: 'what a list has let go does not count with the next list',
    rule: 'L107',
    find: 'if (!this.#held.has(key)) this.#lacked.add(key);',
    replace: ';',
  },
  {
    file: 'operator/target/admitted.ts',
    tests: ['test/operator/target/admitted.test.ts'],
    name: 'what the policy does not admit is kept until the target denies it',
    rule: 'N4',
    find: 'return this.obstacleOf(key) !== undefined || this.#of.confirms(key);',
    replace: 'return this.#of.confirms(key);',
  },
  {
    file: 'crds/link/import-policy.ts',
    tests: ['test/crds/link/import-policy.test.ts'],
    name: 'one admitted port admits a Service',
    rule: 'N1',
    find: 'const closed = ports.find((port) => !admitsPort(ranges, port));',
    replace: 'const closed = ports.some((port) => admitsPort(ranges, port)) ? undefined : ports[0];',
  },
  {
    file: 'operator/target/admitted.ts',
    tests: ['test/operator/target/admitted.test.ts'],
    name: 'a pod that the policy excludes stays until the target denies it',
    rule: 'N4',
    find: 'of.excludes(key, hostname) || pods.lacks(key, hostname)',
    replace: 'pods.lacks(key, hostname)',
  },
  {
    file: 'crds/link/import-policy.ts',
    tests: ['test/crds/link/import-policy.test.ts'],
    name: 'what the policy admits needs no approval',
    rule: 'N2',
    find: 'if (approvals === undefined || isApproved(approvals, offered)) return undefined;',
    replace: 'if (approvals !== undefined || !approvals) return undefined;',
  },
  {
    file: 'operator/target/certain/certain.ts',
    tests: ['test/operator/target/certain/certain.test.ts'],
    name: 'changes of one key are not counted against the limit',
    rule: 'E10',
    find: '    this.#atMost += 1;\n',
    replace: '',
  },
  {
    ...LOSSES,
    name: 'what is held is not counted with what the next list takes',
    rule: 'E6',
    find: 'if (!this.#held.has(key) && !this.#lacked.has(key)) this.#leaving.add(key);',
    replace: 'if (!this.#lacked.has(key)) this.#leaving.add(key);',
  },
  {
    file: 'operator/target/credentials.ts',
    tests: ['test/operator/target/credentials.test.ts'],
    name: 'why a token that has ended is not renewed hides that it has ended',
    rule: 'P4',
    find: 'if (token !== undefined && token === this.#ended) return expired(token);',
    replace: '',
  },
];

import type { Defect } from '../defect.ts';

const LOSSES = { file: 'operator/target/certain/losses.ts', tests: ['test/operator/target/certain/losses.test.ts'] };

export const TARGET: readonly Defect[] = [
  {
    ...LOSSES,
    name: 'what is held is not counted with what the next list takes',
    rule: 'E6',
    find: 'if (!this.#held.has(key)) this.#leaving.add(key);',
    replace: 'this.#leaving.add(key);',
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

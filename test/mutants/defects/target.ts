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
];

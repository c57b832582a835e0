/** Refuses to run outside of the namespaces that `test/mesh/main.ts` makes: the suite changes networks and filters. */
import { isInside } from './inside.ts';

/** Run by vitest before the tests. */
export const setup = (): void => {
  if (!isInside()) throw new Error('run `npm run test:mesh`: the suite needs network namespaces of its own');
};

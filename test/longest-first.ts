/** The order of test files: those that take minutes begin first, so that no worker has one left when the others are done. */
import { matchesGlob, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONG = [
  'test/synth/stops/**',
  'test/release/examples/readmes.test.ts',
  'test/synth/owners/**',
  'test/enumerations/**',
  'test/simulation/histories.test.ts',
  'test/release/examples/examples.test.ts',
  'test/synth/commands/{plan/equality,check/faults}.test.ts',
  'test/release/{packaging,guides}/**',
  'test/demo/**',
  'test/e2e/{mcs-unknown,link-lives,leases,rights}.test.ts',
  'test/e2e/{federation,running,mcs-conformance,credentials,failover}.test.ts',
];

/** Where a file comes; those that are not named come last. */
const rank = ({ moduleId }: TestSpecification): number => {
  const path = relative(process.cwd(), moduleId);
  const at = LONG.findIndex((pattern) => matchesGlob(path, pattern));
  return at === -1 ? LONG.length : at;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

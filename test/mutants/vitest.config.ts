/** The tests that look for one defect: no real API servers are made ready, and the first failure is enough. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Not below node_modules, which every copy of the tree shares.
  cacheDir: '.vitest',
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/mutants/global-setup.ts'],
    env: { LINKSPAN_TEST_BACKINGS: 'simulated' },
    bail: 1,
    maxWorkers: 1,
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
});

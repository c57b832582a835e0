import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/mesh/**/*.test.ts'],
    globalSetup: ['test/mesh/global-setup.ts', 'test/cluster/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // One mesh serves all files, one after the other: it takes half a minute to start.
    isolate: false,
    fileParallelism: false,
    maxWorkers: 1,
  },
});

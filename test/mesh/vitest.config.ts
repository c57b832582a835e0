import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // What takes minutes is measured on demand: docs/mesh-tests.md.
    include: process.env['MESH_EXPORTS'] === undefined ? ['test/mesh/**/*.test.ts'] : ['test/mesh/scale.ts'],
    globalSetup: ['test/mesh/global-setup.ts', 'test/cluster/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // One mesh serves all files, one after the other: it takes half a minute to start.
    isolate: false,
    fileParallelism: false,
    maxWorkers: 1,
  },
});

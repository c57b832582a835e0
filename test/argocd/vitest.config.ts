import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/argocd/**/*.test.ts'],
    globalSetup: ['test/cluster/global-setup.ts', 'test/argocd/global-setup.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Two cores carry three clusters and Argo CD, once.
    fileParallelism: false,
  },
});

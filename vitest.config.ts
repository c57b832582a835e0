import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A suite of its own: npm run test:argocd.
    exclude: ['test/argocd/**'],
    globalSetup: ['test/cluster/global-setup.ts'],
    // A worker runs many files: it reads modules once, and lends its clusters to one file after the other.
    isolate: false,
    // A young generation in which short tests end before it is collected.
    execArgv: ['--max-semi-space-size=64'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // For two cores, which API servers and tests share. The tests mostly wait; CI takes longer rather than a risk.
    maxWorkers: process.env['CI'] === 'true' ? 2 : 3,
  },
});

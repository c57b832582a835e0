/** A run of one test, which waits with a real cluster until somebody kills it. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/cluster/left-behind/endless.ts'],
    globalSetup: ['test/cluster/global-setup.ts'],
    testTimeout: 600_000,
    isolate: false,
  },
});

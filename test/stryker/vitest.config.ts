/** The tests of the pure folders, which take milliseconds: those that start servers notice nothing sooner. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'test/crds/**/*.test.ts',
      'test/operator/{config,mirror,federation,mcs,failover}/*.test.ts',
      'test/operator/runtime/{plan,compare,compare-fields,managed-fields,workqueue}.test.ts',
    ],
    exclude: [
      'test/crds/link/server-side-apply.test.ts',
      'test/operator/federation/{federations,local-member}.test.ts',
      'test/operator/mcs/{imports,session-party}.test.ts',
      'test/operator/failover/failovers.test.ts',
    ],
    isolate: true,
    testTimeout: 120_000,
  },
});

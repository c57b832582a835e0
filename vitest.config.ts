import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** What takes a minute of CPU for little news of a change: installs from the registry, images, the demo as a process, Linkerd's chart on real API servers. */
const EXTRAS = [
  'test/demo/**',
  'test/release/packaging/**',
  'test/release/examples/readmes.test.ts',
  'test/release/guides/**',
  'test/constructs/over-linkerd.test.ts',
  // Commands on API servers, but for link and install; what they decide has unit tests.
  'test/synth/commands/check/{command,faults,healthy}.test.ts',
  'test/synth/commands/{credentials/credentials,explain/explain,gateways/gateways,status/status}.test.ts',
  'test/synth/commands/install/{round-trip,uninstall,upgrade}.test.ts',
  'test/synth/commands/link/link-gen.test.ts',
  'test/synth/commands/{migrate/migrate,plan/equality,plan/plan}.test.ts',
  // Name it after a change of the simulated API server.
  'test/cluster/conformance/**',
];
/** In CI, by `npm run test:all`, and where files are named. */
const isWhole =
  process.env['CI'] === 'true' ||
  process.env['LINKSPAN_TEST'] === 'all' ||
  process.argv.some((argument) => argument.startsWith('test/'));

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A suite of its own: npm run test:argocd.
    exclude: ['test/argocd/**', ...(isWhole ? [] : EXTRAS)],
    globalSetup: ['test/cluster/global-setup.ts'],
    provide: { notRun: isWhole ? [] : [...EXTRAS, 'test/e2e/** on simulated API servers'], isQuick: !isWhole },
    // A worker runs many files: it reads modules once, and lends its clusters to one file after the other.
    isolate: false,
    // A young generation in which short tests end before it is collected.
    execArgv: ['--max-semi-space-size=64'],
    // Node keeps what it compiled for the next of the programs that tests start: a third of their CPU time.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'linkspan-tests') },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // For two cores: the files wait for two thirds of their time. CI takes longer rather than a risk.
    maxWorkers: process.env['CI'] === 'true' ? 2 : 4,
  },
});

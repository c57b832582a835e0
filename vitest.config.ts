import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { ARGO_CD, EXTRAS, isWhole, leftOut, MESH } from './test/suites.ts';

const whole = isWhole(process.env, process.argv);
const isCI = process.env['CI'] === 'true';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [ARGO_CD, MESH, ...(whole ? [] : EXTRAS)],
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/cluster/global-setup.ts', 'test/synth/remedies/summary.ts'],
    provide: { notRun: whole ? [] : leftOut, isQuick: !whole },
    sequence: { sequencer: LongestFirst },
    // A worker runs many files: it reads modules once, and lends its clusters to one file after the other.
    isolate: false,
    // A young generation in which short tests end before it is collected.
    execArgv: ['--max-semi-space-size=64'],
    // Node keeps what it compiled for the next of the programs that tests start: a third of their CPU time.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'linkspan-tests') },
    // CI takes longer rather than a risk: its machines are as slow as their neighbours make them.
    testTimeout: isCI ? 180_000 : 60_000,
    hookTimeout: isCI ? 240_000 : 120_000,
    // For two cores: the files wait for two thirds of their time.
    maxWorkers: isCI ? 3 : 4,
  },
});

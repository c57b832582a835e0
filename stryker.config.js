/**
 * `npm run stryker` changes the code of the pure folders, and a test must notice each change; `-- --mutate GLOB` changes some
 * of it. What reads and writes clusters is held by the faults that it once had, which the search must find:
 * test/mutants/faults.ts.
 */
const PURE = [
  'crds/*.ts',
  'crds/*/settings.ts',
  'operator/mirror/*.ts',
  'operator/federation/{admission,awaited,decide,desired,member,member-slices,membership,operators,refusals}.ts',
  'operator/mcs/{cluster-ids,conflicts,decide,desired,exports,import-plan,membership,operators,pods,precedence,sources,status}.ts',
  'operator/failover/{decide,plan,readiness,routes,status}.ts',
  'operator/runtime/{plan,compare,managed-fields,workqueue}.ts',
];

export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/stryker/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // What only runs as a module loads is of all tests: it would take 99 % of the time.
  ignoreStatic: true,
  mutate: PURE,
  // Texts are read by people: tests name the few that matter.
  mutator: { excludedMutations: ['StringLiteral'] },
  ignorePatterns: ['/dist', '/docs', '/examples', '/tools', '/test/e2e'],
  concurrency: 2,
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  tempDirName: 'node_modules/.cache/stryker/copy',
};

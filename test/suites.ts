/**
 * Which tests `npm test` leaves to CI and to `npm run test:all`: those that take long and say little of a change. Each area
 * keeps a fast proof in `npm test`. A file that is not named here runs everywhere.
 */

/** A suite of its own: `npm run test:argocd`, which CI runs too. */
export const ARGO_CD = 'test/argocd/**';

/** Another: `npm run test:mesh`, which CI runs where Linkerd's programs are. */
export const MESH = 'test/mesh/**';

/** What is not run, as globs from the root of the repository. */
export const EXTRAS: readonly string[] = [
  // Installs from the registry, images, Linkerd's chart on real API servers; examples, guides and pages as they are written.
  'test/release/packaging/**',
  'test/release/examples/{examples,readmes,strict}.test.ts',
  'test/release/guides/**',
  'test/release/docs/snippets.test.ts',
  'test/constructs/{over-linkerd,strict,tree/write-cluster-set}.test.ts',
  'test/crds/link/server-side-apply.test.ts',
  // npm run check does the same.
  'test/synth/generate.test.ts',
  // Whole runs of programs. What ends them has unit tests in test/cluster/real.
  'test/demo/**',
  'test/cluster/left-behind/**',
  // Name these after a change of the test clusters.
  'test/cluster/conformance/**',
  'test/cluster/real/real.test.ts',
  'test/simulation/determinism.test.ts',
  // Commands on API servers, but for link, install and migrate; what they decide has unit tests.
  'test/synth/commands/check/{command,faults,healthy}.test.ts',
  'test/synth/commands/{credentials/credentials,explain/explain,gateways/gateways,status/status}.test.ts',
  'test/synth/commands/install/{federation,foreign,needed,round-trip,uninstall,upgrade}.test.ts',
  'test/synth/commands/init/running.test.ts',
  'test/synth/commands/link/{accounts,again,link-gen}.test.ts',
  'test/synth/commands/{migrate/handover,migrate/local,migrate/migrate,plan/equality,plan/plan}.test.ts',
  'test/synth/kubeconfigs/**',
  // Plans of all classes, and a defect for each; histories are the fast proof.
  'test/enumerations/**',
  // Commands stopped at each write, without each right, and over objects of every owner.
  'test/synth/stops/**',
  'test/synth/owners/**',
  // The operator end to end, but for one suite of each of its features.
  'test/e2e/{ca-change,copies,credentials,dev,git-only,guides,leases,link-lives,links}.test.ts',
  'test/e2e/{mcs-beside,mcs-conformance,mcs-conformance-dns,mcs-hostile,mcs-start,mcs-two-operators,mcs-unknown}.test.ts',
  'test/e2e/{names,namespaces,failover-at-scale,renewal,restart,rights,selectors,status,targets}.test.ts',
];

/** Whether a run leaves nothing out: in CI, by `npm run test:all`, and where files are named. */
export const isWhole = (env: NodeJS.ProcessEnv, args: readonly string[]): boolean =>
  env['CI'] === 'true' || env['LINKSPAN_TEST'] === 'all' || args.some((argument) => argument.startsWith('test/'));

/** What is not run, for the end of the report. */
export const leftOut: readonly string[] = [
  ...EXTRAS,
  'test/e2e/** on simulated API servers',
  'four of five random histories',
  'the first run of each linkspan command as a process, in suites of many runs',
];

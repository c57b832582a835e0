/**
 * The package as its users get it: packed, installed into an empty project, imported, typechecked and run from there.
 * Dependencies come from npm's cache, or else from the registry.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLUSTER_SET_SCHEMA } from '../../../synth/cluster-file/schema.ts';
import { failoverCrd } from '../../../crds/failover/definition.ts';
import { linkCrd } from '../../../crds/link/definition.ts';
import type { Lockfile } from '../../../tools/release/lockfile.ts';
import { output, pack, type Packed, ROOT, run } from './packed.ts';

const INSTALL_MS = 180_000;

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const kibibytes = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;

/** The packages that the files of a folder import. */
const importsOf = async (folder: string): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (const file of await readdir(folder, { recursive: true })) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const source = await readFile(join(folder, file), 'utf8');
    for (const [, specifier = ''] of source.matchAll(/(?:from |import\(|import )['"]([^.'"][^'"]*)['"]/g)) {
      found.add(/^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
    }
  }
  return found;
};

/** A user's program. */
const PROGRAM = `import { App, Chart } from 'cdk8s';
import { Link } from 'linkspan';
import { readLink } from 'linkspan/crds';
import { parseOperatorConfig, runOperator } from 'linkspan/operator';

const app = new App();
const chart = new Chart(app, 'links');
const west = new Link(chart, 'west', { targetCluster: 'west', gatewayAddresses: ['203.0.113.10'] });

const read = readLink(west.link.toJson());
if (!read.ok) throw new Error(read.errors.join());
const name: string = read.value.name;
const parsed = parseOperatorConfig({ namespace: west.namespace }, {});
const run: (...options: Parameters<typeof runOperator>) => Promise<void> = runOperator;
if (name !== 'west' || !parsed.ok || typeof run !== 'function') throw new Error('not what was asked for');

process.stdout.write(app.synthYaml());
`;

/** Mistakes that are found only if the package's types are there: where one is not found, its comment is the error. */
const MISTAKES = `import { Link } from 'linkspan';
import { readLink } from 'linkspan/crds';
import { runOperator } from 'linkspan/operator';
import type { Construct } from 'constructs';

export const mistakes = (scope: Construct): unknown => [
  // @ts-expect-error a port is a number
  new Link(scope, 'link', { targetCluster: 'west', gatewayAddresses: ['203.0.113.10'], gatewayPort: '4143' }),
  // @ts-expect-error it may have failed
  readLink({}).value,
  // @ts-expect-error it needs its options
  runOperator(),
];
`;

/** It declares its types by a package that it does not bring along; @kubernetes/client-node depends on it. */
const BROKEN_ELSEWHERE = 'node_modules/isomorphic-ws/';

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  },
  files: ['main.ts', 'mistakes.ts'],
};

const LINK_YAML = `apiVersion: multicluster.linkerd.io/v1alpha3
kind: Link
metadata:
  name: west
  namespace: linkerd-multicluster
spec:
  clusterCredentialsSecret: cluster-credentials-west
  federatedServiceSelector:
    matchLabels:
      mirror.linkerd.io/federated: member
  gatewayAddress: 203.0.113.10
  gatewayIdentity: linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local
  gatewayPort: "4143"
  probeSpec:
    failureThreshold: "3"
    path: /ready
    period: 3s
    port: "4191"
    timeout: 30s
  remoteDiscoverySelector:
    matchLabels:
      mirror.linkerd.io/exported: remote-discovery
  selector:
    matchLabels:
      mirror.linkerd.io/exported: "true"
  targetClusterDomain: cluster.local
  targetClusterLinkerdNamespace: linkerd
  targetClusterName: west
`;

describe('the package', () => {
  let directory: string;
  let app: string;
  let packed: Packed;
  let manifest: Manifest;

  const installed = (...path: readonly string[]): string => join(app, 'node_modules', ...path);

  beforeAll(async () => {
    manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest;
    directory = await mkdtemp(join(tmpdir(), 'linkspan-pack-'));

    packed = await pack(directory);
    app = join(directory, 'app');
    await mkdir(app);
    await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
    const flags = ['--prefix', app, '--prefer-offline', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund'];
    await output(app, 'npm', 'install', ...flags, packed.tarball);

    await writeFile(join(app, 'main.ts'), PROGRAM);
    await writeFile(join(app, 'mistakes.ts'), MISTAKES);
    await writeFile(join(app, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  }, INSTALL_MS);

  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('holds what is built, the schema for editors, the licence and the change log, and nothing else', () => {
    const { files, filename, size, unpackedSize } = packed;
    console.log(`${filename}: ${kibibytes(size)}, ${kibibytes(unpackedSize)} unpacked, ${files.length} files`);
    const paths = files.map(({ path }) => path);
    const built = /^dist\/(crds|constructs|operator|synth|cjs\/(crds|constructs))\/.+\.(js|d\.ts|schema\.json)$/;
    const others = paths.filter((path) => !built.test(path));
    expect(others.toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/cjs/package.json',
      'dist/cluster-set.schema.json',
      'package.json',
    ]);
    expect(paths).not.toContainEqual(expect.stringMatching(/\.test\.|(^|\/)test\/|generate/));
  });

  test('imports nothing that its users do not get', async () => {
    const own = ['linkspan', ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })];
    const imports = [...(await importsOf(installed('linkspan', 'dist')))].filter((name) => !name.startsWith('node:'));
    expect(imports.filter((name) => !own.includes(name))).toEqual([]);
    const isTool = (name: string): boolean => !name.startsWith('@types/') && !(name in manifest.peerDependencies);
    const tools = Object.keys(manifest.devDependencies).filter(isTool);
    const present = await readdir(installed());
    expect(present).toContain('linkspan');
    expect(tools.filter((name) => present.includes(name))).toEqual([]);
  });

  test('brings along nothing that runs a script when it is installed', async () => {
    const { packages } = JSON.parse(await readFile(join(app, 'package-lock.json'), 'utf8')) as Lockfile;
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    // What cdk8s-plus-27 names as an optional dependency, by mistake: docs/dependencies.md says how to leave it out.
    expect(scripted.filter(([, { optional }]) => optional !== true)).toEqual([]);
    expect(scripted.map(([path]) => path)).toEqual(['node_modules/backport']);
    expect(await readdir(installed())).not.toContain('backport');
  });

  test('typechecks where it is used, its declarations and those of its dependencies included', async () => {
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { code, stdout } = await run(app, process.execPath, tsc, '-p', app, '--pretty', 'false');
    const errors = stdout.split('\n').filter((line) => line.includes(' error TS') || line.startsWith('error TS'));
    expect(errors.filter((line) => !line.startsWith(BROKEN_ELSEWHERE))).toEqual([]);
    expect(code).toBe(errors.length === 0 ? 0 : 2);
  }, 120_000);

  test('synthesizes a Link', async () => {
    expect(await output(app, process.execPath, 'main.ts')).toBe(LINK_YAML);
  });

  test('has a command that prints its version and the CRDs', async () => {
    expect(await output(app, 'npx', '--no', '--', 'linkspan', '--version')).toBe(`${manifest.version}\n`);
    const crd = join(directory, 'crd.yaml');
    await writeFile(crd, await output(app, 'npx', '--no', '--', 'linkspan', 'crds'));
    expect(Yaml.load(crd)).toEqual([linkCrd, failoverCrd]);
  });

  test('is all that the example gitops needs: its folders are in step, its editor hint leads to the schema', async () => {
    const repository = join(directory, 'gitops');
    await cp(join(ROOT, 'examples', 'gitops'), repository, { recursive: true });
    await symlink(installed(), join(repository, 'node_modules'));
    const { code, stdout } = await run(repository, 'npx', '--no', '--', 'linkspan', 'synth', '--check');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });

    const [hint = ''] = (await readFile(join(repository, 'linkspan.yaml'), 'utf8')).split('\n');
    const file = join(repository, hint.replace(/.*\$schema=/, ''));
    const schema = JSON.parse(await readFile(file, 'utf8')) as unknown;
    expect(schema).toEqual(CLUSTER_SET_SCHEMA);
  });

  test('has a command that refuses a flag it does not know', async () => {
    const { code, stdout, stderr } = await run(app, installed('.bin', 'linkspan'), 'operator', '--nope');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain("error: unknown option '--nope'");
  });
});

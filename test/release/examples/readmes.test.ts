/**
 * The package and its examples as their users have them: packed and installed, by the commands of the READMEs. What applies
 * the result runs on real API servers, with the real kubectl. The other commands of gitops are run by
 * test/e2e/git-only.test.ts, the demo by test/demo/demo.test.ts, and the test commands by CI.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { borrowCluster, startCluster, type TestCluster } from '../../cluster/index.ts';
import { onReal } from '../../cluster/on-each-backing.ts';
import { requireBinary } from '../../cluster/real/binaries.ts';
import { api, eventually, installCrd } from '../../cluster/workload/index.ts';
import { namespace, service, slice } from '../../support/builders.ts';
import { meshCrds } from '../../support/mesh-crds.ts';
import { pack, ROOT, shell } from '../packaging/packed.ts';
import { blocksOf, commandBlocks } from './readme.ts';
import { EXAMPLE_NAMES, synthesize } from './synthesize.ts';

const IMAGE = 'registry.example.com/linkspan:0.1.0';
const INSTALL_MS = 240_000;
const RUN_MS = 120_000;

/** The first command of each: what packs here does this in a copy of the tree. */
const PACK = '(cd ../.. && npm ci && npm pack)\n';
/** Answers come from pods, and no pods run here. */
const NEEDS_PODS = / exec deploy\/frontend |^curl /m;

const QUIET = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
const GIT = {
  GIT_AUTHOR_NAME: 'test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
};

let directory: string;

const folder = (name: string): string => join(directory, 'examples', name);

/** Runs the blocks of a section; the package is packed already. */
const follow = async (name: string, section: string, env: NodeJS.ProcessEnv = QUIET): Promise<string> => {
  const printed: string[] = [];
  const blocks = (await commandBlocks(name)).filter(({ heading }) => heading === section);
  expect(blocks, section).not.toEqual([]);
  for (const { commands } of blocks) {
    if (NEEDS_PODS.test(commands)) continue;
    const { code, stdout, stderr } = await shell(folder(name), commands.replace(PACK, ''), env);
    expect(code, `${commands}${stdout}${stderr}`).toBe(0);
    printed.push(stdout);
  }
  return printed.join('');
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'linkspan-examples-'));
  await pack(directory);
  const filter = (path: string): boolean => !/\/(node_modules|dist|package-lock\.json)(\/|$)/.test(path);
  await cp(join(ROOT, 'examples'), join(directory, 'examples'), { recursive: true, filter });
}, INSTALL_MS);

afterAll(() => rm(directory, { recursive: true, force: true }));

describe.each(EXAMPLE_NAMES)('the example %s', (name) => {
  test(
    'renders, by its README, what it renders with the sources',
    async () => {
      const [first] = await commandBlocks(name);
      expect(first?.commands).toContain(PACK);
      await follow(name, 'Render it');

      const dist = join(folder(name), 'dist');
      const files = (await readdir(dist)).sort();
      const rendered = files.map(async (file) => ({ file, yaml: await readFile(join(dist, file), 'utf8') }));
      expect(await Promise.all(rendered)).toEqual((await synthesize(name)).map(({ file, yaml }) => ({ file, yaml })));
    },
    INSTALL_MS,
  );
});

test(
  'a misspelt prop fails where an example is synthesized',
  async () => {
    const main = join(folder('podinfo'), 'main.ts');
    const program = await readFile(main, 'utf8');
    await writeFile(main, program.replace('port: east.port', 'prot: east.port'));
    const { code, stdout } = await shell(folder('podinfo'), 'npm run synth', QUIET);
    await writeFile(main, program);
    expect(code).not.toBe(0);
    expect(stdout).toContain("'prot' does not exist in type 'ServiceRouteProps'");
  },
  RUN_MS,
);

test(
  'the example gitops is committed by its README, with nothing changed in clusters/',
  async () => {
    await shell(folder('gitops'), 'git init --quiet && git add --all && git commit --quiet --message=before', GIT);
    await follow('gitops', 'Start', { ...QUIET, ...GIT });
    const { stdout } = await shell(folder('gitops'), 'git show --name-only --format=%s && git status --short');
    expect(stdout.split('\n')).toEqual([
      'Describe the clusters',
      '',
      'linkspan-0.1.0.tgz',
      'package-lock.json',
      'package.json',
      '',
    ]);
  },
  INSTALL_MS,
);

test('the README packs the package and builds the image, by commands with the right arguments', async () => {
  const blocks = (await blocksOf('README.md')).filter(({ heading }) => heading === 'Get it');
  // There may be no Docker: stand-ins print their arguments. `npm ci` is done, and `npm pack` has been run.
  const bin = join(directory, 'bin');
  await mkdir(bin);
  for (const name of ['docker', 'kind', 'npm']) {
    await writeFile(join(bin, name), `#!/bin/sh\necho "${name} $*"\n`);
    await chmod(join(bin, name), 0o755);
  }
  const path = { PATH: [bin, process.env['PATH']].join(delimiter) };
  const printed = await Promise.all(blocks.map(({ commands }) => shell(ROOT, commands, path)));
  expect(printed.flatMap(({ stdout }) => stdout.trimEnd().split('\n'))).toEqual([
    'npm ci',
    'npm pack',
    `docker build --tag ${IMAGE} .`,
    `kind load docker-image ${IMAGE} --name east`,
  ]);
  const everywhere = await readFile(join(ROOT, 'README.md'), 'utf8');
  expect(new Set(everywhere.match(/registry\.example\.com\/\S+?:[\w.]+/g))).toEqual(new Set([IMAGE]));
});

test('the README has no commands but those that are run', async () => {
  const others = (await blocksOf('README.md')).filter(({ heading }) => !['Get it', 'Start'].includes(heading));
  expect(others.map(({ commands }) => commands)).toEqual(['npm ci && npm run demo\n', 'npm ci && npm test\n']);
});

onReal('the start that the README describes', () => {
  let clusters: readonly TestCluster[];
  let operator: ChildProcess | undefined;

  beforeAll(async () => {
    const controllers = ['serviceaccount-token-controller', 'namespace-controller'];
    clusters = await Promise.all(['east', 'west'].map((name) => startCluster({ backing: 'real', name, controllers })));
    for (const cluster of clusters) for (const crd of meshCrds) await installCrd(cluster, crd);
  }, INSTALL_MS);

  afterAll(async () => {
    operator?.kill();
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  });

  test(
    'leads from nothing to a mirror',
    async () => {
      const [east, west] = clusters as [TestCluster, TestCluster];
      const start = join(directory, 'start');
      await mkdir(start);
      const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
      const [, file = ''] = /^```yaml\n(# yaml-language-server.*?)^```$/ms.exec(readme) ?? [];
      await writeFile(join(start, 'linkspan.yaml'), file);
      await cp(join(ROOT, 'examples', 'gitops', 'credentials.sh'), join(start, 'credentials.sh'));
      expect(await shell(start, `npm install ../linkspan-0.1.0.tgz`, QUIET)).toMatchObject({ code: 0 });

      const env = {
        PATH: [dirname(requireBinary('kubectl')), process.env['PATH']].join(delimiter),
        KUBECONFIG: clusters.map(({ kubeconfigFile }) => kubeconfigFile).join(delimiter),
        KUBECACHEDIR: join(directory, 'start-cache'),
      };
      const typed = async (commands: string): Promise<string> => {
        const { code, stdout, stderr } = await shell(start, commands, env);
        if (code !== 0) throw new Error(`${commands}${stdout}${stderr}`);
        return stdout;
      };
      const blocks = (await blocksOf('README.md')).filter(({ heading }) => heading === 'Start');
      const [apply = '', credentials = '', use = '', ...others] = blocks.map(({ commands }) => commands);
      expect(others).toEqual([]);
      await typed(apply);
      const known = credentials
        .replace(/https:\S+(?=west)\S*/g, west.server)
        .replace(/https:\S+(?=east)\S*/g, east.server);
      await eventually('the tokens are minted and handed over', () => typed(known).catch(() => undefined), RUN_MS);

      for (const cluster of clusters) {
        const client = api(cluster);
        await client.apply(namespace('shop'));
        if (cluster === west) for (const object of [service('web'), slice('web')]) await client.apply(object);
        await client.close();
      }
      const flags = ['--kubeconfig', east.kubeconfigFile, '--admin-address', '127.0.0.1:0', '--probe-via', 'address'];
      operator = spawn(join(start, 'node_modules', '.bin', 'linkspan'), ['operator', ...flags], { stdio: 'ignore' });
      const [label = '', links = '', mirror = ''] = use.trimEnd().split('\n');
      expect(await typed(label)).toBe('service/web labeled\n');
      expect(await typed(links)).toMatch(/^west +west /m);
      expect(await eventually('web is mirrored', () => typed(mirror).catch(() => undefined), RUN_MS)).toMatch(
        /^web-west /m,
      );
    },
    INSTALL_MS,
  );
});

onReal('what the examples render, applied by their READMEs', () => {
  let clusters: readonly TestCluster[];
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    clusters = await Promise.all(['west', 'east'].map((name) => borrowCluster('real', name)));
    for (const cluster of clusters) for (const crd of [...meshCrds, ...ARGO_CRDS]) await installCrd(cluster, crd);
    env = {
      PATH: [dirname(requireBinary('kubectl')), process.env['PATH']].join(delimiter),
      KUBECONFIG: clusters.map(({ kubeconfigFile }) => kubeconfigFile).join(delimiter),
      KUBECACHEDIR: join(directory, 'kube-cache'),
    };
  }, INSTALL_MS);

  afterAll(() => Promise.all(clusters.map((cluster) => cluster.stop())));

  test.each(EXAMPLE_NAMES)(
    '%s',
    async (name) => {
      expect(await follow(name, 'Apply it', env)).toMatch(/^service\/\S+ created$/m);
    },
    RUN_MS,
  );

  test(
    'gitops, for Argo CD',
    async () => {
      const client = api(clusters.find(({ name }) => name === 'east')!);
      await client.apply(namespace('argocd'));
      await client.close();
      expect(await follow('gitops', 'Apply with Argo CD', env)).toMatch(
        /^application\.argoproj\.io\/linkspan-east serverside-applied$/m,
      );
    },
    RUN_MS,
  );
});

/** The kinds of Argo CD, without their fields. */
const ARGO_CRDS = (['Application', 'AppProject'] as const).map((kind) => {
  const singular = kind.toLowerCase();
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.argoproj.io` },
    spec: {
      group: 'argoproj.io',
      scope: 'Namespaced',
      names: { kind, singular, plural: `${singular}s` },
      versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
    },
  };
});

/**
 * The examples as their users have them: with the packed package, by the commands of their READMEs. What applies the
 * result runs on real API servers, with the real kubectl. The other commands of gitops are in test/e2e/git-only.test.ts.
 */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { borrowCluster, type TestCluster } from '../../cluster/index.ts';
import { onReal } from '../../cluster/on-each-backing.ts';
import { requireBinary } from '../../cluster/real/binaries.ts';
import { api, installCrd } from '../../cluster/workload/index.ts';
import { namespace } from '../../support/builders.ts';
import { meshCrds } from '../../support/mesh-crds.ts';
import { pack, ROOT, shell } from '../packaging/packed.ts';
import { commandBlocks } from './readme.ts';
import { EXAMPLE_NAMES, synthesize } from './synthesize.ts';

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

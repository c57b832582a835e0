/**
 * The package and its examples as their users have them: packed and installed, by the commands of the READMEs. What applies
 * the result runs on real API servers, with the real kubectl. The other commands of gitops are run by
 * test/e2e/git-only.test.ts, the demo by test/demo/demo.test.ts, and the test commands by CI.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failoverCrd, mcsCrds } from '../../../crds/index.ts';
import { borrowCluster, type TestCluster } from '../../cluster/index.ts';
import { onReal } from '../../cluster/on-each-backing.ts';
import { requireBinary } from '../../cluster/real/binaries.ts';
import { api, installCrd } from '../../cluster/workload/index.ts';
import { namespace } from '../../support/builders.ts';
import { meshCrds } from '../../support/mesh-crds.ts';
import { follow as guide } from '../guides/follow.ts';
import { Lab } from '../guides/lab.ts';
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
  'the example gitops-typescript writes, by its README, what the example gitops has in clusters/',
  async () => {
    await follow('gitops-typescript', 'Render it');
    const same = await shell(directory, 'diff -r examples/gitops-typescript/clusters examples/gitops/clusters');
    expect(same).toMatchObject({ code: 0, stdout: '' });
  },
  INSTALL_MS,
);

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

test('the README names one image', async () => {
  const everywhere = await readFile(join(ROOT, 'README.md'), 'utf8');
  expect(new Set(everywhere.match(/registry\.example\.com\/\S+?:[\w.]+/g))).toEqual(new Set([IMAGE]));
});

test('the README has no commands but those that are run', async () => {
  const others = (await blocksOf('README.md')).filter(({ heading }) => heading !== 'Start');
  // What `explain` prints is held against it by test/synth/commands/explain/explain.test.ts.
  const typed = others.map(({ commands }) => commands).filter((commands) => !commands.startsWith('$ linkspan explain'));
  expect(typed).toEqual(['npm ci && npm run demo\n', 'npm ci && npm test\n']);
});

onReal('the README, with the package installed', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start();
    const installed = join(directory, 'installed');
    await mkdir(installed);
    expect(await shell(installed, 'npm install ../linkspan-0.1.0.tgz', QUIET)).toMatchObject({ code: 0 });
    await lab.program('linkspan', `exec "${join(installed, 'node_modules', '.bin', 'linkspan')}" "$@"`);
    // There may be no Docker, and the package is packed already: stand-ins print their arguments.
    for (const name of ['docker', 'npm']) await lab.program(name, `echo "${name} $*"`);
    await lab.installLinkerd();
  }, INSTALL_MS);
  afterAll(() => lab.stop());

  test(
    'leads from Linkerd to a mirror by three commands',
    async () => {
      const prepared =
        await lab.type(`for cluster in east west; do kubectl --context=$cluster create namespace shop; done
        kubectl --context=west --namespace=shop create service clusterip web --tcp=80`);
      expect(prepared).toMatchObject({ code: 0 });
      const written = '--to-context=west --apply';
      const typed = `--to-context=west --api-server-address=${lab.clusters.west.server} --apply`;
      const [build, install, use] = await guide(lab, 'README.md', [{ written, typed }], ['Start']);
      expect(build?.printed.split('\n')).toEqual([
        'npm ci',
        'npm pack',
        'npm install --global ./linkspan-0.1.0.tgz',
        `docker build --tag ${IMAGE} .`,
        `docker push ${IMAGE}`,
        '',
      ]);
      expect(install?.commands.match(/^linkspan /gm)).toHaveLength(3);
      expect(use?.printed).toMatch(/^web-west +ClusterIP /m);
    },
    RUN_MS,
  );

  test(
    'renders clusters in Git, as docs/gitops.md says',
    async () => {
      const page = await readFile(join(ROOT, 'docs/gitops.md'), 'utf8');
      const [, file = ''] = /^```yaml\n(# yaml-language-server.*?)^```$/ms.exec(page) ?? [];
      await lab.write('linkspan.yaml', file);
      const [synth] = await guide(lab, 'docs/gitops.md');
      expect(synth?.printed).toMatch(/^clusters: \d+ files, 2 folders, \d+ changed$/m);
    },
    RUN_MS,
  );
});

onReal('what the examples render, applied by their READMEs', () => {
  let clusters: readonly TestCluster[];
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    clusters = await Promise.all(['west', 'east'].map((name) => borrowCluster('real', name)));
    for (const cluster of clusters)
      for (const crd of [failoverCrd, ...mcsCrds, ...meshCrds, ...ARGO_CRDS]) await installCrd(cluster, crd);
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
    'failover, which can be watched',
    async () => {
      expect(await follow('failover', 'Watch it', env)).toMatch(
        /^NAME +SERVICE +ACTIVE +READY +REASON +AGE\npodinfo +podinfo /m,
      );
    },
    RUN_MS,
  );

  test.each([
    ['gitops', 'Apply with Argo CD', "sed -i '/^argoCd:/a\\  health: true' linkspan.yaml && npx linkspan synth"],
    ['gitops-typescript', 'Apply it', "sed -i 's/, repoUrl: /, health: true&/' main.ts && npm run synth"],
  ])(
    '%s, for Argo CD, with the health of Links: its other settings stay',
    async (name, section, synth) => {
      const client = api(clusters.find(({ name }) => name === 'east')!);
      await client.apply(namespace('argocd'));
      const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'argocd-cm', namespace: 'argocd' } };
      await writeFile(join(folder(name), 'argocd-cm.json'), JSON.stringify({ ...settings, data: { url: 'its own' } }));
      const own = await shell(
        folder(name),
        `kubectl --context=east apply --server-side --force-conflicts -f argocd-cm.json && ${synth}`,
        { ...QUIET, ...env },
      );
      expect(own.code, `${own.stdout}${own.stderr}`).toBe(0);
      expect(await readdir(join(folder(name), 'clusters/argocd'))).toContain('2-configmap-argocd-cm.yaml');
      expect(await follow(name, section, env)).toMatch(/^application\.argoproj\.io\/linkspan serverside-applied$/m);
      expect(await client.get(settings)).toMatchObject({ data: { url: 'its own' } });
      await client.close();
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

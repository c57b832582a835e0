/** The manifests that `npm run release:build` makes, on real API servers, beside what `linkspan install` makes there. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Yaml } from 'cdk8s';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onReal } from '../../cluster/on-each-backing.ts';
import { requireBinary } from '../../cluster/real/binaries.ts';
import type { KubeObject } from '../../cluster/workload/index.ts';
import { everything } from '../../support/everything.ts';
import {
  installLinkerd,
  type LinkerdCluster,
  linkerdConfig,
  startLinkerdCluster,
} from '../../support/linkerd-cluster.ts';
import { linkspan, type Outcome } from '../../synth/linkspan.ts';
import { buildRelease, copyTree } from './packed.ts';

const BUILD_MS = 600_000;
const IMAGE = `registry.example.com/linkspan@sha256:${'1'.repeat(64)}`;

onReal('install.yaml', () => {
  let directory: string;
  let applied: LinkerdCluster;
  let installed: LinkerdCluster;
  let objects: readonly KubeObject[];

  const manifest = (name: string): string => join(directory, 'release', name);
  const build = async (tree: string, folder: string): Promise<void> => {
    await copyTree(tree);
    await buildRelease(tree, IMAGE, folder);
  };
  const run = async (...args: readonly string[]): Promise<Outcome> => {
    const outcome = await linkspan(directory, ...args);
    expect(outcome.code, outcome.stderr).toBe(0);
    return outcome;
  };

  const apply = (file: string) => {
    const args = ['--kubeconfig', applied.cluster.kubeconfigFile, 'apply', '--server-side', '-f', file];
    return promisify(execFile)(requireBinary('kubectl'), args);
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-manifests-'));
    const built = build(join(directory, 'tree'), join(directory, 'release'));
    const start = (name: string) => startLinkerdCluster({ backing: 'real', name });
    [applied, installed] = await Promise.all([start('applied'), start('installed')]);
    for (const each of [applied, installed]) {
      await installLinkerd(each);
      // The trust domain that Linkerd has unless it is given another: a file cannot ask the cluster.
      const values = 'clusterDomain: cluster.local\nidentityTrustDomain: cluster.local\n';
      const config = { ...linkerdConfig('any'), data: { values } };
      await each.client.apply(config);
    }
    await built;
    objects = Yaml.load(manifest('install.yaml')) as readonly KubeObject[];

    await apply(manifest('install.yaml'));
    await run('install', `--kubeconfig=${installed.cluster.kubeconfigFile}`, `--image=${IMAGE}`, '--apply');
  }, BUILD_MS);

  afterAll(async () => {
    await Promise.all([applied.stop(), installed.stop()]);
    await rm(directory, { recursive: true });
  });

  test('makes the objects that linkspan install makes, and no other', async () => {
    const names = async ({ client }: LinkerdCluster): Promise<readonly string[]> =>
      (await everything(client))
        .map((line) => line.split(' ').slice(0, 2).join(' '))
        // It is named by the address of a Service, which the API server draws.
        .filter((name) => !name.startsWith('IPAddress '));
    expect(await names(applied)).toEqual(await names(installed));
    expect(objects.length).toBeGreaterThan(15);
  });

  test('makes each object as linkspan install makes it', async () => {
    for (const object of objects) {
      const [one, other] = await Promise.all(
        [applied, installed].map(async ({ client }) => comparable(await client.get(object))),
      );
      expect(one, `${object.kind} ${object.metadata.name}`).toEqual(other);
    }
  });

  test('leaves nothing for linkspan install to change', async () => {
    const { stdout } = await run(
      'install',
      `--kubeconfig=${applied.cluster.kubeconfigFile}`,
      `--image=${IMAGE}`,
      '--output=diff',
    );
    expect(stdout).toBe(`applied:\n  ${objects.length} objects would not change\n`);
  });

  test('has the CustomResourceDefinitions of crds.yaml, which can be applied over it', async () => {
    const { stdout } = await apply(manifest('crds.yaml'));
    const isDefinition = ({ kind }: KubeObject): boolean => kind === 'CustomResourceDefinition';
    expect(Yaml.load(manifest('crds.yaml'))).toMatchObject(
      objects.filter(isDefinition).map(({ metadata: { name } }) => ({ metadata: { name } })),
    );
    expect(stdout.match(/serverside-applied/g)).toHaveLength(objects.filter(isDefinition).length);
  });
});

/** What the API server numbers and times is its own: the uid, the version, the addresses and ports that it gives. */
const comparable = (object: KubeObject | undefined): unknown => {
  const text = JSON.stringify(object, (key, value: unknown) => (OF_THE_SERVER.has(key) ? undefined : value));
  return JSON.parse(text) as unknown;
};

const OF_THE_SERVER = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'lastTransitionTime',
  'managedFields',
  'clusterIP',
  'clusterIPs',
  'nodePort',
  'healthCheckNodePort',
  'status',
]);

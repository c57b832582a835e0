/** The example of a repository: its folders are what is rendered now, its parts fit, and a real API server takes all of it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import { borrowCluster, type TestCluster } from '../../cluster/index.ts';
import { onReal } from '../../cluster/on-each-backing.ts';
import { type Api, api, installCrd } from '../../cluster/workload/index.ts';
import { meshCrds } from '../../support/mesh-crds.ts';
import { applyTwice } from '../../support/strict.ts';
import { linkspan } from '../../synth/linkspan.ts';
import { commandBlocks } from './readme.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const EXAMPLE = join(ROOT, 'examples', 'gitops');
const HINT = '# yaml-language-server: $schema=./node_modules/linkspan/dist/cluster-set.schema.json';

interface Workflow {
  readonly jobs: { readonly check: { readonly steps: readonly { readonly run?: string }[] } };
}

const text = (...path: readonly string[]): Promise<string> => readFile(join(EXAMPLE, ...path), 'utf8');

/** What is in a folder of clusters/, in the order that kubectl applies it in. */
const objectsOf = async (folder: string): Promise<readonly ApiJson[]> => {
  const files = (await readdir(join(EXAMPLE, 'clusters', folder))).sort();
  return Promise.all(files.map(async (file) => parseYaml(await text('clusters', folder, file)) as ApiJson));
};

describe('the example gitops', () => {
  test('has in clusters/ what linkspan synth renders', async () => {
    expect(await linkspan(EXAMPLE, 'synth', '--check')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('links each of its three clusters with each, and has no token', async () => {
    for (const [cluster, ...others] of [
      ['east', 'north', 'west'],
      ['north', 'east', 'west'],
      ['west', 'east', 'north'],
    ] as const) {
      const objects = await objectsOf(cluster);
      const named = (kind: string) =>
        objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
      expect(named('Link')).toEqual(others);
      expect(named('Secret')).toEqual(others.map((other) => `linkspan-peer-${other}`));
      expect(
        objects.filter((object) => object.kind === 'Secret' && ('data' in object || 'stringData' in object)),
      ).toEqual([]);
    }
  });

  test('deletes what has left the folders in the reverse of their order: Links before the CRD, and before the operator', async () => {
    const loops = (await commandBlocks('gitops')).filter(({ commands }) => commands.includes('ls-files --deleted'));
    expect(loops).toHaveLength(2);
    for (const { commands } of loops) expect(commands).toMatch(/ls-files --deleted \S+ \| sort -r\);/);
  });

  test('is a package that needs nothing but Linkspan, and has an editor hint', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
    const [hint = ''] = (await text('linkspan.yaml')).split('\n');
    expect(hint).toBe(HINT);
    const example = JSON.parse(await text('package.json')) as Readonly<Record<string, unknown>>;
    expect(example).toMatchObject({ private: true, dependencies: { linkspan: `^${version}` } });
    expect(example).not.toHaveProperty('devDependencies');
  });

  test('is checked by CI with the version that is locked', async () => {
    const workflow = parseYaml(await text('.github', 'workflows', 'clusters.yaml')) as Workflow;
    const commands = workflow.jobs.check.steps.flatMap(({ run }) => run ?? []);
    expect(commands).toEqual(['npm ci', 'npx linkspan synth --check']);
  });
});

onReal('what the example gitops has in clusters/', () => {
  let cluster: TestCluster;
  let client: Api;
  beforeAll(async () => {
    cluster = await borrowCluster('real', 'east');
    client = api(cluster);
    for (const crd of meshCrds) await installCrd(cluster, crd);
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  test.each(['east', 'north', 'west'])('is accepted to the last field, and stays as it is: %s', async (folder) => {
    for (const object of await objectsOf(folder)) {
      // Its status, which others write, is complete when it is established.
      if (object.kind === 'CustomResourceDefinition') await installCrd(cluster, object);
      await applyTwice(client, object);
    }
  });
});

/** A cluster set that a program writes: the files of `linkspan synth`, where the Applications look for them. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Chart, Yaml } from 'cdk8s';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ArgoCd, ClusterSet, writeClusterSet } from '../../../constructs/index.ts';
import { clusterFile, clusterSetProps, leavingProps } from '../../support/cluster-file.ts';
import { linkspan } from '../../synth/linkspan.ts';

const REPOSITORY = 'https://git.example.com/mesh.git';

let repository: string;

beforeEach(async () => {
  repository = await mkdtemp(join(tmpdir(), 'linkspan-write-'));
});

afterEach(() => rm(repository, { recursive: true }));

/** An app as users have it: with charts of its own around the constructs. */
const program = (clusters: number, path?: string, props = clusterSetProps(clusters)) => {
  const app = new App();
  const clusterSet = new ClusterSet(new Chart(app, 'mesh'), 'set', props);
  const argoCd = new ArgoCd(new Chart(app, 'gitops'), 'argo', { clusterSet, repoUrl: REPOSITORY, path });
  return { app, clusterSet, argoCd };
};

const filesIn = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    await Promise.all(
      files.sort().map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')] as const),
    ),
  );
};

it('has the bytes that linkspan synth writes', async () => {
  const { clusterSet, argoCd } = program(2);
  writeClusterSet(join(repository, 'clusters'), clusterSet, argoCd);

  const section = `\nargoCd:\n  repoUrl: ${REPOSITORY}\n`;
  await writeFile(join(repository, 'linkspan.yaml'), clusterFile(clusterSetProps(2)) + section);
  expect(await linkspan(repository, 'synth', '-o', 'by-the-command')).toMatchObject({ code: 0 });

  const files = await filesIn(join(repository, 'clusters'));
  expect(files).toEqual(await filesIn(join(repository, 'by-the-command')));
  expect(files.size).toBeGreaterThan(60);
  expect(await linkspan(repository, 'synth', '--check')).toEqual({ code: 0, stdout: '', stderr: '' });
});

it.each([undefined, ''])('is where the Applications look, with path %j', async (path) => {
  const { clusterSet, argoCd } = program(2, path);
  writeClusterSet(join(repository, path ?? 'clusters'), clusterSet, argoCd);
  const applications = [...argoCd.applications.values(), argoCd.root!].map(
    (application) => application.toJson() as { readonly spec: { readonly source: { readonly path: string } } },
  );
  const kinds = applications.map(async ({ spec: { source } }) => {
    const files = await readdir(join(repository, source.path));
    return files.flatMap((file) =>
      (Yaml.load(join(repository, source.path, file)) as { kind: string }[]).map(({ kind }) => kind),
    );
  });
  const [first, second, root] = await Promise.all(kinds);
  for (const cluster of [first, second]) expect(cluster).toContain('Link');
  expect([...new Set(root)].sort()).toEqual(['AppProject', 'Application']);
});

it('loses the files of a member that goes, its operator after its Links, and says what has changed', () => {
  const first = program(3);
  writeClusterSet(repository, first.clusterSet, first.argoCd);
  const second = program(2);
  const leaving = program(3, undefined, leavingProps(3));
  const unlinked = writeClusterSet(repository, leaving.clusterSet, leaving.argoCd);
  expect(unlinked.map(({ path, after }) => [path, after])).toContainEqual(['c03/3-link-c01.yaml', undefined]);
  const changed = writeClusterSet(repository, second.clusterSet, second.argoCd);
  const gone = changed.filter(({ after }) => after === undefined).map(({ path }) => path);
  expect(gone).toContain('c03/2-deployment-linkspan-operator.yaml');
  expect(gone).toContain('argocd/2-application-linkspan-c03.yaml');
  expect(writeClusterSet(repository, second.clusterSet, second.argoCd)).toEqual([]);
});

it('is not written at all if a construct anywhere in the app is invalid', async () => {
  const { app, clusterSet, argoCd } = program(2);
  new ArgoCd(new Chart(app, 'other'), 'argo', { clusterSet, repoUrl: REPOSITORY, project: 'No' });
  expect(() => writeClusterSet(repository, clusterSet, argoCd)).toThrow(/project: "No" must/);
  expect(await readdir(repository)).toEqual([]);
});

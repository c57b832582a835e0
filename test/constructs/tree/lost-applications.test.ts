/** No setting of Argo CD has it delete the objects of a cluster that stays in the set. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Chart } from 'cdk8s';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArgoCd, type ArgoCdProps, ClusterSet, OutputFolderError, writeClusterSet } from '../../../constructs/index.ts';
import { clusterSetProps, leavingProps } from '../../support/cluster-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'linkspan-lost-'));
});

afterEach(() => rm(folder, { recursive: true }));

const write = (props: Partial<ArgoCdProps>, set = clusterSetProps(2)): void => {
  const app = new App();
  const clusterSet = new ClusterSet(app, 'set', set);
  const repoUrl = 'https://git.example.com/clusters.git';
  const argoCd = new ArgoCd(new Chart(app, 'gitops'), 'argo', { clusterSet, repoUrl, ...props });
  writeClusterSet(folder, clusterSet, argoCd);
};

const EACH = 'argocd/2-application-linkspan-c01.yaml, argocd/2-application-linkspan-c02.yaml';
const SET = 'argocd/2-applicationset-linkspan.yaml';
const NEITHER = [`\`kubectl --namespace=argocd delete --ignore-not-found applications.argoproj.io linkspan\``];
const BOTH = [
  `\`kubectl --namespace=argocd patch applications.argoproj.io linkspan-c01 linkspan-c02 --type=merge --patch='{"metadata":{"finalizers":null}}'\``,
  '`kubectl --namespace=argocd delete applications.argoproj.io linkspan-c01 linkspan-c02`',
];
const ORPHAN = '`kubectl --namespace=argocd delete --cascade=orphan applicationsets.argoproj.io linkspan`';

describe.each<[string, Partial<ArgoCdProps>, Partial<ArgoCdProps>, string, readonly string[]]>([
  ['an ApplicationSet', {}, { applications: 'application-set' }, EACH, [...NEITHER, ...BOTH]],
  ['each', { applications: 'application-set' }, {}, SET, [...NEITHER, ORPHAN, ...BOTH]],
  ['another project', { path: '' }, { path: '', project: 'mesh' }, EACH, [...NEITHER, ...BOTH]],
  [
    'a set of another project',
    { applications: 'application-set' },
    { applications: 'application-set', project: 'mesh' },
    SET,
    [...NEITHER, ORPHAN, ...BOTH],
  ],
  ['another namespace', {}, { namespace: 'argo' }, EACH, [...NEITHER, ...BOTH]],
  [
    'a set in another namespace',
    { applications: 'application-set' },
    { applications: 'application-set', namespace: 'argo' },
    SET,
    [...NEITHER, ORPHAN, ...BOTH],
  ],
])('to %s', (_, from, to, files, commands) => {
  beforeEach(() => write(from));

  it('E5 is refused, with the commands that have Argo CD let go first, and nothing written', async () => {
    const before = await readFile(join(folder, '.linkspan-synth'), 'utf8');
    const remedy = `have Argo CD let go of the clusters first, which deletes nothing in them: in its own cluster, stop whatever else applies ${folder}/argocd, and run ${commands.join(', then ')}; delete ${folder}/argocd, run linkspan synth, commit and push; only then apply the AppProject and the root Application in ${folder}/argocd again, as the first time`;
    expect(() => write(to)).toThrow(
      new OutputFolderError(
        `${folder}: ${files}: must not be removed or move to another namespace while c01, c02 stay: Argo CD would delete all objects of a cluster with its Application (${remedy})`,
      ),
    );
    expect(await readFile(join(folder, '.linkspan-synth'), 'utf8')).toBe(before);
  });

  it('is taken once the folder is deleted, as the message says', async () => {
    await rm(join(folder, 'argocd'), { recursive: true });
    write(to);
  });
});

it.each(['each', 'application-set'] as const)(
  'takes any other change: of the root, of a cluster, with %s',
  (applications) => {
    write({ applications }, clusterSetProps(3));
    write({ applications, revision: 'next', root: false, automated: false }, clusterSetProps(3));
    write({ applications, destinations: { c01: { server: 'https://c1.example.com' } } }, leavingProps(3));
    write({ applications });
  },
);

it('E5 is refused without the section, too', () => {
  write({});
  const alone = () => writeClusterSet(folder, new ClusterSet(new App(), 'set', clusterSetProps(2)));
  expect(alone).toThrow(/: argocd\/2-application-linkspan-c01.yaml, .* must not be removed/);
});

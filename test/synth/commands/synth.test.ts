import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { ClusterSetProps } from '../../../constructs/index.ts';
import { CLUSTER_SET_SCHEMA } from '../../../synth/cluster-file/schema.ts';
import { clusterFile, clusterSetProps, leavingProps } from '../../support/cluster-file.ts';
import { linkspan } from '../linkspan.ts';

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'linkspan-synth-'));
});

afterEach(() => rm(cwd, { recursive: true }));

const say = (props: ClusterSetProps) => writeFile(join(cwd, 'linkspan.yaml'), clusterFile(props));

const synth = (...args: readonly string[]) => linkspan(cwd, 'synth', ...args);

/** Every file below a folder with its content. */
const treeOf = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const entries = await readdir(join(cwd, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(files.sort().map((file) => readFile(file, 'utf8')));
  return Object.fromEntries(files.map((file, index) => [file.slice(join(cwd, folder).length + 1), contents[index]!]));
};

describe('linkspan synth', () => {
  it('writes the same bytes each time, for five clusters in full mesh', async () => {
    await say(clusterSetProps(5));
    expect(await synth('-o', 'one')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^one: (\d+) files, 5 folders, \1 changed\n$/) as string,
      stderr: '',
    });
    expect(await synth('-o', 'one')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^one: \d+ files, 5 folders, 0 changed\n$/) as string,
      stderr: '',
    });
    expect(await synth('-o', 'two')).toMatchObject({ code: 0 });

    const one = await treeOf('one');
    expect(await treeOf('two')).toEqual(one);
    expect(Object.keys(one).filter((path) => path.includes('/3-link-'))).toHaveLength(20);
  });

  it('warns of a gateway that is open to all networks, and of a single cluster', async () => {
    const { members, ...props } = clusterSetProps(2);
    const [c01, c02] = members.map(({ networks: _, ...member }) => member);
    await say({ ...props, members: [c01!, members[1]!] });
    expect(await synth()).toMatchObject({
      code: 0,
      stderr:
        'warning: linkspan.yaml: members[1]: the gateway of c02 is open to all networks, because the networks of c01 are not known (write networks of c01)\n',
    });
    await say({ ...props, members: [c02!] });
    expect(await synth('-o', 'single')).toMatchObject({
      code: 0,
      stderr: 'warning: linkspan.yaml: members: a single cluster has nothing to link with\n',
    });
  });

  it('makes a folder for each cluster, with one object a file that is called as it is', async () => {
    await say({ ...clusterSetProps(2), flat: true });
    await synth();

    const tree = await treeOf('clusters');
    expect(Object.keys(tree).filter((path) => path.startsWith('c01/'))).toEqual([
      'c01/0-customresourcedefinition-links.multicluster.linkerd.io.yaml',
      'c01/0-customresourcedefinition-servicefailovers.linkspan.dev.yaml',
      'c01/0-namespace-linkerd-multicluster.yaml',
      'c01/1-clusterrole-linkerd-service-mirror-remote-access-c02.yaml',
      'c01/1-clusterrole-linkspan-operator.yaml',
      'c01/1-clusterrolebinding-linkerd-service-mirror-remote-access-c02.yaml',
      'c01/1-clusterrolebinding-linkspan-operator.yaml',
      'c01/1-role-linkerd-service-mirror-remote-access-c02.yaml',
      'c01/1-role-linkspan-operator.linkerd.yaml',
      'c01/1-role-linkspan-operator.yaml',
      'c01/1-rolebinding-linkerd-service-mirror-remote-access-c02.yaml',
      'c01/1-rolebinding-linkspan-operator.linkerd.yaml',
      'c01/1-rolebinding-linkspan-operator.yaml',
      'c01/1-serviceaccount-linkerd-gateway.yaml',
      'c01/1-serviceaccount-linkerd-service-mirror-remote-access-c02.yaml',
      'c01/1-serviceaccount-linkspan-operator.yaml',
      'c01/2-authorizationpolicy-linkerd-admin.yaml',
      'c01/2-authorizationpolicy-linkerd-gateway.yaml',
      'c01/2-deployment-linkerd-gateway.yaml',
      'c01/2-deployment-linkspan-operator.yaml',
      'c01/2-externalsecret-cluster-credentials-c02.linkerd.yaml',
      'c01/2-externalsecret-cluster-credentials-c02.yaml',
      'c01/2-meshtlsauthentication-any-meshed.yaml',
      'c01/2-networkauthentication-source-cluster.yaml',
      'c01/2-networkpolicy-linkspan-operator.yaml',
      'c01/2-poddisruptionbudget-linkerd-gateway.yaml',
      'c01/2-poddisruptionbudget-linkspan-operator.yaml',
      'c01/2-secret-linkspan-peer-c02.yaml',
      'c01/2-server-linkerd-admin.yaml',
      'c01/2-server-linkerd-gateway.yaml',
      'c01/2-server-linkspan-operator.yaml',
      'c01/2-service-linkerd-gateway.yaml',
      'c01/2-service-linkspan-operator.yaml',
      'c01/3-link-c02.yaml',
    ]);
    expect(Yaml.load(join(cwd, 'clusters/c01/3-link-c02.yaml'))).toMatchObject([
      { kind: 'Link', spec: { targetClusterName: 'c02', gatewayAddress: 'gateway.c2.example.com' } },
    ]);
  });

  it('removes what it once wrote and is wanted no more, and leaves alone what others put there', async () => {
    await say(clusterSetProps(3));
    await synth();
    await writeFile(join(cwd, 'clusters/README.md'), 'ours\n');
    await writeFile(join(cwd, 'clusters/c02/kustomization.yaml'), 'ours too\n');
    const untouched = await stat(join(cwd, 'clusters/c01/3-link-c02.yaml'));

    await say(leavingProps(3));
    expect(await synth()).toMatchObject({ code: 0 });
    await say(clusterSetProps(2));
    expect(await synth()).toMatchObject({ code: 0 });

    const tree = await treeOf('clusters');
    expect(Object.keys(tree).filter((path) => path.includes('c03'))).toEqual([]);
    expect(await readdir(join(cwd, 'clusters'))).toEqual([
      '.gitattributes',
      '.linkspan-synth',
      'README.md',
      'c01',
      'c02',
    ]);
    expect(tree).toMatchObject({ 'README.md': 'ours\n', 'c02/kustomization.yaml': 'ours too\n' });
    expect((await stat(join(cwd, 'clusters/c01/3-link-c02.yaml'))).mtimeMs).toBe(untouched.mtimeMs);
  });

  describe('a cluster that loses its last Link', () => {
    const TO_WEST = { type: 'pairs', pairs: [{ source: 'c01', target: 'c02' }] } as const;
    const kept = (props: ClusterSetProps): ClusterSetProps => ({
      ...props,
      members: props.members.map((member) => (member.name === 'c02' ? { ...member, operator: true } : member)),
    });
    const refusal = (cluster: string, link: string, remedy: string): string =>
      `error: clusters: ${cluster}/2-deployment-linkspan-operator.yaml: must not be removed together with 3-link-${link}.yaml: nothing would remove the mirrors of the Links (${remedy})\n`;
    const wait = (cluster: string, link: string): string =>
      `render and apply; in ${cluster}, take the label mirror.linkerd.io/federated off its Services, and delete its ServiceExports and ServiceFailovers; wait until Lease service-mirror-write-${link} goes, which the operator deletes last`;
    const leave = (cluster: string, link: string): string =>
      `keep member ${cluster} for now, with operator: true and by topology without Links; ${wait(cluster, link)}; then remove the member. Of a cluster that is gone already, delete clusters/${cluster} first`;

    beforeEach(async () => {
      await say(clusterSetProps(2));
      await synth();
    });

    it('does not lose its operator with it, also with --check, and nothing is written', async () => {
      const before = await treeOf('clusters');
      await say({ ...clusterSetProps(2), topology: TO_WEST });
      const remedy = `write operator: true of member c02, ${wait('c02', 'c01')}; then remove operator`;
      const refused = { code: 2, stdout: '', stderr: refusal('c02', 'c01', remedy) };
      expect(await synth()).toEqual(refused);
      expect(await synth('--check')).toEqual(refused);
      expect(await treeOf('clusters')).toEqual(before);
    });

    it('keeps its operator and the CRDs where its member says so, and can lose them afterwards', async () => {
      await say(kept({ ...clusterSetProps(2), topology: TO_WEST }));
      expect(await synth()).toMatchObject({ code: 0, stderr: '' });
      const tree = Object.keys(await treeOf('clusters/c02'));
      expect(tree).not.toContain('3-link-c01.yaml');
      expect(tree).toEqual(
        expect.arrayContaining([
          '0-customresourcedefinition-links.multicluster.linkerd.io.yaml',
          '2-deployment-linkspan-operator.yaml',
        ]),
      );
      expect(await synth('--check')).toEqual({ code: 0, stdout: '', stderr: '' });

      await say({ ...clusterSetProps(2), topology: TO_WEST });
      expect(await synth()).toMatchObject({ code: 0, stderr: '' });
      expect(
        Object.keys(await treeOf('clusters/c02')).filter((path) => /linkspan-operator|links\./.test(path)),
      ).toEqual([]);
      expect(await synth()).toMatchObject({ code: 0, stdout: expect.stringContaining(', 0 changed\n') as string });
    });

    it('does not leave the set with it, nor does the one that it leaves alone', async () => {
      const [first] = clusterSetProps(2).members;
      await say({ ...clusterSetProps(2), members: [first!] });
      const remedy = `write operator: true of member c01, ${wait('c01', 'c02')}; then remove operator`;
      expect(await synth()).toEqual({
        code: 2,
        stdout: '',
        stderr: refusal('c01', 'c02', remedy) + refusal('c02', 'c01', leave('c02', 'c01')),
      });

      const members = clusterSetProps(2).members.map((member) => ({ ...member, operator: true as const }));
      await say({ ...clusterSetProps(2), members, topology: { type: 'pairs', pairs: [] } });
      expect(await synth()).toMatchObject({ code: 0, stderr: '' });
      await say({ ...clusterSetProps(2), members: [first!] });
      expect(await synth()).toMatchObject({ code: 0 });
      expect(await readdir(join(cwd, 'clusters'))).toEqual(['.gitattributes', '.linkspan-synth', 'c01']);
    });

    it('leaves at once if its folder has been deleted, since the cluster is gone', async () => {
      await say(clusterSetProps(3));
      await synth();
      await rm(join(cwd, 'clusters/c03'), { recursive: true });
      await say(clusterSetProps(2));
      expect(await synth()).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(join(cwd, 'clusters'))).toEqual(['.gitattributes', '.linkspan-synth', 'c01', 'c02']);
    });
  });

  it("does not write over somebody else's file", async () => {
    await say(clusterSetProps(2));
    await mkdir(join(cwd, 'clusters/c01'), { recursive: true });
    await writeFile(join(cwd, 'clusters/c01/3-link-c02.yaml'), 'ours\n');

    expect(await synth()).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error: clusters: c01/3-link-c02.yaml: must have been written by linkspan synth to be overwritten (move it, or remove it)\n',
    });
    expect(await treeOf('clusters')).toEqual({ 'c01/3-link-c02.yaml': 'ours\n' });
  });

  it('removes nothing outside of its folder, whatever the list of what it wrote says', async () => {
    await say(clusterSetProps(2));
    await mkdir(join(cwd, 'clusters'));
    await writeFile(join(cwd, 'clusters/.linkspan-synth'), '../linkspan.yaml\n');
    const { code, stderr } = await synth();
    expect(code).toBe(2);
    expect(stderr).toContain('../linkspan.yaml must be a path in the folder (remove that line)');
    expect(await readdir(cwd)).toEqual(['clusters', 'linkspan.yaml']);
  });
});

describe('linkspan synth for Argo CD', () => {
  const sayToArgoCd = async (props: ClusterSetProps) => {
    const argoCd = '\nargoCd:\n  repoUrl: https://git.example.com/mesh.git\n';
    await writeFile(join(cwd, 'linkspan.yaml'), clusterFile(props) + argoCd);
  };

  it('writes its objects beside the clusters, and a member that goes takes only its own with it', async () => {
    await sayToArgoCd(clusterSetProps(3));
    expect(await synth()).toMatchObject({ code: 0, stderr: '' });
    expect(await readdir(join(cwd, 'clusters/argocd'))).toEqual([
      '0-appproject-linkspan.yaml',
      '2-application-linkspan-c01.yaml',
      '2-application-linkspan-c02.yaml',
      '2-application-linkspan-c03.yaml',
      '2-application-linkspan.yaml',
    ]);
    expect(await synth('--check')).toEqual({ code: 0, stdout: '', stderr: '' });

    await sayToArgoCd(leavingProps(3));
    expect(await synth()).toMatchObject({ code: 0, stderr: '' });
    await sayToArgoCd(clusterSetProps(2));
    const { code, stdout } = await synth('--check');
    expect(code).toBe(1);
    const changed = [...stdout.matchAll(/^--- a\/(argocd\/.*)$/gm)].map(([, path]) => path);
    expect(changed).toEqual(['argocd/0-appproject-linkspan.yaml', 'argocd/2-application-linkspan-c03.yaml']);
  });
});

describe('linkspan synth --check', () => {
  it('is content with what synth wrote', async () => {
    await say(clusterSetProps(2));
    await synth();
    expect(await synth('--check')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('prints what would change and exits 1, writing nothing', async () => {
    const props = clusterSetProps(3);
    await say(props);
    await synth();
    const before = await treeOf('clusters');

    const [first, second, third] = leavingProps(3).members as [object, object, object];
    await say({
      ...leavingProps(3),
      members: [first, { ...second, gatewayAddresses: ['203.0.113.7'] }, third] as ClusterSetProps['members'],
    });
    const { code, stdout } = await synth('--check');

    expect(code).toBe(1);
    expect(stdout).toContain('--- a/c01/3-link-c02.yaml\n+++ b/c01/3-link-c02.yaml\n@@ ');
    expect(stdout).toContain('\n-  gatewayAddress: gateway.c2.example.com\n+  gatewayAddress: 203.0.113.7\n');
    expect(stdout).toContain('--- a/c03/3-link-c01.yaml\n+++ /dev/null\n');
    expect(await treeOf('clusters')).toEqual(before);
  });

  it('finds a file that was edited or is missing', async () => {
    await say(clusterSetProps(2));
    await synth();
    await rm(join(cwd, 'clusters/c02/3-link-c01.yaml'));
    const { code, stdout } = await synth('--check');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^--- \/dev\/null\n\+\+\+ b\/c02\/3-link-c01\.yaml\n@@ -0,0 \+1,\d+ @@\n\+api/);
  });
});

describe('linkspan synth of a cluster file that makes no sense', () => {
  it('says everything that is wrong and exits 2, and nothing is written', async () => {
    await writeFile(join(cwd, 'linkspan.yaml'), 'members: [{name: east, gateways: []}]\noperator: {}\n');
    expect(await synth()).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error: linkspan.yaml: members[0].gateways: is not a known field (did you mean gateway?)\nerror: linkspan.yaml: operator.image: is required\n',
    });
    expect(await readdir(cwd)).toEqual(['linkspan.yaml']);
  });

  it('says so if there is none', async () => {
    expect(await synth('-f', 'other.yaml')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: other.yaml: cannot be read: ENOENT (name the cluster file with --file)\n',
    });
  });
});

it('linkspan synth --schema prints the JSON schema of the cluster file, for editors', async () => {
  const { code, stdout } = await synth('--schema');
  expect({ code, schema: JSON.parse(stdout) as unknown }).toEqual({ code: 0, schema: CLUSTER_SET_SCHEMA });
});

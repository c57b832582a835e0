/** What is not this Link's, nor this account's: link, mint, allow and unlink leave it, and say so. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../../../cluster/workload/index.ts';
import {
  credentials,
  link,
  LINKS_NAMESPACE,
  namespace,
  objectRef,
  secretRef,
  service,
} from '../../../support/builders.ts';
import { linkerdConfig } from '../../../support/linkerd-cluster.ts';
import { readerOf } from '../../../support/reader.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';

const CONTROLLERS = ['serviceaccount-token-controller', 'root-ca-certificate-publisher-controller'];
const RBAC = 'rbac.authorization.k8s.io/v1';
const ACCOUNT = 'linkerd-service-mirror-remote-access-east';
const TARGET_UID = 'linkspan.dev/target-cluster-uid';

const accountRef = (name: string, within = LINKS_NAMESPACE) => objectRef('v1', 'ServiceAccount', name, within);

type BindingObject = KubeObject & { readonly subjects?: readonly { readonly namespace?: string }[] };

onEachBacking('what is of others', (backing) => {
  let clusters: TwoClusters;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, west: { controllers: CONTROLLERS } });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-others-'));
    for (const each of ['linkerd', LINKS_NAMESPACE, 'mesh2']) {
      await clusters.west.apply(namespace(each));
      await clusters.east.apply(namespace(each));
    }
    await clusters.west.apply(linkerdConfig('west'));
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const west = (): readonly string[] => [`--kubeconfig=${clusters.westCluster.kubeconfigFile}`, '--context=west'];
  const run = (...args: readonly string[]): Promise<Outcome> => runAs(clusters.westCluster.kubeconfigFile, ...args);
  /** @param kubeconfig of the target */
  const runAs = (kubeconfig: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(
      ...args,
      `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`,
      `--to-kubeconfig=${kubeconfig}`,
      '--to-context=west',
    );
  const address = (): string => `--api-server-address=${clusters.westCluster.server}`;
  const mint = (...args: readonly string[]): Promise<Outcome> =>
    run('credentials', 'mint', address(), '--apply', ...args);
  const minted = async (...args: readonly string[]): Promise<void> => {
    const made = await mint(...args);
    expect(made.code, made.stderr).toBe(0);
  };

  test('the Secret that a Link of another cluster reads by is not written over (L199)', async () => {
    const other = link('prod', { clusterCredentialsSecret: 'cluster-credentials-west' });
    await clusters.east.apply(other);
    const problem =
      'error: Link linkerd-multicluster/prod of east: reads cluster prod by Secret cluster-credentials-west, which is to have the token of another (name the cluster otherwise with --name, or have that Link name another Secret)\n';
    const absent = await mint();
    await clusters.east.apply(credentials('west', clusters.eastCluster.kubeconfig), { fieldManager: 'kubectl' });
    const before = await clusters.east.get(secretRef('cluster-credentials-west'));
    for (const refused of [absent, await mint(), await run('link', address(), '--gateway=false', '--apply')]) {
      expect([refused.code, refused.stdout]).toEqual([1, '']);
      expect(refused.stderr).toContain(problem);
    }
    expect(await clusters.east.get(secretRef('cluster-credentials-west'))).toEqual(before);
    await clusters.east.delete(other);
    await clusters.east.delete(secretRef('cluster-credentials-west'));
    await minted();
    await clusters.east.apply(other);
    // What is certainly the target's may be written again.
    await minted();
    await clusters.east.delete(other);
  });

  test('an account takes no Secret that tokens of another are bound to (L200)', { timeout: 60_000 }, async () => {
    const peer = async () => (await clusters.west.get(secretRef('linkspan-peer-east')))?.metadata;
    const before = await peer();
    const allowed = await linkspanHere('allow', '--service-account-name=east', '--apply', ...west());
    expect(allowed.code, allowed.stderr).toBe(0);
    expect(allowed.stdout).toContain('secret/linkspan-peer-east-2 created');
    const revoked = await linkspanHere(
      'credentials',
      'revoke',
      'x',
      '--service-account-name=east',
      '--apply',
      ...west(),
    );
    expect(revoked.code, revoked.stderr).toBe(0);
    expect(await peer()).toEqual(before);
  });

  test('an account takes no rights of one of its name elsewhere (L201)', { timeout: 60_000 }, async () => {
    const binding = objectRef(RBAC, 'ClusterRoleBinding', ACCOUNT);
    const subjects = async () =>
      (await clusters.west.get<BindingObject>(binding))?.subjects?.map((each) => each.namespace);
    const reason = `error: ClusterRoleBinding ${ACCOUNT} of west: is of another account than ${ACCOUNT} of namespace mesh2, which would take its rights`;
    const second = await mint('-n', 'mesh2');
    expect([second.code, second.stdout]).toEqual([1, '']);
    expect(second.stderr).toContain(`${reason} (name this source otherwise with --source-name)\n`);
    const account = `--service-account-name=${ACCOUNT}`;
    const allowed = await linkspanHere('allow', '-n', 'mesh2', account, '--apply', ...west());
    expect([allowed.code, allowed.stdout]).toEqual([1, '']);
    expect(allowed.stderr).toContain(`${reason} (name another account with --service-account-name)\n`);
    const { metadata, ...kind } = accountRef(ACCOUNT, 'mesh2');
    const labels = { 'linkerd.io/extension': 'multicluster' };
    const elsewhere = { ...kind, metadata: { ...metadata, labels } };
    await clusters.west.apply(elsewhere);
    const revoked = await linkspanHere('credentials', 'revoke', 'x', '-n', 'mesh2', account, '--apply', ...west());
    expect(revoked.code, revoked.stderr).toBe(0);
    expect(await clusters.west.get(accountRef(ACCOUNT, 'mesh2'))).toBeUndefined();
    expect(await subjects()).toEqual([LINKS_NAMESPACE]);
    expect(await clusters.west.get(objectRef(RBAC, 'RoleBinding', ACCOUNT, LINKS_NAMESPACE))).toBeDefined();
  });

  /** A kubeconfig of somebody who may do in the target what mint does, but for something. */
  const someone = async (name: string, rules: Parameters<typeof readerOf>[3]): Promise<string> => {
    const file = join(directory, name);
    await writeFile(file, await readerOf(clusters.westCluster, clusters.west, name, rules));
    return file;
  };
  const ALL = { verbs: ['*'], resources: ['*'] };

  test('what a Secret says of its target stays where nobody may see that (L202)', { timeout: 60_000 }, async () => {
    const file = await someone('no-namespaces', [
      { verbs: ['get'], apiGroups: [''], resources: ['namespaces'], resourceNames: [LINKS_NAMESPACE] },
      {
        verbs: ['*'],
        apiGroups: [''],
        resources: [
          'secrets',
          'serviceaccounts',
          'serviceaccounts/token',
          'configmaps',
          'services',
          'pods',
          'nodes',
          'endpoints',
        ],
      },
      {
        ...ALL,
        apiGroups: ['*'],
        resources: [
          'roles',
          'rolebindings',
          'clusterroles',
          'clusterrolebindings',
          'tokenreviews',
          'endpointslices',
          'replicasets',
          'jobs',
          'serviceexports',
          'clusterproperties',
          'servers',
          'links',
        ],
      },
    ]);
    const recorded = async () =>
      (await clusters.east.get(secretRef('cluster-credentials-west')))?.metadata.annotations?.[TARGET_UID];
    const before = await recorded();
    expect(before).toBeDefined();
    const again = await runAs(file, 'credentials', 'mint', address(), '--apply');
    expect(again.code, again.stderr).toBe(0);
    expect(await recorded()).toBe(before);
    await clusters.east.patch(secretRef('cluster-credentials-west'), { data: { kubeconfig: '' } });
    const unknown = await runAs(file, 'credentials', 'mint', address(), '--apply');
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toContain(
      `error: Secret linkerd-multicluster/cluster-credentials-west of east: is for the cluster whose namespace kube-system has the uid ${before}, and that of west may not be read (have somebody run the command who may get namespace kube-system of west)\n`,
    );
    await minted('--force-conflicts');
  });

  test('an account that may be limited is not widened (L202)', { timeout: 60_000 }, async () => {
    await minted('--name=west-n', '--source-name=narrow', '--export-namespaces=shop');
    const file = await someone('no-roles', [
      { apiGroups: [''], resources: ['namespaces', 'secrets', 'serviceaccounts', 'configmaps'] },
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles', 'clusterrolebindings'] },
    ]);
    const account = 'linkerd-service-mirror-remote-access-narrow';
    const problem = `error: ServiceAccount linkerd-multicluster/${account} of west: may be limited to some namespaces: its Roles cannot be listed in all of them (name these with --export-namespaces, or give it empty to let the account read all)\n`;
    const narrow = ['--name=west-n', '--source-name=narrow'];
    const refused = await runAs(file, 'credentials', 'mint', address(), ...narrow, '--apply');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain(problem);
    const reads = [`--kubeconfig=${file}`, '--context=west'];
    const allowed = await linkspanHere(
      'allow',
      `--service-account-name=${account}`,
      '--ignore-cluster',
      '--apply',
      ...reads,
    );
    expect([allowed.code, allowed.stderr]).toEqual([1, problem]);
    expect(await clusters.west.get(objectRef(RBAC, 'ClusterRole', account))).toBeUndefined();
  });

  test('unlink leaves an account that another Link may read with (L203)', { timeout: 60_000 }, async () => {
    await clusters.east.apply(link('west'));
    const secret = await clusters.east.get(secretRef('cluster-credentials-west'));
    await clusters.east.delete(secretRef('cluster-credentials-west'));
    const typed = await run('unlink', '--name=wset', '--apply', '--timeout=5s');
    expect(typed.code, typed.stderr).toBe(0);
    expect(typed.stderr).toMatch(/Link west, whose credentials cannot be read, may read with it; else run `kubectl /);
    expect(await clusters.west.get(accountRef(ACCOUNT))).toBeDefined();
    // Where the Link's credentials are there, it is another account that is left over.
    const { annotations, labels } = (await clusters.west.get(accountRef(ACCOUNT)))!.metadata;
    const left = { ...accountRef('left-over'), metadata: { ...accountRef('left-over').metadata, annotations, labels } };
    await clusters.west.apply(left);
    await clusters.east.apply({ ...secret!, metadata: { ...secretRef('cluster-credentials-west').metadata } });
    const again = await run('unlink', '--name=wset', '--apply', '--timeout=5s');
    expect(again.stdout).toContain('serviceaccount/left-over deleted in west\n');
    expect(await clusters.west.get(accountRef(ACCOUNT))).toBeDefined();
  });

  const mirror = service('web-west', { labels: { 'mirror.linkerd.io/cluster-name': 'west' } });

  test('unlink leaves what a Link reads with that was made while it waited (L204)', { timeout: 60_000 }, async () => {
    await clusters.east.apply(mirror);
    const running = run('unlink', '--apply', '--timeout=40s');
    await eventually('the Link is gone', async () => (await clusters.east.get(link('west'))) === undefined);
    await clusters.east.apply(link('west'));
    await clusters.east.delete(mirror);
    const { code, stdout, stderr } = await running;
    expect([code, stdout]).toEqual([1, 'link/west deleted in east\n']);
    expect(stderr).toContain(
      'error: Link linkerd-multicluster/west of east: was made while the command ran: the credentials and the account, which it may read with, stay (if it is to go, too, run the command again)\n',
    );
    expect(await clusters.east.get(secretRef('cluster-credentials-west'))).toBeDefined();
    expect(await clusters.west.get(accountRef(ACCOUNT))).toBeDefined();
  });

  test(
    'unlink leaves the account of credentials that were made while it waited (L204)',
    { timeout: 60_000 },
    async () => {
      await clusters.east.apply(mirror);
      const running = run('unlink', '--apply', '--timeout=40s');
      await eventually('the Link is gone', async () => (await clusters.east.get(link('west'))) === undefined);
      await minted('--name=west-2');
      await clusters.east.delete(mirror);
      const { code, stdout, stderr } = await running;
      expect([code, stdout]).toEqual([
        0,
        'link/west deleted in east\nsecret/cluster-credentials-west deleted in east\n',
      ]);
      expect(stderr).toContain(
        `note: ServiceAccount linkerd-multicluster/${ACCOUNT} of west stays, since other credentials of the source cluster are of it\n`,
      );
      expect(await clusters.west.get(accountRef(ACCOUNT))).toBeDefined();
    },
  );

  test('unlink leaves the credentials of a Link that finalizers keep (L211)', { timeout: 60_000 }, async () => {
    await clusters.east.delete(secretRef('cluster-credentials-west'));
    await minted();
    const kept = link('west');
    await clusters.east.apply(kept);
    await clusters.east.patch(kept, { metadata: { finalizers: ['example.com/hold'] } });
    const refused = await run('unlink', '--timeout=1s', '--apply');
    expect(refused.stderr).toContain(
      'error: Link linkerd-multicluster/west of east: is still there after 1 s: finalizers keep it: example.com/hold (see why',
    );
    expect(await clusters.east.get(secretRef('cluster-credentials-west'))).toBeDefined();
    await clusters.east.patch(kept, { metadata: { finalizers: null } });
    const { code, stderr } = await run('unlink', '--apply');
    expect(code, stderr).toBe(0);
    expect(await clusters.east.get(secretRef('cluster-credentials-west'))).toBeUndefined();
  });

  test(
    'unlink finds in its second run the credentials that the Link had named (L210)',
    { timeout: 60_000 },
    async () => {
      const named = secretRef('of-west');
      await clusters.east.apply(link('west', { clusterCredentialsSecret: 'of-west' }));
      await minted();
      await clusters.east.apply(mirror);
      const stopped = await run('unlink', '--apply', '--timeout=1s');
      expect([stopped.code, stopped.stdout]).toEqual([1, 'link/west deleted in east\n']);
      expect(await clusters.east.get(named)).toBeDefined();
      await clusters.east.delete(mirror);
      const { code, stdout, stderr } = await run('unlink', '--apply', '--timeout=5s');
      expect(code, stderr).toBe(0);
      expect(stdout).toBe('secret/of-west deleted in east\n');
      expect(await clusters.east.get(named)).toBeUndefined();
    },
  );
});

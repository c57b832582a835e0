/** `linkspan credentials revoke` where the account of the peer is not there: what it says of those that are. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { LINKS_NAMESPACE, namespace } from '../../../support/builders.ts';
import { readerOf } from '../../../support/reader.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';

const ALIVE = 'linkerd-service-mirror-remote-access-east';
const LISTED = [{ apiGroups: [''], resources: ['namespaces', 'secrets', 'serviceaccounts', 'pods'] }];
const DEPLOYMENTS = { apiGroups: ['apps'], resources: ['deployments'] };
const rights = (...resources: readonly string[]) => ({ apiGroups: ['rbac.authorization.k8s.io'], resources });

onEachBacking('linkspan credentials revoke of an account that is not there', (backing) => {
  let clusters: TwoClusters;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, west: { controllers: ['serviceaccount-token-controller'] } });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-revoke-'));
    await clusters.west.apply(namespace(LINKS_NAMESPACE));
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const revoke = (kubeconfig: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere('credentials', 'revoke', ...args, `--kubeconfig=${kubeconfig}`, '--context=west', '--apply');
  const admin = (): string => clusters.westCluster.kubeconfigFile;
  /** A kubeconfig of somebody who may list some things. */
  const someone = async (name: string, rules: Parameters<typeof readerOf>[3]): Promise<string> => {
    const file = join(directory, name);
    await writeFile(file, await readerOf(clusters.westCluster, clusters.west, name, rules));
    return file;
  };

  test('says that the peer reads with nothing if no account reads the target', async () => {
    const { code, stderr } = await revoke(admin(), 'north');
    expect([code, stderr]).toEqual([0, 'nothing is left in west that north could read it with\n']);
  });

  test('says no more than that an account of the name that is given is not there (L275)', async () => {
    const allowed = await linkspanHere(
      'allow',
      `--service-account-name=${ALIVE}`,
      '--apply',
      `--kubeconfig=${admin()}`,
    );
    expect(allowed.code, allowed.stderr).toBe(0);
    const { code, stderr } = await revoke(admin(), 'east', '--service-account-name=remote-acces-east');
    expect([code, stderr]).toEqual([
      0,
      'nothing is left in west of ServiceAccount linkerd-multicluster/remote-acces-east\n',
    ]);
  });

  test('fails where it cannot be known which accounts read the target (L275)', { timeout: 30_000 }, async () => {
    const all = [...LISTED, DEPLOYMENTS, rights('roles', 'rolebindings', 'clusterroles')];
    const byName = { ...rights('clusterrolebindings'), verbs: ['get'] };
    const { code, stdout, stderr } = await revoke(await someone('no-bindings', [...all, byName]), 'est');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^error: ServiceAccount linkerd-multicluster\/linkerd-service-mirror-remote-access-est of west: is not there, and it is not known whether est reads west with another: .*clusterrolebindings.*\n$/,
    );
  });

  test(
    'says no more than that where Roles, which accounts may read by, cannot be listed (L275)',
    { timeout: 30_000 },
    async () => {
      const { metadata } = namespace('empty');
      await clusters.west.apply(namespace(metadata.name));
      const file = await someone('no-roles', [...LISTED, DEPLOYMENTS, rights('clusterroles', 'clusterrolebindings')]);
      const { code, stderr } = await revoke(file, 'est', '--namespace=empty');
      expect([code, stderr]).toEqual([
        0,
        'nothing is left in west of ServiceAccount empty/linkerd-service-mirror-remote-access-est\n',
      ]);
    },
  );
});

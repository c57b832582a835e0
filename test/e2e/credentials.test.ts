/** The credentials of a target: replaced by others that work, or by what does not, while mirroring runs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { READERS } from '../cluster/guests.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { startCluster } from '../cluster/index.ts';
import { api, eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { credentials, EXPORTED, GATEWAY, namespace, service, slice } from '../support/builders.ts';
import { exportReady, untilGone, untilReady } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import type { TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const [FIRST, SECOND, POWERLESS] = READERS.map(({ token }) => token) as [string, string, string];

const ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'remote-access' },
  rules: [
    { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
  ],
};

const binding = (user: string): ObjectRef => {
  const manifest = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `remote-access-${user}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'remote-access' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  };
  return manifest;
};

onEachBacking('the credentials', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.west.apply(ROLE);
    await clusters.west.apply(binding('first'));
    await clusters.west.apply(binding('second'));
    await clusters.link();
    await give(clusters.westCluster.kubeconfigFor(FIRST));
    operator = clusters.operator();
    await exportReady(clusters, 'web');
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  const give = (kubeconfig: string) => clusters.east.apply(credentials('west', kubeconfig));
  const isUsed = (user: string) =>
    eventually(`the target is read as ${user}`, async () => {
      return (await clusters.westCluster.audit()).some((entry) => entry.user === user);
    });
  const verdict = (what: string, said: (condition: { status: string; reason: string; message: string }) => boolean) =>
    eventually(`CredentialsValid ${what}`, async () => {
      const condition = await clusters.condition('CredentialsValid');
      return condition !== undefined && said(condition) ? condition : undefined;
    });
  /** Mirrors follow the target: a new export appears, and one that ended goes. */
  const isMirroring = async (name: string): Promise<void> => {
    await exportReady(clusters, name);
    await clusters.west.delete(service(name));
    await clusters.west.delete(slice(name));
    await eventually(`${name}-west is gone`, async () => (await clusters.get('Service', `${name}-west`)) === undefined);
  };

  test('L16 E2: a rotated token is taken up without a write, and mirroring outlives the old one', async () => {
    await give(clusters.westCluster.kubeconfigFor(FIRST));
    await eventually('the operator is at rest', () => operator.settled());
    const before = await inventory(clusters);
    await clusters.westCluster.clearAudit();
    await clusters.eastCluster.clearAudit();
    await give(clusters.westCluster.kubeconfigFor(SECOND));
    await isUsed('second');
    await clusters.west.delete(binding('first'));
    // Every connection is made anew: nothing is left that the old token opened.
    await clusters.westCluster.kill();
    await clusters.westCluster.start();
    await eventually('the target is back', () => clusters.west.get(service('web')));
    await isMirroring('rotated');
    const writes = (await clusters.writes()).filter((write) => write.includes('/web-west'));
    expect(writes).toEqual([]);
    expect(await inventory(clusters)).toEqual(before);
    await verdict('is True', ({ status }) => status === 'True');
  });

  test.each([
    ['lower', 0],
    ['higher', 400],
  ])('L45 E2: those of another cluster, whose versions are %s, have everything listed anew', async (_, ahead) => {
    const other = await startCluster({ backing, name: `west-${ahead}` });
    const there = api(other);
    try {
      await there.apply(namespace('shop'));
      for (const name of ['web', `there-${ahead}`]) {
        await there.apply(service(name, { labels: EXPORTED }));
        await there.apply(slice(name));
      }
      for (let count = 0; count < ahead; count += 1) {
        await there.patch(service('web'), { metadata: { annotations: { count: String(count) } } });
      }
      await exportReady(clusters, `here-${ahead}`);
      await give(other.kubeconfig);
      await untilReady(clusters, `there-${ahead}`);
      await untilGone(clusters, `here-${ahead}`);
      await untilReady(clusters, 'web');
      await verdict('is True', ({ status }) => status === 'True');
      await give(clusters.westCluster.kubeconfigFor(SECOND));
      await untilReady(clusters, `here-${ahead}`);
      await untilGone(clusters, `there-${ahead}`);
    } finally {
      await there.close();
      await other.stop();
    }
  });

  test('E2: those that may read less do not replace those that work', async () => {
    const services = { ...ROLE, metadata: { name: 'half' }, rules: ROLE.rules.slice(0, 1) };
    await clusters.west.apply(services);
    await clusters.west.apply({
      ...binding('powerless'),
      metadata: { name: 'half' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'half' },
    } as ObjectRef);
    await give(clusters.westCluster.kubeconfigFor(POWERLESS));
    await verdict('names what is missing', ({ message }) => message.includes('endpointslices'));
    await clusters.west.apply(slice('web', { endpoints: [{ ready: false }] }));
    await eventually('no endpoint is ready', async () => (await clusters.addresses('web-west'))?.length === 0);
    await clusters.west.apply(slice('web'));
    await untilReady(clusters, 'web');
    await give(clusters.westCluster.kubeconfigFor(SECOND));
    await verdict('is True', ({ status }) => status === 'True');
    await clusters.west.delete({ ...binding('powerless'), metadata: { name: 'half' } });
  });

  test('L17 E2 E3: garbage in their place is refused by name, changes nothing that runs, and is forgotten once replaced', async () => {
    const good = clusters.westCluster.kubeconfigFor(SECOND);
    const user = (fields: string) => good.replace(/^(\s+)token: .*$/m, `$1${fields}`);
    const bad: readonly (readonly [string, string, RegExp])[] = [
      ['no YAML of a kubeconfig', 'hunter2: [', /kubeconfig/],
      ['nothing', '', /kubeconfig/],
      ['a program to run', user('exec: {apiVersion: client.authentication.k8s.io/v1, command: hunter2}'), /exec/],
      ['a file to read', user('tokenFile: /var/run/hunter2'), /tokenFile/],
      ['a plain connection', good.replace('https://', 'http://'), /https/],
      ['a token that nobody has', clusters.westCluster.kubeconfigFor('hunter2'), /do not work/],
      ['a token without rights', clusters.westCluster.kubeconfigFor(POWERLESS), /do not work/],
    ];
    const before = await inventory(clusters);
    for (const [at, [what, kubeconfig, reason]] of bad.entries()) {
      await give(kubeconfig);
      const condition = await verdict(`says no to ${what}`, ({ status, message }) => {
        return status === 'False' && reason.test(message);
      });
      expect(condition.message).not.toContain('hunter2');
      await isMirroring(`despite-${at}`);
      expect((await clusters.condition('CredentialsValid'))?.status).toBe('False');
      await give(good);
      await verdict('is True again', ({ status }) => status === 'True');
    }
    expect(await inventory(clusters)).toEqual(before);
    await isMirroring('mended');
  });

  test('L17 E2 E4: a Secret that is deleted, or bad when the operator starts, leaves the mirrors as they are', async () => {
    const good = clusters.westCluster.kubeconfigFor(SECOND);
    const before = await inventory(clusters);
    await clusters.east.delete(credentials('west', good));
    await verdict('misses the Secret', ({ reason }) => reason === 'SecretNotFound');
    await isMirroring('without-secret');

    await operator.stop();
    operator = clusters.operator();
    await eventually('the operator is back', () => operator.leads());
    await give('garbage');
    await verdict('says no', ({ reason }) => reason === 'KubeconfigInvalid');
    await clusters.gateway.die();
    await eventually(
      'the gateway is found dead',
      async () => (await clusters.addresses('web-west'))?.[0] === `!${GATEWAY}`,
    );
    await clusters.gateway.revive();
    await untilReady(clusters, 'web');
    expect(Object.keys(await inventory(clusters))).toEqual(Object.keys(before));
    await give(good);
    await isMirroring('at-last');
    expect(Object.keys(await inventory(clusters))).toEqual(Object.keys(before));
  });
});

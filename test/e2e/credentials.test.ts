/** The credentials of a target: replaced by others that work, or by what does not, while mirroring runs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { credentials, service, slice } from '../support/builders.ts';
import { exportReady, GATEWAY } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { LASTING_LEASE, type TestOperator, World } from '../support/world.ts';

const USERS = ['first', 'second', 'powerless'].map((name) => ({ name, token: `token-of-${name}` }));
const [FIRST, SECOND, POWERLESS] = USERS.map(({ token }) => token) as [string, string, string];

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
  let world: World;
  let operator: TestOperator;
  beforeAll(async () => {
    world = await World.start({ backing, west: { users: USERS } });
    await world.west.apply(ROLE);
    await world.west.apply(binding('first'));
    await world.west.apply(binding('second'));
    await world.link();
    await give(world.westCluster.kubeconfigFor(FIRST));
    operator = world.operator({ flags: LASTING_LEASE });
    await exportReady(world, 'web');
    await world.ready();
  });
  afterAll(() => world.stop());

  const give = (kubeconfig: string) => world.east.apply(credentials('west', kubeconfig));
  const isUsed = (user: string) =>
    eventually(`the target is read as ${user}`, async () => {
      return (await world.westCluster.audit()).some((entry) => entry.user === user);
    });
  const verdict = (what: string, said: (condition: { status: string; reason: string; message: string }) => boolean) =>
    eventually(`CredentialsValid ${what}`, async () => {
      const condition = await world.condition('CredentialsValid');
      return condition !== undefined && said(condition) ? condition : undefined;
    });
  /** Mirrors follow the target: a new export appears, and one that ended goes. */
  const isMirroring = async (name: string): Promise<void> => {
    await exportReady(world, name);
    await world.west.delete(service(name));
    await world.west.delete(slice(name));
    await eventually(`${name}-west is gone`, async () => (await world.get('Service', `${name}-west`)) === undefined);
  };

  test('L16 E2: a rotated token is taken up without a write, and mirroring outlives the old one', async () => {
    await give(world.westCluster.kubeconfigFor(FIRST));
    await eventually('the operator is at rest', async () => operator.manager?.settled);
    const before = await inventory(world);
    await world.westCluster.clearAudit();
    await world.eastCluster.clearAudit();
    await give(world.westCluster.kubeconfigFor(SECOND));
    await isUsed('second');
    await world.west.delete(binding('first'));
    // Every connection is made anew: nothing is left that the old token opened.
    await world.westCluster.kill();
    await world.westCluster.start();
    await eventually('the target is back', () => world.west.get(service('web')));
    await isMirroring('rotated');
    const writes = (await world.writes()).filter((write) => write.includes('/web-west'));
    expect(writes).toEqual([]);
    expect(await inventory(world)).toEqual(before);
    await verdict('is True', ({ status }) => status === 'True');
  });

  test('L17 E2 E3: garbage in their place is refused by name, changes nothing that runs, and is forgotten once replaced', async () => {
    const good = world.westCluster.kubeconfigFor(SECOND);
    const user = (fields: string) => good.replace(/^(\s+)token: .*$/m, `$1${fields}`);
    const bad: readonly (readonly [string, string, RegExp])[] = [
      ['no YAML of a kubeconfig', 'hunter2: [', /kubeconfig/],
      ['nothing', '', /kubeconfig/],
      ['a program to run', user('exec: {apiVersion: client.authentication.k8s.io/v1, command: hunter2}'), /exec/],
      ['a file to read', user('tokenFile: /var/run/hunter2'), /tokenFile/],
      ['a plain connection', good.replace('https://', 'http://'), /https/],
      ['a token that nobody has', world.westCluster.kubeconfigFor('hunter2'), /do not work/],
      ['a token without rights', world.westCluster.kubeconfigFor(POWERLESS), /do not work/],
    ];
    const before = await inventory(world);
    for (const [at, [what, kubeconfig, reason]] of bad.entries()) {
      await give(kubeconfig);
      const condition = await verdict(`says no to ${what}`, ({ status, message }) => {
        return status === 'False' && reason.test(message);
      });
      expect(condition.message).not.toContain('hunter2');
      await isMirroring(`despite-${at}`);
      expect((await world.condition('CredentialsValid'))?.status).toBe('False');
      await give(good);
      await verdict('is True again', ({ status }) => status === 'True');
    }
    expect(await inventory(world)).toEqual(before);
    await isMirroring('mended');
  });

  test('L17 E2 E4: a Secret that is deleted, or bad when the operator starts, leaves the mirrors as they are', async () => {
    const good = world.westCluster.kubeconfigFor(SECOND);
    const before = await inventory(world);
    await world.east.delete(credentials('west', good));
    await verdict('misses the Secret', ({ reason }) => reason === 'SecretNotFound');
    await isMirroring('without-secret');

    await operator.stop();
    operator = world.operator({ flags: LASTING_LEASE });
    await eventually('the operator is back', async () => operator.manager?.synced);
    await give('garbage');
    await verdict('says no', ({ reason }) => reason === 'KubeconfigInvalid');
    await world.gateway.die();
    await eventually(
      'the gateway is found dead',
      async () => (await world.addresses('web-west'))?.[0] === `!${GATEWAY}`,
    );
    await world.gateway.revive();
    await eventually('the gateway is found alive', async () => (await world.addresses('web-west'))?.[0] === GATEWAY);
    expect(Object.keys(await inventory(world))).toEqual(Object.keys(before));
    await give(good);
    await isMirroring('at-last');
    expect(Object.keys(await inventory(world))).toEqual(Object.keys(before));
  });
});

/**
 * The operator limited to namespaces, on both sides, under the Roles that the constructs render and no others: what it
 * may read works, what it may not read is the trouble of that namespace alone, and nothing is deleted on the strength
 * of what is not known. ADR 7 says how a namespace is known to be there.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MirrorOperator } from '../../constructs/mirror-operator.ts';
import { RemoteAccess } from '../../constructs/remote-access.ts';
import { type ApiJson, render } from '../../constructs/mirror/render.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { type Api, eventually } from '../cluster/workload/index.ts';
import { credentials, EXPORTED, link, namespace, service, slice } from '../support/builders.ts';
import { exportReady, GATEWAY } from '../support/exports.ts';
import { serviceAccountUser } from '../support/rendered-operator.ts';
import { LASTING_LEASE, LINKS_NAMESPACE, type ServiceObject, type TestOperator, World } from '../support/world.ts';

const OPERATOR = {
  name: serviceAccountUser(LINKS_NAMESPACE, 'linkspan-operator'),
  groups: ['system:serviceaccounts', 'system:authenticated'],
  token: 'token-of-the-operator',
};
const REMOTE = {
  name: serviceAccountUser(LINKS_NAMESPACE, 'linkerd-service-mirror-remote-access-east'),
  groups: ['system:serviceaccounts', 'system:authenticated'],
  token: 'token-of-east',
};
/** Where mirrors may be; `later` is made by a test. */
const SOURCE_NAMESPACES = ['shop', 'bank', 'bare', 'later'];
const TARGET_NAMESPACES = ['shop', 'bank'];
const WEST_SECRET = 'cluster-credentials-west';

const isRight = ({ kind }: ApiJson): boolean => kind.includes('Role');

const operatorRights = render((chart) => {
  new MirrorOperator(chart, 'operator', {
    image: 'linkspan',
    mirrorNamespaces: SOURCE_NAMESPACES,
    credentialsSecrets: [WEST_SECRET],
  });
}).filter(isRight);

const remoteRights = render((chart) => {
  new RemoteAccess(chart, 'remote', { sourceCluster: 'east', namespaces: TARGET_NAMESPACES });
}).filter(isRight);

const rightsIn = (rights: readonly ApiJson[], within: string): readonly ApiJson[] =>
  rights.filter(({ metadata }) => metadata.namespace === within);

const grant = async (cluster: Api, rights: readonly ApiJson[], within: string): Promise<void> => {
  for (const right of rightsIn(rights, within)) await cluster.apply(right);
};

const revoke = async (cluster: Api, rights: readonly ApiJson[], within: string): Promise<void> => {
  for (const right of rightsIn(rights, within)) await cluster.delete(right);
};

onEachBacking('limited to namespaces', (backing) => {
  let world: World;
  let operator: TestOperator;
  let directory: string;
  let kubeconfigFile: string;

  const startOperator = (): TestOperator =>
    world.operator({
      kubeconfigFile,
      flags: {
        ...LASTING_LEASE,
        mirrorNamespaces: SOURCE_NAMESPACES.join(','),
        credentialsSecrets: WEST_SECRET,
      },
    });
  const exported = async (name: string, within: string): Promise<void> => {
    await world.west.apply(service(name, { labels: EXPORTED, namespace: within }));
    await world.west.apply(slice(name, { namespace: within }));
  };
  const unexported = async (name: string, within: string): Promise<void> => {
    await world.west.delete(service(name, { namespace: within }));
  };
  const isReady = async (name: string, within: string): Promise<boolean> =>
    (await world.addresses(`${name}-west`, within))?.[0] === GATEWAY;
  const isGone = async (name: string, within: string): Promise<boolean> =>
    (await world.get('Service', `${name}-west`, within)) === undefined;
  const reasonOf = async (name: string, within: string): Promise<string | undefined> =>
    (await world.mirrorCondition(name, within))?.reason;
  const untilMissing = (name: string, within: string) =>
    eventually(`${within}/${name} has no namespace`, async () => (await reasonOf(name, within)) === 'MissingNamespace');

  beforeAll(async () => {
    process.env['POD_IPS'] = '10.244.0.1';
    directory = await mkdtemp(join(tmpdir(), 'linkspan-namespaces-'));
    world = await World.start({
      backing,
      east: { users: [OPERATOR], controllers: ['namespace-controller'] },
      west: { users: [REMOTE] },
      namespaces: ['shop', 'bank', 'bare'],
    });
    kubeconfigFile = join(directory, 'operator.kubeconfig');
    await writeFile(kubeconfigFile, world.eastCluster.kubeconfigFor(OPERATOR.token));
    for (const within of [LINKS_NAMESPACE, 'shop', 'bank']) await grant(world.east, operatorRights, within);
    for (const within of TARGET_NAMESPACES) await grant(world.west, remoteRights, within);
    await world.east.apply(credentials('west', world.westCluster.kubeconfigFor(REMOTE.token)));
    await world.east.apply(link('west', { targetNamespaces: TARGET_NAMESPACES }));
    operator = startOperator();
    await world.ready();
  });
  afterAll(async () => {
    delete process.env['POD_IPS'];
    await world.stop();
    await rm(directory, { recursive: true });
  });

  test('H6 mirrors what it may read, and asks neither cluster for anything that it has no right to', async () => {
    await Promise.all([world.eastCluster.clearAudit(), world.westCluster.clearAudit()]);
    await exportReady(world, 'first');
    await exportReady(world, 'first', { namespace: 'bank' });
    await exported('first', 'bare');
    const foreign = [
      ...(await world.eastCluster.audit()).filter(({ user }) => user === OPERATOR.name),
      ...(await world.westCluster.audit()).filter(({ user }) => user === REMOTE.name),
    ].filter(({ code, namespace: within }) => code === 403 && within !== 'bare' && within !== 'later');
    expect(foreign).toEqual([]);
    expect(await isGone('first', 'bare')).toBe(true);
  });

  describe('in the source cluster', () => {
    beforeAll(async () => {
      // The target exports from all of them.
      for (const within of ['bare', 'later']) {
        await world.west.apply(namespace(within));
        await world.west.apply({
          ...rightsIn(remoteRights, 'shop')[0]!,
          metadata: { ...rightsIn(remoteRights, 'shop')[0]!.metadata, namespace: within },
        });
        await world.west.apply({
          ...rightsIn(remoteRights, 'shop')[1]!,
          metadata: { ...rightsIn(remoteRights, 'shop')[1]!.metadata, namespace: within },
        });
      }
      await world.east.apply(link('west', { targetNamespaces: SOURCE_NAMESPACES }));
      await world.ready();
    });

    test('A3 a namespace that does not exist, and one without a Role, keep no other waiting, and say what to do', async () => {
      await exported('early', 'later');
      await exported('early', 'bare');
      await exportReady(world, 'early');
      for (const within of ['later', 'bare']) {
        await untilMissing('early', within);
        const message = (await world.mirrorCondition('early', within))?.message;
        expect(message).toContain(`namespace ${within} cannot be read in the source cluster: it does not exist, or`);
        expect(message).toContain('apply the Role that MirrorOperator renders for it');
      }
      expect(operator.manager?.synced).toBe(true);
    });

    test('A3 L18 mirrors appear once the namespace is made, or gets its Role', async () => {
      await world.east.apply(namespace('later'));
      await grant(world.east, operatorRights, 'later');
      await eventually('the new namespace has its mirror', () => isReady('early', 'later'));
      await grant(world.east, operatorRights, 'bare');
      await eventually('the other has its mirror', () => isReady('early', 'bare'));
    });

    test('A3 a namespace that is deleted is missing until it is made anew', async () => {
      await world.east.delete(namespace('later'));
      await untilMissing('early', 'later');
      await exportReady(world, 'meanwhile');
      await eventually('it is gone', async () => (await world.east.get(namespace('later'))) === undefined);
      await world.east.apply(namespace('later'));
      await grant(world.east, operatorRights, 'later');
      await eventually('it has its mirror again', () => isReady('early', 'later'));
    });

    test('L7 C5 a restart deletes nothing in a namespace that it cannot read now, and writes nothing once it can', async () => {
      await exportReady(world, 'kept', { namespace: 'bare' });
      const before = await world.get<ServiceObject>('Service', 'kept-west', 'bare');
      await operator.stop();
      await revoke(world.east, operatorRights, 'bare');
      await world.eastCluster.clearAudit();
      operator = startOperator();
      await untilMissing('kept', 'bare');
      await exportReady(world, 'after');
      expect(await world.get('Service', 'kept-west', 'bare')).toEqual(before);
      await grant(world.east, operatorRights, 'bare');
      await eventually('it is read', async () => (await reasonOf('kept', 'bare')) === 'Mirrored');
      expect((await world.writes()).filter((write) => write.includes(' bare/'))).toEqual([]);
    });

    test('E5 what a deleted Link left in a namespace that cannot be read goes once it can', async () => {
      await exportReady(world, 'left', { namespace: 'bare' });
      await revoke(world.east, operatorRights, 'bare');
      await unexported('left', 'bare');
      await untilMissing('left', 'bare');
      await world.east.delete(link('west'));
      await eventually('what can be read is gone', () => isGone('after', 'shop'));
      expect(await isGone('left', 'bare')).toBe(false);
      expect(await world.get('Lease', 'service-mirror-write-west', LINKS_NAMESPACE)).toBeDefined();
      await grant(world.east, operatorRights, 'bare');
      await eventually('the rest is gone', () => isGone('left', 'bare'));
      await eventually('the Lease is gone', async () => {
        return (await world.get('Lease', 'service-mirror-write-west', LINKS_NAMESPACE)) === undefined;
      });
    });
  });

  describe('in the target cluster', () => {
    beforeAll(async () => {
      await world.east.apply(link('west', { targetNamespaces: TARGET_NAMESPACES }));
      await world.ready();
    });

    test('E4 a namespace that may not be read keeps its mirrors, stops no other, and is named', async () => {
      await exportReady(world, 'web', { namespace: 'bank' });
      await exportReady(world, 'web');
      await revoke(world.west, remoteRights, 'bank');
      // A watch that is open outlives the right to it.
      await world.westCluster.kill();
      await world.westCluster.start();
      const condition = await eventually('it is told', async () => {
        const found = await world.condition('TargetReachable');
        return found?.reason === 'NamespaceForbidden' ? found : undefined;
      });
      expect(condition.status).toBe('False');
      expect(condition.message).toMatch(/^namespace bank of the target may not be read: .*stays as it is/);
      expect(condition.message).toContain('apply the Role that RemoteAccess renders for it');
      expect((await world.condition('Ready'))?.reason).toBe('NamespaceForbidden');
      expect((await world.condition('CredentialsValid'))?.status).toBe('True');
      await exportReady(world, 'other');
      await unexported('web', 'shop');
      await eventually('the unexport is followed', () => isGone('web', 'shop'));
      expect(await isReady('web', 'bank')).toBe(true);
    });

    test('L7 E4 nor does a restart then take its mirrors', async () => {
      await operator.stop();
      operator = startOperator();
      await eventually('it is told anew', async () => {
        return (await world.condition('Ready'))?.reason === 'NamespaceForbidden' && operator.manager?.settled;
      });
      await exportReady(world, 'another');
      expect(await isReady('web', 'bank')).toBe(true);
      await unexported('web', 'bank');
      await grant(world.west, remoteRights, 'bank');
      await world.ready();
      await eventually('what went meanwhile goes', () => isGone('web', 'bank'));
    });

    test('L22 E6 exports that are gone from all of its namespaces are counted together, and held', async () => {
      const names = Array.from({ length: 12 }, (_, index) => [`lost-${index}`, TARGET_NAMESPACES[index % 2]!] as const);
      await Promise.all(names.map(([name, within]) => exportReady(world, name, { namespace: within })));
      for (const within of TARGET_NAMESPACES) {
        const all = await world.west.list({ apiVersion: 'v1', kind: 'Service', namespace: within });
        const others = all.filter(({ metadata }) => !metadata.name.startsWith('lost-'));
        for (const object of others) await world.west.delete(object);
      }
      await eventually('no other is left', async () => {
        const mirrors = await world.east.list({
          apiVersion: 'v1',
          kind: 'Service',
          labelSelector: 'mirror.linkerd.io/mirrored-service',
        });
        return mirrors.length === names.length;
      });
      await operator.stop();
      await Promise.all(names.map(([name, within]) => unexported(name, within)));
      operator = startOperator();
      await eventually('they are held', async () => {
        return (await world.condition('PruneHeld'))?.message.includes(`no longer lists ${names.length} `);
      });
      for (const [name, within] of names) expect(await isGone(name, within), name).toBe(false);
      await Promise.all(names.map(([name, within]) => exported(name, within)));
      await eventually('nothing is held', async () => (await world.condition('PruneHeld'))?.status === 'False');
    });

    test('A2 a namespace that the Link no longer names is mirrored no longer', async () => {
      await exportReady(world, 'dropped', { namespace: 'bank' });
      await world.east.apply(link('west', { targetNamespaces: ['shop'] }));
      await eventually('its mirror is gone', () => isGone('dropped', 'bank'));
      await exportReady(world, 'stays');
    });
  });

  test('E2 a Link whose Secret the operator is not told of says so, and how to mend it', async () => {
    await world.eastCluster.clearAudit();
    await world.east.apply(credentials('north', world.westCluster.kubeconfigFor(REMOTE.token)));
    await world.east.apply(link('north'));
    const condition = await eventually('it is told', async () => {
      const found = await world.condition('CredentialsValid', 'north');
      return found?.status === 'False' ? found : undefined;
    });
    expect(condition.reason).toBe('SecretNotListed');
    expect(condition.message).toContain(`not among --credentials-secrets (${WEST_SECRET})`);
    expect(condition.message).toContain('credentialsSecrets of MirrorOperator');
    const asked = (await world.eastCluster.audit()).filter(({ resource, user }) => {
      return resource === 'secrets' && user === OPERATOR.name;
    });
    expect(asked.filter(({ uri }) => !uri.includes(`metadata.name%3D${WEST_SECRET}`))).toEqual([]);
    await world.east.delete(link('north'));
  });
});

onEachBacking('limited to namespaces by an operator that may do more', (backing) => {
  test('A3 a namespace that does not exist is told from others all the same', async () => {
    const world = await World.start({ backing });
    try {
      await world.west.apply(namespace('later'));
      await world.link();
      world.operator({ flags: { ...LASTING_LEASE, mirrorNamespaces: 'shop,later' } });
      await world.west.apply(service('web', { labels: EXPORTED, namespace: 'later' }));
      await exportReady(world, 'web');
      await eventually('it is missing', async () => {
        return (await world.mirrorCondition('web', 'later'))?.reason === 'MissingNamespace';
      });
      await world.east.apply(namespace('later'));
      await exportReady(world, 'web', { namespace: 'later' });
    } finally {
      await world.stop();
    }
  });
});

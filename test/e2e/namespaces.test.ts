/**
 * The operator limited to namespaces, on both sides, under the Roles that the constructs render and no others: what it
 * may read works, what it may not read affects only that namespace, and nothing is deleted while its state is unknown.
 * ADR 7 explains how a namespace is known to exist.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MirrorOperator } from '../../constructs/operator/mirror-operator.ts';
import { RemoteAccess } from '../../constructs/gateway/remote-access.ts';
import { type ApiJson, render } from '../../constructs/rendered/render.ts';
import { ACCOUNTS } from '../cluster/guests.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { type Api, eventually } from '../cluster/workload/index.ts';
import {
  credentials,
  EXPORTED,
  GATEWAY,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
} from '../support/builders.ts';
import { exportReady } from '../support/exports.ts';
import type { TestOperator } from '../support/operator.ts';
import type { ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const [OPERATOR, REMOTE] = ACCOUNTS;
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
  new RemoteAccess(chart, 'remote', { sourceCluster: 'east', exportNamespaces: TARGET_NAMESPACES });
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
  let clusters: TwoClusters;
  let operator: TestOperator;
  let directory: string;
  let kubeconfigFile: string;

  const startOperator = (): TestOperator =>
    clusters.operator({
      kubeconfigFile,
      flags: {
        mirrorNamespaces: SOURCE_NAMESPACES.join(','),
        credentialsSecrets: WEST_SECRET,
      },
    });
  const exported = async (name: string, within: string): Promise<void> => {
    await clusters.west.apply(service(name, { labels: EXPORTED, namespace: within }));
    await clusters.west.apply(slice(name, { namespace: within }));
  };
  const unexported = async (name: string, within: string): Promise<void> => {
    await clusters.west.delete(service(name, { namespace: within }));
  };
  const isReady = async (name: string, within: string): Promise<boolean> =>
    (await clusters.addresses(`${name}-west`, within))?.[0] === GATEWAY;
  const isGone = async (name: string, within: string): Promise<boolean> =>
    (await clusters.get('Service', `${name}-west`, within)) === undefined;
  const reasonOf = async (name: string, within: string): Promise<string | undefined> =>
    (await clusters.mirrorCondition(name, within))?.reason;
  const untilMissing = (name: string, within: string) =>
    eventually(`${within}/${name} has no namespace`, async () => (await reasonOf(name, within)) === 'MissingNamespace');

  beforeAll(async () => {
    process.env['POD_IPS'] = '10.244.0.1';
    directory = await mkdtemp(join(tmpdir(), 'linkspan-namespaces-'));
    clusters = await TwoClusters.start({
      backing,
      east: { controllers: ['namespace-controller'] },
      namespaces: ['shop', 'bank', 'bare'],
    });
    kubeconfigFile = join(directory, 'operator.kubeconfig');
    await writeFile(kubeconfigFile, clusters.eastCluster.kubeconfigFor(OPERATOR.token));
    for (const within of [LINKS_NAMESPACE, 'shop', 'bank']) await grant(clusters.east, operatorRights, within);
    for (const within of TARGET_NAMESPACES) await grant(clusters.west, remoteRights, within);
    await clusters.east.apply(credentials('west', clusters.westCluster.kubeconfigFor(REMOTE.token)));
    await clusters.east.apply(link('west', { targetNamespaces: TARGET_NAMESPACES }));
    operator = startOperator();
    await clusters.ready();
  });
  afterAll(async () => {
    delete process.env['POD_IPS'];
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  test('H6 mirrors what it may read, and asks neither cluster for anything that it has no right to', async () => {
    await Promise.all([clusters.eastCluster.clearAudit(), clusters.westCluster.clearAudit()]);
    await exportReady(clusters, 'first');
    await exportReady(clusters, 'first', { namespace: 'bank' });
    await exported('first', 'bare');
    const foreign = [
      ...(await clusters.eastCluster.audit()).filter(({ user }) => user === OPERATOR.name),
      ...(await clusters.westCluster.audit()).filter(({ user }) => user === REMOTE.name),
    ].filter(({ code, namespace: within }) => code === 403 && within !== 'bare' && within !== 'later');
    // What the cluster is called in its set only a ClusterRole could tell: an operator that is limited has none, unless
    // somebody grants it apart. It asks, and goes on as `local`.
    expect(foreign.filter(({ resource }) => resource !== 'clusterproperties')).toEqual([]);
    expect(await isGone('first', 'bare')).toBe(true);
  });

  describe('in the source cluster', () => {
    beforeAll(async () => {
      // The target exports from all of them.
      for (const within of ['bare', 'later']) {
        await clusters.west.apply(namespace(within));
        await clusters.west.apply({
          ...rightsIn(remoteRights, 'shop')[0]!,
          metadata: { ...rightsIn(remoteRights, 'shop')[0]!.metadata, namespace: within },
        });
        await clusters.west.apply({
          ...rightsIn(remoteRights, 'shop')[1]!,
          metadata: { ...rightsIn(remoteRights, 'shop')[1]!.metadata, namespace: within },
        });
      }
      await clusters.east.apply(link('west', { targetNamespaces: SOURCE_NAMESPACES }));
      await clusters.ready();
    });

    test('A3 a namespace that does not exist, and one without a Role, delay no other, and are reported with a remedy', async () => {
      await exported('early', 'later');
      await exported('early', 'bare');
      await exportReady(clusters, 'early');
      for (const within of ['later', 'bare']) {
        await untilMissing('early', within);
        const message = (await clusters.mirrorCondition('early', within))?.message;
        expect(message).toContain(`namespace ${within} cannot be read in the source cluster: it does not exist, or`);
        expect(message).toContain('apply the Role that MirrorOperator renders for it');
      }
      expect(await operator.leads()).toBe(true);
    });

    test('A3 L18 mirrors appear once the namespace is made, or gets its Role', async () => {
      await clusters.east.apply(namespace('later'));
      await grant(clusters.east, operatorRights, 'later');
      await eventually('the new namespace has its mirror', () => isReady('early', 'later'));
      await grant(clusters.east, operatorRights, 'bare');
      await eventually('the other has its mirror', () => isReady('early', 'bare'));
    });

    test('A3 a namespace that is deleted is missing until it is made anew', async () => {
      await clusters.east.delete(namespace('later'));
      await untilMissing('early', 'later');
      await exportReady(clusters, 'meanwhile');
      await eventually('it is gone', async () => (await clusters.east.get(namespace('later'))) === undefined);
      await clusters.east.apply(namespace('later'));
      await grant(clusters.east, operatorRights, 'later');
      await eventually('it has its mirror again', () => isReady('early', 'later'));
    });

    test('L7 C5 a restart deletes nothing in a namespace that it cannot read now, and writes nothing once it can', async () => {
      await exportReady(clusters, 'kept', { namespace: 'bare' });
      const before = await clusters.get<ServiceObject>('Service', 'kept-west', 'bare');
      await operator.stop();
      await revoke(clusters.east, operatorRights, 'bare');
      await clusters.eastCluster.clearAudit();
      operator = startOperator();
      await untilMissing('kept', 'bare');
      await exportReady(clusters, 'after');
      expect(await clusters.get('Service', 'kept-west', 'bare')).toEqual(before);
      await grant(clusters.east, operatorRights, 'bare');
      await eventually('it is read', async () => (await reasonOf('kept', 'bare')) === 'Mirrored');
      expect((await clusters.writes()).filter((write) => write.includes(' bare/'))).toEqual([]);
    });

    test('E5 what a deleted Link left in a namespace that cannot be read goes once it can', async () => {
      await exportReady(clusters, 'left', { namespace: 'bare' });
      await revoke(clusters.east, operatorRights, 'bare');
      await unexported('left', 'bare');
      await untilMissing('left', 'bare');
      await clusters.east.delete(link('west'));
      await eventually('what can be read is gone', () => isGone('after', 'shop'));
      expect(await isGone('left', 'bare')).toBe(false);
      expect(await clusters.get('Lease', 'service-mirror-write-west', LINKS_NAMESPACE)).toBeDefined();
      await grant(clusters.east, operatorRights, 'bare');
      await eventually('the rest is gone', () => isGone('left', 'bare'));
      await eventually('the Lease is gone', async () => {
        return (await clusters.get('Lease', 'service-mirror-write-west', LINKS_NAMESPACE)) === undefined;
      });
    });
  });

  describe('in the target cluster', () => {
    beforeAll(async () => {
      await clusters.east.apply(link('west', { targetNamespaces: TARGET_NAMESPACES }));
      await clusters.ready();
    });

    test('E4 a namespace that may not be read keeps its mirrors, stops no other, and is named', async () => {
      await exportReady(clusters, 'web', { namespace: 'bank' });
      await exportReady(clusters, 'web');
      await revoke(clusters.west, remoteRights, 'bank');
      // A watch that is open outlives the right to it.
      await clusters.westCluster.kill();
      await clusters.westCluster.start();
      const condition = await eventually('it is reported', async () => {
        const found = await clusters.condition('TargetReachable');
        // An API server that has just started may take a moment to know of any right.
        const isIt = /^namespace bank of the target may not be read: .*stays as it is/.test(found?.message ?? '');
        return found?.reason === 'NamespaceForbidden' && isIt ? found : undefined;
      });
      expect(condition.status).toBe('False');
      expect(condition.message).toContain('apply the Role that RemoteAccess renders for it');
      expect((await clusters.condition('Ready'))?.reason).toBe('NamespaceForbidden');
      expect((await clusters.condition('CredentialsValid'))?.status).toBe('True');
      await exportReady(clusters, 'other');
      await unexported('web', 'shop');
      await eventually('the unexport is followed', () => isGone('web', 'shop'));
      expect(await isReady('web', 'bank')).toBe(true);
    });

    test('L7 E4 nor does a restart then take its mirrors', async () => {
      await operator.stop();
      operator = startOperator();
      await eventually('it is reported again', async () => {
        return (await clusters.condition('Ready'))?.reason === 'NamespaceForbidden' && (await operator.settled());
      });
      await exportReady(clusters, 'another');
      expect(await isReady('web', 'bank')).toBe(true);
      await unexported('web', 'bank');
      await grant(clusters.west, remoteRights, 'bank');
      await clusters.ready();
      await eventually('what went meanwhile goes', () => isGone('web', 'bank'));
    });

    test('L22 E6 exports that are gone from all of its namespaces are counted together, and held', async () => {
      const names = Array.from({ length: 12 }, (_, index) => [`lost-${index}`, TARGET_NAMESPACES[index % 2]!] as const);
      await Promise.all(names.map(([name, within]) => exportReady(clusters, name, { namespace: within })));
      for (const within of TARGET_NAMESPACES) {
        const all = await clusters.west.list({ apiVersion: 'v1', kind: 'Service', namespace: within });
        const others = all.filter(({ metadata }) => !metadata.name.startsWith('lost-'));
        for (const object of others) await clusters.west.delete(object);
      }
      await eventually('no other is left', async () => {
        const mirrors = await clusters.east.list({
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
        return (await clusters.condition('PruneHeld'))?.message.includes(`no longer lists ${names.length} `);
      });
      for (const [name, within] of names) expect(await isGone(name, within), name).toBe(false);
      await Promise.all(names.map(([name, within]) => exported(name, within)));
      await eventually('nothing is held', async () => (await clusters.condition('PruneHeld'))?.status === 'False');
    });

    test('A2 a namespace that the Link no longer names is mirrored no longer', async () => {
      await exportReady(clusters, 'dropped', { namespace: 'bank' });
      await clusters.east.apply(link('west', { targetNamespaces: ['shop'] }));
      await eventually('its mirror is gone', () => isGone('dropped', 'bank'));
      await exportReady(clusters, 'stays');
    });
  });

  test('E2 a Link whose Secret is not among those of the operator reports it, with a remedy', async () => {
    await clusters.eastCluster.clearAudit();
    await clusters.east.apply(credentials('north', clusters.westCluster.kubeconfigFor(REMOTE.token)));
    await clusters.east.apply(link('north'));
    const condition = await eventually('it is reported', async () => {
      const found = await clusters.condition('CredentialsValid', 'north');
      return found?.status === 'False' ? found : undefined;
    });
    expect(condition.reason).toBe('SecretNotListed');
    expect(condition.message).toContain(`not among --credentials-secrets (${WEST_SECRET})`);
    expect(condition.message).toContain('credentialsSecrets of MirrorOperator');
    const asked = (await clusters.eastCluster.audit()).filter(({ resource, user }) => {
      return resource === 'secrets' && user === OPERATOR.name;
    });
    expect(asked.filter(({ uri }) => !uri.includes(`metadata.name%3D${WEST_SECRET}`))).toEqual([]);
    await clusters.east.delete(link('north'));
  });
});

onEachBacking('limited to namespaces by an operator that may do more', (backing) => {
  test('A3 a namespace that does not exist is still distinguished from others', async () => {
    const clusters = await TwoClusters.start({ backing });
    try {
      await clusters.west.apply(namespace('later'));
      await clusters.link();
      clusters.operator({ flags: { mirrorNamespaces: 'shop,later' } });
      await clusters.west.apply(service('web', { labels: EXPORTED, namespace: 'later' }));
      await exportReady(clusters, 'web');
      await eventually('it is missing', async () => {
        return (await clusters.mirrorCondition('web', 'later'))?.reason === 'MissingNamespace';
      });
      await clusters.east.apply(namespace('later'));
      await exportReady(clusters, 'web', { namespace: 'later' });
    } finally {
      await clusters.stop();
    }
  });
});

/** Names that two want, and objects that are not ours: rules A6 and A7 of behaviour.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backings } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, service, slice, statefulSlice } from '../support/builders.ts';
import { exportHeadless, exportReady, exportService, hostsOf, untilReady } from '../support/exports.ts';
import type { ServiceObject } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
import { linkVia, untilMirrored, untilRefused } from '../support/reports.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const unexport = { metadata: { labels: { 'mirror.linkerd.io/exported': null } } };

const DEADLINE_MS = 40_000;

/** Creates both, the first one older by the clock of the API server, which counts seconds. */
const inTurn = async (...objects: readonly (() => Promise<KubeObject>)[]): Promise<void> => {
  for (const create of objects) {
    const { metadata } = await create();
    await eventually('the next second', async () => Date.now() - Date.parse(metadata.creationTimestamp) >= 1100);
  }
};

const exportedPods = async (clusters: TwoClusters, name: string, hostnames: readonly string[]): Promise<void> => {
  await clusters.west.apply(service(name, { headless: true, labels: EXPORTED }));
  await clusters.west.apply(statefulSlice(name, hostnames));
};

onEachBacking('a name', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = clusters.operator();
  });
  afterAll(() => clusters.stop());

  const ownEndpoints = (name: string): ObjectRef => {
    const metadata = { name, namespace: 'shop' };
    const subsets = [{ addresses: [{ ip: '198.51.100.7' }], ports: [{ name: 'http', port: 8080 }] }];
    const manifest = { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets };
    return manifest;
  };

  test("L13 A6: a Service of the user's own is left alone when its namesake is exported, updated and deleted", async () => {
    const own = service('taken-west', { labels: { app: 'mine' }, ports: [{ name: 'db', port: 5432 }] });
    await clusters.east.create(own);
    await clusters.east.create(ownEndpoints('taken-west'));
    const now = () => Promise.all(['Service', 'Endpoints'].map((kind) => clusters.get(kind, 'taken-west')));
    const before = await now();

    await exportService(clusters, 'taken');
    const refused = await eventually('the conflict is reported', async () => {
      const condition = await clusters.mirrorCondition('taken');
      return condition?.reason === 'NameConflict' ? condition : undefined;
    });
    expect(refused.status).toBe('False');
    expect(refused.message).toContain('shop/taken-west');
    expect(await now()).toEqual(before);

    await clusters.west.patch(service('taken'), { spec: { ports: [{ name: 'http', port: 81, targetPort: 8080 }] } });
    await clusters.gateway.die();
    await eventually('the gateway is found dead', async () => {
      return (await clusters.condition('GatewayAlive'))?.status === 'False';
    });
    await clusters.gateway.revive();
    await exportReady(clusters, 'after-update');
    expect(await now()).toEqual(before);

    await clusters.west.delete(service('taken'));
    await clusters.west.delete(slice('taken'));
    await eventually('nothing more is reported', async () => (await clusters.mirrorCondition('taken')) === undefined);
    await exportReady(clusters, 'after-delete');
    await eventually('the operator is at rest', () => operator.settled());
    expect(await now()).toEqual(before);
  });

  test("L13 A6: the mirror appears once the user's own Service is gone", async () => {
    await clusters.east.create(service('lent-west'));
    await exportService(clusters, 'lent');
    await eventually('the conflict is reported', async () => {
      return (await clusters.mirrorCondition('lent'))?.reason === 'NameConflict';
    });
    await clusters.east.delete(service('lent-west'));
    await untilReady(clusters, 'lent');
    await eventually('it is reported as mirrored', async () => {
      return (await clusters.mirrorCondition('lent'))?.status === 'True';
    });
  });

  test("L13 A6: Endpoints of the user's own are left alone, reported, and outlive the export", async () => {
    await clusters.east.create(ownEndpoints('half-west'));
    const before = await clusters.get('Endpoints', 'half-west');
    await exportService(clusters, 'half');
    await eventually('the conflict is reported', async () => {
      return (await clusters.mirrorCondition('half'))?.message.includes('shop/half-west, or Endpoints');
    });
    await clusters.west.patch(slice('half'), {
      endpoints: [{ addresses: ['10.244.0.1'], conditions: { ready: false } }],
    });
    await exportReady(clusters, 'after-half');
    await eventually('the operator is at rest', () => operator.settled());
    expect(await clusters.get('Endpoints', 'half-west')).toEqual(before);
    // The API server would delete them together with a Service of that name.
    expect(await clusters.get('Service', 'half-west')).toBeUndefined();
    await clusters.west.delete(service('half'));
    await eventually('the status is gone', async () => (await clusters.mirrorCondition('half')) === undefined);
    expect(await clusters.get('Endpoints', 'half-west')).toEqual(before);
  });

  test('L14 A7: of two headless Services over one StatefulSet each keeps mirrors of its own when the other goes', async () => {
    const pods = ['pair-0', 'pair-1'];
    const isGone = (names: readonly string[]) =>
      eventually(`${names.join(', ')} are gone`, async () => {
        const found = await Promise.all(names.map((name) => clusters.get('Service', name)));
        return found.every((object) => object === undefined);
      });
    /** Waits until a headless mirror sends each pod to the ClusterIP of the endpoint mirror of that name. */
    const mapsTo = (name: string, mirrors: readonly string[]) =>
      eventually(`${name} leads to ${mirrors.join(', ')}`, async () => {
        const hosts = await hostsOf(clusters, name);
        const found = await Promise.all(mirrors.map((mirror) => clusters.get<ServiceObject>('Service', mirror)));
        const ready = await Promise.all(mirrors.map((mirror) => clusters.addresses(mirror)));
        return (
          pods.every((pod, at) => hosts?.[pod] !== undefined && hosts[pod] === found[at]?.spec.clusterIP) &&
          found.every((each) => each?.metadata.labels?.['mirror.linkerd.io/headless-mirror-svc-name'] === name) &&
          ready.every((addresses) => addresses?.join() === GATEWAY)
        );
      });

    await exportHeadless(clusters, 'pair-a', pods);
    await exportHeadless(clusters, 'pair-b', pods);
    await mapsTo('pair-a-west', ['pair-0-west', 'pair-1-west']);
    await mapsTo('pair-b-west', ['pair-0-pair-b-west', 'pair-1-pair-b-west']);
    const before = await Promise.all(pods.map((pod) => clusters.get<ServiceObject>('Service', `${pod}-west`)));

    await clusters.west.patch(service('pair-b'), unexport);
    await isGone(['pair-b-west', 'pair-0-pair-b-west', 'pair-1-pair-b-west']);
    await mapsTo('pair-a-west', ['pair-0-west', 'pair-1-west']);
    const after = await Promise.all(pods.map((pod) => clusters.get<ServiceObject>('Service', `${pod}-west`)));
    expect(after).toEqual(before);

    await clusters.west.patch(service('pair-b'), { metadata: { labels: EXPORTED } });
    await mapsTo('pair-b-west', ['pair-0-pair-b-west', 'pair-1-pair-b-west']);
    await clusters.west.patch(service('pair-a'), unexport);
    await mapsTo('pair-b-west', ['pair-0-west', 'pair-1-west']);
    await isGone(['pair-a-west', 'pair-0-pair-b-west', 'pair-1-pair-b-west']);
    await exportReady(clusters, 'after-pair');
    await mapsTo('pair-b-west', ['pair-0-west', 'pair-1-west']);
  });
});

onEachBacking('a name that two want (A7)', (backing) => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    // The older one, and the first by name where both are made in one second.
    for (const name of ['a-b', 'b']) await clusters.east.apply(linkVia(name));
    clusters.operator();
  });
  afterAll(() => clusters.stop());

  const orders = ['the older one first', 'the younger one first'] as const;

  test.each(orders)(
    'of two Links goes to the one first by name, however old the Services, exported %s',
    async (order) => {
      const base = order === orders[0] ? 'foo' : 'bar';
      const [older, younger] = [`${base}-a`, base];
      await inTurn(
        () => clusters.west.create(service(older)),
        () => clusters.west.create(service(younger)),
      );
      const exports = [
        () => clusters.west.apply(service(older, { labels: { via: 'b' } })),
        () => clusters.west.apply(service(younger, { labels: { via: 'a-b' } })),
      ];
      if (order === orders[1]) exports.reverse();
      await exports[0]!();
      await eventually('it is there', () => clusters.get('Service', `${base}-a-b`), DEADLINE_MS);
      await exports[1]!();
      await untilMirrored(clusters, younger, 'shop', 'a-b');
      await untilRefused(clusters, 'NameConflict', older, 'shop', 'b');
      const mirror = await clusters.get('Service', `${base}-a-b`);
      expect(mirror?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/cluster-name': 'a-b' });

      await clusters.west.delete(service(younger));
      await untilMirrored(clusters, older, 'shop', 'b');
      const next = await clusters.get('Service', `${base}-a-b`);
      expect(next?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/cluster-name': 'b' });
    },
  );

  test.each(orders)(
    'a Service that is older than a pod of its name keeps it, exported %s; the pod gets a longer one',
    async (order) => {
      const base = order === orders[0] ? 'db' : 'kv';
      await inTurn(
        () => clusters.west.create(service(`${base}-0`)),
        () => clusters.west.create(service(base, { headless: true })),
      );
      const exports = [() => exportService(clusters, `${base}-0`), () => exportedPods(clusters, base, [`${base}-0`])];
      if (order === orders[1]) exports.reverse();
      await exports[0]!();
      await eventually('the first is there', () => clusters.get('Service', `${base}-0-west`), DEADLINE_MS);
      await exports[1]!();
      await untilMirrored(clusters, base);
      await untilMirrored(clusters, `${base}-0`);
      const plain = await clusters.get('Service', `${base}-0-west`);
      expect(plain?.metadata.labels).not.toHaveProperty(['mirror.linkerd.io/headless-mirror-svc-name']);
      const pod = await eventually('the pod is there', () =>
        clusters.get<ServiceObject>('Service', `${base}-0-${base}-west`),
      );
      await eventually('the headless mirror points at it', async () =>
        (await clusters.addresses(`${base}-west`))?.includes(pod.spec.clusterIP ?? ''),
      );
    },
  );

  test.each(orders)('a Service that is younger than the pod of its name has none, exported %s', async (order) => {
    const base = order === orders[0] ? 'mq' : 'fs';
    await inTurn(
      () => clusters.west.create(service(base, { headless: true })),
      () => clusters.west.create(service(`${base}-0`)),
    );
    const exports = [() => exportedPods(clusters, base, [`${base}-0`]), () => exportService(clusters, `${base}-0`)];
    if (order === orders[1]) exports.reverse();
    await exports[0]!();
    await eventually('the first is there', () => clusters.get('Service', `${base}-0-west`), DEADLINE_MS);
    await exports[1]!();
    await untilMirrored(clusters, base);
    await untilRefused(clusters, 'NameConflict', `${base}-0`);
    const plain = await clusters.get('Service', `${base}-0-west`);
    expect(plain?.metadata.labels).toMatchObject({ 'mirror.linkerd.io/headless-mirror-svc-name': `${base}-west` });
  });
});

describe.runIf(backings().includes('simulated'))('a name that is taken in the meantime [simulated]', () => {
  let clusters: TwoClusters;
  let east: SimulatedCluster;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    east = clusters.eastCluster as SimulatedCluster;
    await clusters.link();
    clusters.operator();
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  /** Does something just before the operator's next request with this verb to Service `name` is carried out. */
  const justBefore = (verb: string, name: string, act: () => void): void => {
    let done = false;
    east.faults.refuse({
      failure: { kind: 'status', code: 500 },
      match: (request) => {
        const meant = request.verb === verb && request.resource === 'services' && request.name === name;
        if (!done && meant && request.userAgent.startsWith('linkspan-operator')) {
          done = true;
          act();
        }
        return false;
      },
    });
  };

  const foreign = (name: string) =>
    service(name, { labels: { owner: 'somebody' }, ports: [{ name: 'own', port: 1234, protocol: 'TCP' }] });

  const untouched = async (name: string): Promise<void> => {
    const condition = await eventually(`${name} is reported on`, async () => {
      const found = await clusters.mirrorCondition(name.replace('-west', ''));
      return found?.reason === 'NameConflict' && found;
    });
    expect(condition.message).toContain(`shop/${name}`);
    const found = await clusters.get<ServiceObject>('Service', name);
    expect(found?.metadata.labels).toEqual({ owner: 'somebody' });
    expect(found?.spec.ports).toMatchObject([{ name: 'own', port: 1234 }]);
    expect(found?.metadata.managedFields?.map(({ manager }) => manager)).not.toContain('linkspan');
    expect(await clusters.get('Endpoints', name)).toBeUndefined();
  };

  /** As when somebody replaces a mirror by a Service of their own. */
  const replaceByForeign = (name: string): void => {
    east.store.delete('v1', 'Service', 'shop', name);
    east.store.delete('v1', 'Endpoints', 'shop', name);
    east.store.upsert({ ...foreign(name) });
  };

  test('L36 A6 a foreign Service that appears just before ours is created is left alone', async () => {
    justBefore('patch', 'created-west', () => void east.store.upsert({ ...foreign('created-west') }));
    await exportService(clusters, 'created');
    await untouched('created-west');
    await clusters.east.delete(service('created-west'));
    await eventually('the name is taken once it is free', async () => {
      const found = await clusters.get('Service', 'created-west');
      return found?.metadata.labels?.['mirror.linkerd.io/cluster-name'] === 'west';
    });
  });

  test('L36 A6 a foreign Service that takes the place of a mirror just before an update is left alone', async () => {
    await exportReady(clusters, 'updated');
    justBefore('patch', 'updated-west', () => replaceByForeign('updated-west'));
    await clusters.west.patch(service('updated'), { metadata: { labels: { team: 'shop' } } });
    await untouched('updated-west');
  });

  test('L36 A6 a foreign Service that takes the place of a mirror just before its deletion is left alone', async () => {
    await exportReady(clusters, 'deleted');
    justBefore('delete', 'deleted-west', () => replaceByForeign('deleted-west'));
    await clusters.west.delete(service('deleted'));
    await eventually('the deletion was tried', async () =>
      (await east.audit()).some(({ verb, name }) => verb === 'delete' && name === 'deleted-west'),
    );
    await exportReady(clusters, 'after-deletion');
    expect((await clusters.get('Service', 'deleted-west'))?.metadata.labels).toEqual({ owner: 'somebody' });
  });
});

describe.runIf(backings().includes('simulated'))('a name that a foreign Service gives up [simulated]', () => {
  let clusters: TwoClusters;
  let east: SimulatedCluster;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    east = clusters.eastCluster as SimulatedCluster;
    await clusters.link();
    // A name that is taken is not tried again within this suite: whoever waits for it must hear that it is free.
    operator = clusters.operator({ tuning: { conflictRetryMs: 600_000 } });
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  const taken = (name: string, namespace = 'shop') => service(name, { namespace, labels: { owner: 'somebody' } });

  const untilOurs = (name: string, namespace = 'shop') =>
    eventually(`${name} is ours`, async () => {
      const found = await clusters.get('Service', name, namespace);
      return found?.metadata.labels?.['mirror.linkerd.io/cluster-name'] === 'west';
    });

  test('L294 A7 is taken at once for a pod', async () => {
    const reads = async (reason: string) => (await clusters.mirrorCondition('set'))?.reason === reason;
    east.store.upsert({ ...taken('set-1-west') });
    await exportedPods(clusters, 'set', ['set-0', 'set-1']);
    await eventually('the pod waits', () => reads('NameConflict'));
    east.store.delete('v1', 'Service', 'shop', 'set-1-west');
    await untilOurs('set-1-west');
    await eventually('the pod waits no more', () => reads('Mirrored'));
  });

  test('L294 A7 is taken at once for the probe', async () => {
    east.store.delete('v1', 'Service', 'linkerd-multicluster', 'probe-west');
    east.store.upsert({ ...taken('probe-west', 'linkerd-multicluster') });
    await eventually('the operator is at rest', () => operator.settled());
    east.store.delete('v1', 'Service', 'linkerd-multicluster', 'probe-west');
    await untilOurs('probe-west', 'linkerd-multicluster');
  });
});

/** Names that two want: a Service of the user's own is never touched, and of two mirrors one has it by state alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, service, slice } from '../support/builders.ts';
import { exportHeadless, exportReady, hostsOf } from '../support/exports.ts';
import { LASTING_LEASE, type TestOperator } from '../support/operator.ts';
import type { ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const unexport = { metadata: { labels: { 'mirror.linkerd.io/exported': null } } };

onEachBacking('a name', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = clusters.operator({ flags: LASTING_LEASE });
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

    await clusters.west.apply(service('taken', { labels: EXPORTED }));
    await clusters.west.apply(slice('taken'));
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
    await clusters.west.apply(service('lent', { labels: EXPORTED }));
    await clusters.west.apply(slice('lent'));
    await eventually('the conflict is reported', async () => {
      return (await clusters.mirrorCondition('lent'))?.reason === 'NameConflict';
    });
    await clusters.east.delete(service('lent-west'));
    await eventually('the mirror is ready', async () => (await clusters.addresses('lent-west'))?.[0] === GATEWAY);
    await eventually('it is reported as mirrored', async () => {
      return (await clusters.mirrorCondition('lent'))?.status === 'True';
    });
  });

  test("L13 A6: Endpoints of the user's own are left alone, reported, and outlive the export", async () => {
    await clusters.east.create(ownEndpoints('half-west'));
    const before = await clusters.get('Endpoints', 'half-west');
    await clusters.west.apply(service('half', { labels: EXPORTED }));
    await clusters.west.apply(slice('half'));
    await eventually('the conflict is reported', async () => {
      return (await clusters.mirrorCondition('half'))?.message.includes('Endpoints shop/half-west');
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

/** Names that two want: a Service of the user's own is never touched, and of two mirrors one has it by state alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, service, slice } from '../support/builders.ts';
import { exportHeadless, exportReady, GATEWAY, hostsOf } from '../support/exports.ts';
import { LASTING_LEASE, type ServiceObject, type TestOperator, World } from '../support/world.ts';

const unexport = { metadata: { labels: { 'mirror.linkerd.io/exported': null } } };

onEachBacking('a name', (backing) => {
  let world: World;
  let operator: TestOperator;
  beforeAll(async () => {
    world = await World.start({ backing });
    await world.link();
    operator = world.operator({ flags: LASTING_LEASE });
  });
  afterAll(() => world.stop());

  const ownEndpoints = (name: string): ObjectRef => {
    const metadata = { name, namespace: 'shop' };
    const subsets = [{ addresses: [{ ip: '198.51.100.7' }], ports: [{ name: 'http', port: 8080 }] }];
    const manifest = { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets };
    return manifest;
  };

  test("L13 A6: a Service of the user's own is left alone when its namesake is exported, updated and deleted", async () => {
    const own = service('taken-west', { labels: { app: 'mine' }, ports: [{ name: 'db', port: 5432 }] });
    await world.east.create(own);
    await world.east.create(ownEndpoints('taken-west'));
    const now = () => Promise.all(['Service', 'Endpoints'].map((kind) => world.get(kind, 'taken-west')));
    const before = await now();

    await world.west.apply(service('taken', { labels: EXPORTED }));
    await world.west.apply(slice('taken'));
    const refused = await eventually('the conflict is reported', async () => {
      const condition = await world.mirrorCondition('taken');
      return condition?.reason === 'NameConflict' ? condition : undefined;
    });
    expect(refused.status).toBe('False');
    expect(refused.message).toContain('shop/taken-west');
    expect(await now()).toEqual(before);

    await world.west.patch(service('taken'), { spec: { ports: [{ name: 'http', port: 81, targetPort: 8080 }] } });
    await world.gateway.die();
    await eventually('the gateway is found dead', async () => {
      return (await world.condition('GatewayAlive'))?.status === 'False';
    });
    await world.gateway.revive();
    await exportReady(world, 'after-update');
    expect(await now()).toEqual(before);

    await world.west.delete(service('taken'));
    await world.west.delete(slice('taken'));
    await eventually('nothing more is reported', async () => (await world.mirrorCondition('taken')) === undefined);
    await exportReady(world, 'after-delete');
    await eventually('the operator is at rest', async () => operator.manager?.settled);
    expect(await now()).toEqual(before);
  });

  test("L13 A6: the mirror appears once the user's own Service is gone", async () => {
    await world.east.create(service('lent-west'));
    await world.west.apply(service('lent', { labels: EXPORTED }));
    await world.west.apply(slice('lent'));
    await eventually('the conflict is reported', async () => {
      return (await world.mirrorCondition('lent'))?.reason === 'NameConflict';
    });
    await world.east.delete(service('lent-west'));
    await eventually('the mirror is ready', async () => (await world.addresses('lent-west'))?.[0] === GATEWAY);
    await eventually('it is reported as mirrored', async () => {
      return (await world.mirrorCondition('lent'))?.status === 'True';
    });
  });

  test("L13 A6: Endpoints of the user's own are left alone, reported, and outlive the export", async () => {
    await world.east.create(ownEndpoints('half-west'));
    const before = await world.get('Endpoints', 'half-west');
    await world.west.apply(service('half', { labels: EXPORTED }));
    await world.west.apply(slice('half'));
    await eventually('the conflict is reported', async () => {
      return (await world.mirrorCondition('half'))?.message.includes('Endpoints shop/half-west');
    });
    await world.west.patch(slice('half'), { endpoints: [{ addresses: ['10.244.0.1'], conditions: { ready: false } }] });
    await exportReady(world, 'after-half');
    await eventually('the operator is at rest', async () => operator.manager?.settled);
    expect(await world.get('Endpoints', 'half-west')).toEqual(before);
    // The API server would delete them together with a Service of that name.
    expect(await world.get('Service', 'half-west')).toBeUndefined();
    await world.west.delete(service('half'));
    await eventually('the status is gone', async () => (await world.mirrorCondition('half')) === undefined);
    expect(await world.get('Endpoints', 'half-west')).toEqual(before);
  });

  test('L14 A7: of two headless Services over one StatefulSet each keeps mirrors of its own when the other goes', async () => {
    const pods = ['pair-0', 'pair-1'];
    const isGone = (names: readonly string[]) =>
      eventually(`${names.join(', ')} are gone`, async () => {
        const found = await Promise.all(names.map((name) => world.get('Service', name)));
        return found.every((object) => object === undefined);
      });
    /** Waits until a headless mirror sends each pod to the ClusterIP of the endpoint mirror of that name. */
    const mapsTo = (name: string, mirrors: readonly string[]) =>
      eventually(`${name} leads to ${mirrors.join(', ')}`, async () => {
        const hosts = await hostsOf(world, name);
        const found = await Promise.all(mirrors.map((mirror) => world.get<ServiceObject>('Service', mirror)));
        const ready = await Promise.all(mirrors.map((mirror) => world.addresses(mirror)));
        return (
          pods.every((pod, at) => hosts?.[pod] !== undefined && hosts[pod] === found[at]?.spec.clusterIP) &&
          found.every((each) => each?.metadata.labels?.['mirror.linkerd.io/headless-mirror-svc-name'] === name) &&
          ready.every((addresses) => addresses?.join() === GATEWAY)
        );
      });

    await exportHeadless(world, 'pair-a', pods);
    await exportHeadless(world, 'pair-b', pods);
    await mapsTo('pair-a-west', ['pair-0-west', 'pair-1-west']);
    await mapsTo('pair-b-west', ['pair-0-pair-b-west', 'pair-1-pair-b-west']);
    const before = await Promise.all(pods.map((pod) => world.get<ServiceObject>('Service', `${pod}-west`)));

    await world.west.patch(service('pair-b'), unexport);
    await isGone(['pair-b-west', 'pair-0-pair-b-west', 'pair-1-pair-b-west']);
    await mapsTo('pair-a-west', ['pair-0-west', 'pair-1-west']);
    const after = await Promise.all(pods.map((pod) => world.get<ServiceObject>('Service', `${pod}-west`)));
    expect(after).toEqual(before);

    await world.west.patch(service('pair-b'), { metadata: { labels: EXPORTED } });
    await mapsTo('pair-b-west', ['pair-0-pair-b-west', 'pair-1-pair-b-west']);
    await world.west.patch(service('pair-a'), unexport);
    await mapsTo('pair-b-west', ['pair-0-west', 'pair-1-west']);
    await isGone(['pair-a-west', 'pair-0-pair-b-west', 'pair-1-pair-b-west']);
    await exportReady(world, 'after-pair');
    await mapsTo('pair-b-west', ['pair-0-west', 'pair-1-west']);
  });
});

/** Which Services are mirrored, and when their mirrors are ready: the export label, its selectors, pods that come and go. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { RequestInfo } from '../cluster/simulated/request.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually } from '../cluster/workload/index.ts';
import { EXPORTED, service, slice } from '../support/builders.ts';
import { EndpointsHistory } from '../support/endpoints-history.ts';
import { exportHeadless, exportReady, GATEWAY, linkTo } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { LASTING_LEASE, type ServiceObject, type TestOperator, World } from '../support/world.ts';

const EXPORT_LABEL = 'mirror.linkerd.io/exported';
const unexport = { metadata: { labels: { [EXPORT_LABEL]: null } } };

onEachBacking('an export', (backing) => {
  let world: World;
  let operator: TestOperator;
  beforeAll(async () => {
    world = await World.start({ backing });
    await world.link();
    operator = world.operator({ flags: LASTING_LEASE });
  });
  afterAll(() => world.stop());

  const isReady = (name: string) =>
    eventually(`${name} is ready`, async () => (await world.addresses(name))?.[0] === GATEWAY);
  const isGone = (name: string) =>
    eventually(`${name} is gone`, async () => {
      return (await world.get('Service', name)) === undefined && (await world.get('Endpoints', name)) === undefined;
    });

  test('L3 A1: an empty or absent selector selects nothing, in either mode', async () => {
    await exportReady(world, 'chosen');
    await world.west.apply(service('unlabelled'));
    await linkTo(world, 'half', { remoteDiscoverySelector: {} });
    await linkTo(world, 'none', { selector: {}, remoteDiscoverySelector: {} });
    await linkTo(world, 'absent', { selector: undefined, remoteDiscoverySelector: undefined });

    await isReady('chosen-half');
    const mirror = await world.get('Service', 'chosen-half');
    expect(mirror?.metadata.labels).not.toHaveProperty(['multicluster.linkerd.io/remote-discovery']);
    expect(await world.get('Service', 'unlabelled-half')).toBeUndefined();
    expect(await inventory(world, 'none')).toEqual({});
    expect(await inventory(world, 'absent')).toEqual({});
  });

  test('L4 A1: `exported: "false"` is selected by an Exists selector and not by one for the value', async () => {
    await linkTo(world, 'exists', { selector: { matchExpressions: [{ key: EXPORT_LABEL, operator: 'Exists' }] } });
    const off = { [EXPORT_LABEL]: 'false' };
    await world.west.apply(service('refused', { labels: off }));
    await world.west.apply(slice('refused', { labels: off }));
    await isReady('refused-exists');
    await exportReady(world, 'turned');
    await isReady('turned-exists');
    expect(await world.get('Service', 'refused-west')).toBeUndefined();

    const before = await world.get('Service', 'turned-exists');
    await world.west.patch(service('turned'), { metadata: { labels: off } });
    await world.west.patch(slice('turned'), { metadata: { labels: off } });
    await isGone('turned-west');
    await exportReady(world, 'after-turned');
    await isReady('after-turned-exists');
    expect((await world.get('Service', 'turned-exists'))?.metadata.uid).toBe(before?.metadata.uid);
    expect(await world.addresses('turned-exists')).toEqual([GATEWAY]);
  });

  test('L6 A2: endpoint events after the export has ended bring nothing back', async () => {
    await exportReady(world, 'ended');
    await exportHeadless(world, 'ended-db', ['ended-db-0', 'ended-db-1']);
    // Kubernetes takes the label off the slices only later.
    await world.west.patch(service('ended'), unexport);
    await world.west.patch(service('ended-db'), unexport);
    for (const name of ['ended-west', 'ended-db-west', 'ended-db-0-west', 'ended-db-1-west']) await isGone(name);
    await eventually('the operator is at rest', async () => operator.manager?.settled);
    await world.eastCluster.clearAudit();

    await world.west.patch(slice('ended'), { endpoints: [{ addresses: ['10.244.9.1'], conditions: { ready: true } }] });
    await world.west.patch(slice('ended-db'), {
      endpoints: [{ addresses: ['10.244.9.2'], conditions: { ready: true }, hostname: 'ended-db-2' }],
    });
    await world.west.patch(slice('ended'), unexport);
    await exportReady(world, 'after-ended');
    await eventually('the operator is at rest', async () => operator.manager?.settled);
    expect((await world.writes()).filter((write) => write.includes('/ended'))).toEqual([]);
    expect(Object.keys(await inventory(world)).filter((name) => name.includes('/ended'))).toEqual([]);
  });

  test('L11 C1: a Service exported while its pods run is ready at once, whether or not its slices are labelled', async () => {
    for (const name of ['running', 'relabelled', 'by-hand']) {
      await world.west.apply(service(name, name === 'by-hand' ? { selector: null } : {}));
      await world.west.apply(slice(name, { labels: {} }));
    }
    await exportReady(world, 'before-running');
    for (const name of ['running', 'relabelled', 'by-hand']) {
      await world.west.patch(service(name), { metadata: { labels: EXPORTED } });
    }
    await world.west.patch(slice('relabelled'), { metadata: { labels: EXPORTED } });
    for (const name of ['running', 'relabelled', 'by-hand']) await isReady(`${name}-west`);
  });

  test('L12 C1: changes of a Service without a ready pod never make its mirror ready', async () => {
    const history = await EndpointsHistory.start(world);
    await world.west.apply(service('starting', { labels: EXPORTED }));
    await world.west.apply(slice('starting', { endpoints: [{ ready: false }] }));
    await eventually('the mirror is there', async () => (await world.addresses('starting-west'))?.length === 0);
    const endpointsBefore = await world.get('Endpoints', 'starting-west');

    await world.west.patch(service('starting'), {
      metadata: { labels: { tier: 'front' }, annotations: { 'example.com/note': 'changed' } },
      spec: { ports: [{ name: 'http', port: 81, targetPort: 8080 }] },
    });
    await eventually('the mirror has the change', async () => {
      const mirror = await world.get<ServiceObject>('Service', 'starting-west');
      const endpoints = await world.get('Endpoints', 'starting-west');
      return mirror?.spec.ports[0]?.port === 81 && endpoints?.metadata.labels?.['tier'] === 'front';
    });
    await world.gateway.die();
    await eventually('the gateway is found dead', async () => {
      return (await world.condition('GatewayAlive'))?.status === 'False';
    });
    await world.gateway.revive();
    await exportReady(world, 'after-starting');
    await eventually('the operator is at rest', async () => operator.manager?.settled);
    expect(endpointsBefore?.metadata.uid).toBe((await world.get('Endpoints', 'starting-west'))?.metadata.uid);
    expect(history.states('starting-west').filter((addresses) => addresses !== '')).toEqual([]);

    await world.west.patch(slice('starting'), {
      endpoints: [{ addresses: ['10.244.0.1'], conditions: { ready: true } }],
    });
    await isReady('starting-west');
    await history.stop();
  });
});

describe('an export, with faults [simulated]', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start({ backing: 'simulated' });
    await world.link();
    world.operator({ flags: LASTING_LEASE });
  });
  afterAll(() => world.stop());

  const mirrorOf = (name: string) => world.get<ServiceObject>('Service', `${name}-west`);
  const port = (number: number) => ({ spec: { ports: [{ name: 'http', port: number, targetPort: 8080 }] } });

  test.each([0, 1, 2, 3])(
    'L1 C3 H4: of two updates, the second while the first is being written, the second stands, after %i conflicts',
    async (conflicts) => {
      const name = `twice-${conflicts}`;
      await exportReady(world, name);
      const before = await mirrorOf(name);
      const { faults } = world.eastCluster as SimulatedCluster;
      let writes = 0;
      const isWrite = ({ verb, resource, name: of }: RequestInfo): boolean =>
        verb === 'patch' && resource === 'services' && of === `${name}-west`;
      const slow = faults.latency(300, (request) => {
        if (isWrite(request)) writes += 1;
        return isWrite(request);
      });
      if (conflicts > 0) {
        faults.refuse({ match: isWrite, failure: { kind: 'status', code: 409 }, times: conflicts });
      }
      await world.west.patch(service(name), port(81));
      await eventually('the first update is being written', async () => writes > 0);
      await world.west.patch(service(name), port(82));
      await eventually('the second update is there', async () => (await mirrorOf(name))?.spec.ports[0]?.port === 82);
      slow();

      await exportReady(world, `after-${name}`);
      const after = await mirrorOf(name);
      expect(after?.spec.ports).toEqual([{ name: 'http', port: 82, protocol: 'TCP', targetPort: 8080 }]);
      expect(after?.metadata.uid).toBe(before?.metadata.uid);
      await eventually('it is reported as mirrored', async () => {
        return (await world.mirrorCondition(name))?.status === 'True';
      });
    },
  );
});

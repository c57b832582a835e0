/** Which Services are mirrored, and when their mirrors are ready: the export label, its selectors, pods that come and go. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { RequestInfo } from '../cluster/simulated/request.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, service, slice } from '../support/builders.ts';
import { EndpointsHistory } from '../support/endpoints-history.ts';
import { exportHeadless, exportReady, linkTo } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { LASTING_LEASE, type TestOperator } from '../support/operator.ts';
import type { ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const EXPORT_LABEL = 'mirror.linkerd.io/exported';
const unexport = { metadata: { labels: { [EXPORT_LABEL]: null } } };

onEachBacking('an export', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = clusters.operator({ flags: LASTING_LEASE });
  });
  afterAll(() => clusters.stop());

  const isReady = (name: string) =>
    eventually(`${name} is ready`, async () => (await clusters.addresses(name))?.[0] === GATEWAY);
  const isGone = (name: string) =>
    eventually(`${name} is gone`, async () => {
      return (
        (await clusters.get('Service', name)) === undefined && (await clusters.get('Endpoints', name)) === undefined
      );
    });

  test('L3 A1: an empty or absent selector selects nothing, in either mode', async () => {
    await exportReady(clusters, 'chosen');
    await clusters.west.apply(service('unlabelled'));
    await linkTo(clusters, 'half', { remoteDiscoverySelector: {} });
    await linkTo(clusters, 'none', { selector: {}, remoteDiscoverySelector: {} });
    await linkTo(clusters, 'absent', { selector: undefined, remoteDiscoverySelector: undefined });

    await isReady('chosen-half');
    const mirror = await clusters.get('Service', 'chosen-half');
    expect(mirror?.metadata.labels).not.toHaveProperty(['multicluster.linkerd.io/remote-discovery']);
    expect(await clusters.get('Service', 'unlabelled-half')).toBeUndefined();
    expect(await inventory(clusters, 'none')).toEqual({});
    expect(await inventory(clusters, 'absent')).toEqual({});
  });

  test('L4 A1: `exported: "false"` is selected by an Exists selector and not by one for the value', async () => {
    await linkTo(clusters, 'exists', { selector: { matchExpressions: [{ key: EXPORT_LABEL, operator: 'Exists' }] } });
    const off = { [EXPORT_LABEL]: 'false' };
    await clusters.west.apply(service('refused', { labels: off }));
    await clusters.west.apply(slice('refused', { labels: off }));
    await isReady('refused-exists');
    await exportReady(clusters, 'turned');
    await isReady('turned-exists');
    expect(await clusters.get('Service', 'refused-west')).toBeUndefined();

    const before = await clusters.get('Service', 'turned-exists');
    await clusters.west.patch(service('turned'), { metadata: { labels: off } });
    await clusters.west.patch(slice('turned'), { metadata: { labels: off } });
    await isGone('turned-west');
    await exportReady(clusters, 'after-turned');
    await isReady('after-turned-exists');
    expect((await clusters.get('Service', 'turned-exists'))?.metadata.uid).toBe(before?.metadata.uid);
    expect(await clusters.addresses('turned-exists')).toEqual([GATEWAY]);
  });

  test('L6 A2: endpoint events after the export has ended bring nothing back', async () => {
    await exportReady(clusters, 'ended');
    await exportHeadless(clusters, 'ended-db', ['ended-db-0', 'ended-db-1']);
    // Kubernetes takes the label off the slices only later.
    await clusters.west.patch(service('ended'), unexport);
    await clusters.west.patch(service('ended-db'), unexport);
    for (const name of ['ended-west', 'ended-db-west', 'ended-db-0-west', 'ended-db-1-west']) await isGone(name);
    await eventually('the operator is at rest', () => operator.settled());
    await clusters.eastCluster.clearAudit();

    await clusters.west.patch(slice('ended'), {
      endpoints: [{ addresses: ['10.244.9.1'], conditions: { ready: true } }],
    });
    await clusters.west.patch(slice('ended-db'), {
      endpoints: [{ addresses: ['10.244.9.2'], conditions: { ready: true }, hostname: 'ended-db-2' }],
    });
    await clusters.west.patch(slice('ended'), unexport);
    await exportReady(clusters, 'after-ended');
    await eventually('the operator is at rest', () => operator.settled());
    expect((await clusters.writes()).filter((write) => write.includes('/ended'))).toEqual([]);
    expect(Object.keys(await inventory(clusters)).filter((name) => name.includes('/ended'))).toEqual([]);
  });

  test('L11 C1: a Service exported while its pods run is ready at once, whether or not its slices are labelled', async () => {
    for (const name of ['running', 'relabelled', 'by-hand']) {
      await clusters.west.apply(service(name, name === 'by-hand' ? { selector: null } : {}));
      await clusters.west.apply(slice(name, { labels: {} }));
    }
    await exportReady(clusters, 'before-running');
    for (const name of ['running', 'relabelled', 'by-hand']) {
      await clusters.west.patch(service(name), { metadata: { labels: EXPORTED } });
    }
    await clusters.west.patch(slice('relabelled'), { metadata: { labels: EXPORTED } });
    for (const name of ['running', 'relabelled', 'by-hand']) await isReady(`${name}-west`);
  });

  test('L12 C1: changes of a Service without a ready pod never make its mirror ready', async () => {
    const history = await EndpointsHistory.start(clusters);
    await clusters.west.apply(service('starting', { labels: EXPORTED }));
    await clusters.west.apply(slice('starting', { endpoints: [{ ready: false }] }));
    await eventually('the mirror is there', async () => (await clusters.addresses('starting-west'))?.length === 0);
    const endpointsBefore = await clusters.get('Endpoints', 'starting-west');

    await clusters.west.patch(service('starting'), {
      metadata: { labels: { tier: 'front' }, annotations: { 'example.com/note': 'changed' } },
      spec: { ports: [{ name: 'http', port: 81, targetPort: 8080 }] },
    });
    await eventually('the mirror has the change', async () => {
      const mirror = await clusters.get<ServiceObject>('Service', 'starting-west');
      const endpoints = await clusters.get('Endpoints', 'starting-west');
      return mirror?.spec.ports[0]?.port === 81 && endpoints?.metadata.labels?.['tier'] === 'front';
    });
    await clusters.gateway.die();
    await eventually('the gateway is found dead', async () => {
      return (await clusters.condition('GatewayAlive'))?.status === 'False';
    });
    await clusters.gateway.revive();
    await exportReady(clusters, 'after-starting');
    await eventually('the operator is at rest', () => operator.settled());
    expect(endpointsBefore?.metadata.uid).toBe((await clusters.get('Endpoints', 'starting-west'))?.metadata.uid);
    expect(history.states('starting-west').filter((addresses) => addresses !== '')).toEqual([]);

    await clusters.west.patch(slice('starting'), {
      endpoints: [{ addresses: ['10.244.0.1'], conditions: { ready: true } }],
    });
    await isReady('starting-west');
    await history.stop();
  });
});

describe('an export, with faults [simulated]', () => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    await clusters.link();
    clusters.operator({ flags: LASTING_LEASE });
  });
  afterAll(() => clusters.stop());

  const mirrorOf = (name: string) => clusters.get<ServiceObject>('Service', `${name}-west`);
  const port = (number: number) => ({ spec: { ports: [{ name: 'http', port: number, targetPort: 8080 }] } });

  test.each([0, 1, 2, 3])(
    'L1 C3 H4: of two updates, the second while the first is being written, the second stands, after %i conflicts',
    async (conflicts) => {
      const name = `twice-${conflicts}`;
      await exportReady(clusters, name);
      const before = await mirrorOf(name);
      const { faults } = clusters.eastCluster as SimulatedCluster;
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
      await clusters.west.patch(service(name), port(81));
      await eventually('the first update is being written', async () => writes > 0);
      await clusters.west.patch(service(name), port(82));
      await eventually('the second update is there', async () => (await mirrorOf(name))?.spec.ports[0]?.port === 82);
      slow();

      await exportReady(clusters, `after-${name}`);
      const after = await mirrorOf(name);
      expect(after?.spec.ports).toEqual([{ name: 'http', port: 82, protocol: 'TCP', targetPort: 8080 }]);
      expect(after?.metadata.uid).toBe(before?.metadata.uid);
      await eventually('it is reported as mirrored', async () => {
        return (await clusters.mirrorCondition(name))?.status === 'True';
      });
    },
  );
});

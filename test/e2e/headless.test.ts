/** Headless Services pod by pod: when their mirrors appear, and what leaves them alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSlices } from '../../operator/mirror/target-endpoints.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, namespace, service, slice, statefulSlice } from '../support/builders.ts';
import { exportHeadless, exportReady, hostsOf } from '../support/exports.ts';
import { identities, inventory } from '../support/inventory.ts';
import { LASTING_LEASE, type TestOperator } from '../support/operator.ts';
import type { ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

test('L15 D1: an endpoint whose hostname is empty, or no name, counts as one without a hostname', () => {
  const endpoints = ['', 'Not A Name', 'named-0'].map((hostname) => ({ addresses: ['10.244.0.1'], hostname }));
  const metadata = { name: 'odd', namespace: 'shop' };
  const ports = [{ name: 'http', port: 8080 }];
  const found = readSlices({ metadata, spec: { ports } }, [{ metadata, addressType: 'IPv4', endpoints, ports }]);
  expect([...found.hosts.keys()]).toEqual(['named-0']);
  expect(found.subsets.map(({ hostnames }) => hostnames)).toEqual([['named-0']]);
  expect(found.anyReady).toBe(true);
});

onEachBacking('a headless Service', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = clusters.operator({ flags: LASTING_LEASE });
  });
  afterAll(() => clusters.stop());

  /** Waits until a headless mirror lists just these hostnames, each at the ClusterIP of its own endpoint mirror. */
  const lists = async (name: string, hostnames: readonly string[], within = 'shop'): Promise<void> => {
    await eventually(`${name} lists ${hostnames.join(', ')}`, async () => {
      return Object.keys((await hostsOf(clusters, name, within)) ?? {}).join() === hostnames.join();
    });
    const hosts = await hostsOf(clusters, name, within);
    expect((await clusters.get<ServiceObject>('Service', name, within))?.spec.clusterIP).toBe('None');
    for (const hostname of hostnames) {
      const mirror = await clusters.get<ServiceObject>('Service', `${hostname}-west`, within);
      expect(mirror?.metadata.labels?.['mirror.linkerd.io/headless-mirror-svc-name']).toBe(name);
      expect(hosts?.[hostname]).toBe(mirror?.spec.clusterIP);
      await eventually(`${hostname}-west is ready`, async () => {
        return (await clusters.addresses(`${hostname}-west`, within))?.join() === GATEWAY;
      });
    }
  };

  test.each([
    ['relabels its slices afterwards', 'old', true],
    ['leaves its slices as they are', 'older', false],
  ])(
    'L5 D1: exported while its pods run, it is mirrored pod by pod, if the cluster %s',
    async (_, name, relabelled) => {
      const pods = [`${name}-0`, `${name}-1`];
      await clusters.west.apply(service(name, { headless: true }));
      await clusters.west.apply(statefulSlice(name, pods, { labels: {}, notReady: [pods[1]!] }));
      await exportReady(clusters, `before-${name}`);
      await clusters.west.patch(service(name), { metadata: { labels: EXPORTED } });
      if (relabelled) await clusters.west.patch(slice(name), { metadata: { labels: EXPORTED } });
      await lists(`${name}-west`, [pods[0]!]);
      expect(await clusters.get('Service', `${pods[1]!}-west`)).toBeDefined();
    },
  );

  test('L8 D7: a change of its annotations touches no endpoint and replaces nothing', async () => {
    await exportHeadless(clusters, 'noted', ['noted-0', 'noted-1']);
    await lists('noted-west', ['noted-0', 'noted-1']);
    await eventually('the operator is at rest', () => operator.settled());
    const before = await inventory(clusters);
    await clusters.eastCluster.clearAudit();

    await clusters.west.patch(service('noted'), { metadata: { annotations: { 'example.com/note': 'new' } } });
    await eventually('the mirror has the annotation', async () => {
      const mirror = await clusters.get('Service', 'noted-west');
      return mirror?.metadata.annotations?.['example.com/note'] === 'new';
    });
    await exportReady(clusters, 'after-noted');
    await eventually('the operator is at rest', () => operator.settled());

    const writes = (await clusters.writes()).filter((write) => write.includes('/noted'));
    expect(writes.filter((write) => !write.startsWith('patch services '))).toEqual([]);
    const after = await inventory(clusters);
    for (const name of Object.keys(before)) {
      if (!name.includes('/noted')) continue;
      expect(identities(after)[name]).toEqual(identities(before)[name]);
      if (name.startsWith('Endpoints ')) expect(after[name]).toEqual(before[name]);
    }
  });

  test('L15 D1 D9: endpoints without a hostname, or without a pod behind them, do not disturb those that have one', async () => {
    const slices = (name: string, hostname: string | undefined) =>
      slice(name, { labels: {}, endpoints: [{}, ...(hostname === undefined ? [] : [{ hostname }]), { ready: false }] });
    await clusters.west.apply(service('mixed', { headless: true, selector: null, labels: EXPORTED }));
    await clusters.west.apply(slices('mixed', 'mixed-0'));
    await lists('mixed-west', ['mixed-0']);

    await clusters.west.apply(service('nameless', { headless: true, selector: null, labels: EXPORTED }));
    await clusters.west.apply(slices('nameless', undefined));
    await eventually(
      'nameless-west is ready',
      async () => (await clusters.addresses('nameless-west'))?.[0] === GATEWAY,
    );
    expect((await clusters.get<ServiceObject>('Service', 'nameless-west'))?.spec.clusterIP).not.toBe('None');
    for (const name of ['mixed', 'nameless']) {
      await eventually('it is reported as mirrored', async () => {
        return (await clusters.mirrorCondition(name))?.status === 'True';
      });
    }
  });

  test('L18 A3: exported before its namespace exists here, it is mirrored pod by pod as soon as that does', async () => {
    await clusters.west.apply(namespace('late'));
    await clusters.west.apply(service('db', { namespace: 'late', headless: true, labels: EXPORTED }));
    await clusters.west.apply(statefulSlice('db', ['db-0', 'db-1'], { namespace: 'late' }));
    await eventually('the missing namespace is reported', async () => {
      return (await clusters.mirrorCondition('db', 'late'))?.reason === 'MissingNamespace';
    });
    await clusters.east.apply(namespace('late'));
    await lists('db-west', ['db-0', 'db-1'], 'late');
    await eventually('it is reported as mirrored', async () => {
      return (await clusters.mirrorCondition('db', 'late'))?.reason === 'Mirrored';
    });
  });
});

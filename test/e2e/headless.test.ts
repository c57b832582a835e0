/** Headless Services pod by pod: when their mirrors appear, and what leaves them alone. Section D of behaviour.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSlices, subsetsOf } from '../../operator/mirror/target-endpoints.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import {
  EXPORTED,
  GATEWAY,
  namespace,
  service,
  type ServiceOptions,
  slice,
  statefulSlice,
} from '../support/builders.ts';
import {
  addressesAre,
  exportHeadless,
  exportReady,
  exportService,
  findMirror,
  hostsOf,
  identitiesOf,
  mirrorOf,
  untilReady,
} from '../support/exports.ts';
import { identities, inventory } from '../support/inventory.ts';
import type { EndpointsObject, ServiceObject } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 40_000;

test('L15 D1: an endpoint whose hostname is empty, or no name, counts as one without a hostname', () => {
  const endpoints = ['', 'Not A Name', 'named-0'].map((hostname) => ({ addresses: ['10.244.0.1'], hostname }));
  const metadata = { name: 'odd', namespace: 'shop' };
  const ports = [{ name: 'http', port: 8080 }];
  const found = readSlices({ metadata, spec: { ports } }, [{ metadata, addressType: 'IPv4', endpoints, ports }]);
  expect([...found.hosts.keys()]).toEqual(['named-0']);
  expect(subsetsOf(found.hosts.values()).map(({ hostnames }) => hostnames)).toEqual([['named-0']]);
  expect(found.anyReady).toBe(true);
});

onEachBacking('a headless Service', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = clusters.operator();
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

  test('D11: a pod that is made anew keeps its endpoint mirror; one that stays away loses it', async () => {
    await operator.stop();
    operator = clusters.operator({ flags: { endpointMirrorGrace: '1h' } });
    await exportHeadless(clusters, 'anew', ['anew-0', 'anew-1']);
    const before = await identitiesOf(clusters, ['anew-0', 'anew-1']);
    await clusters.west.apply(statefulSlice('anew', ['anew-0']));
    await lists('anew-west', ['anew-0']);
    await eventually('the operator is at rest', () => operator.settled());
    expect(await identitiesOf(clusters, ['anew-0', 'anew-1'])).toEqual(before);
    await clusters.west.apply(statefulSlice('anew', ['anew-0', 'anew-1']));
    await lists('anew-west', ['anew-0', 'anew-1']);
    expect(await identitiesOf(clusters, ['anew-0', 'anew-1'])).toEqual(before);
    await clusters.west.apply(statefulSlice('anew', ['anew-0']));
    await lists('anew-west', ['anew-0']);
    await operator.stop();
    operator = clusters.operator({ flags: { endpointMirrorGrace: '500ms' } });
    await eventually('its endpoint mirror is gone', async () => (await findMirror(clusters, 'anew-1')) === undefined);
    expect(await identitiesOf(clusters, ['anew-0'])).toEqual(before.slice(0, 1));
  });

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

  test('L26 D5 a pod that is not ready for a while keeps its endpoint mirror, and is listed only while ready', async () => {
    const pods = ['db-0', 'db-1', 'db-2'];
    const listed = () => clusters.addresses('db-west');
    await clusters.west.apply(service('db', { headless: true, labels: EXPORTED }));
    await clusters.west.apply(statefulSlice('db', pods));
    await eventually('all pods are listed', async () => (await listed())?.length === 3);
    const before = await identitiesOf(clusters, pods);

    for (const restarting of pods) {
      await clusters.west.apply(statefulSlice('db', pods, { notReady: [restarting] }));
      const ip = (await findMirror(clusters, restarting))!.spec.clusterIP;
      await eventually(`${restarting} is not listed`, async () => {
        const now = await listed();
        return now?.length === 2 && !now.includes(ip);
      });
      expect(await identitiesOf(clusters, pods)).toEqual(before);
      await clusters.west.apply(statefulSlice('db', pods));
      await eventually(`${restarting} is listed`, async () => (await listed())?.includes(ip));
    }
    expect(await identitiesOf(clusters, pods)).toEqual(before);
  });

  test('L40 D6 a pod addressed by name is reached on the port that it listens on', async () => {
    await clusters.west.apply(
      service('pg', { headless: true, labels: EXPORTED, ports: [{ name: 'sql', port: 80, targetPort: 8080 }] }),
    );
    const ports = [{ name: 'sql', port: 8080, protocol: 'TCP' }];
    await clusters.west.apply(statefulSlice('pg', ['pg-0', 'pg-1'], { ports }));
    await eventually(
      'the headless mirror has both pods',
      async () => (await clusters.addresses('pg-west'))?.length === 2,
    );
    for (const name of ['pg-0-west', 'pg-1-west']) {
      const { spec, metadata } = (await clusters.get<ServiceObject>('Service', name))!;
      expect(spec.ports, name).toMatchObject([{ name: 'sql', port: 8080, targetPort: 8080 }]);
      // The address and port that the headless mirror's Endpoints name are the endpoint mirror's own.
      const subset = (await clusters.get<EndpointsObject>('Endpoints', 'pg-west'))!.subsets![0]!;
      expect(subset.ports).toMatchObject([{ name: 'sql', port: spec.ports[0]!.port }]);
      expect(subset.addresses).toContainEqual({ ip: spec.clusterIP, hostname: metadata.name.replace('-west', '') });
      await eventually(`${name} leads to the gateway`, async () => (await clusters.addresses(name))?.[0] === GATEWAY);
    }

    const moved = [{ name: 'sql', port: 9090, protocol: 'TCP' }];
    const { metadata } = (await clusters.get<ServiceObject>('Service', 'pg-0-west'))!;
    await clusters.west.apply(statefulSlice('pg', ['pg-0', 'pg-1'], { ports: moved }));
    const after = await eventually('the endpoint mirror follows its pod', async () => {
      const found = await clusters.get<ServiceObject>('Service', 'pg-0-west');
      return found?.spec.ports[0]?.port === 9090 && found;
    });
    expect(after.metadata.uid).toBe(metadata.uid);
  });
});

onEachBacking('a headless mirror', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, namespaces: ['shop', 'other'] });
    await clusters.link();
    operator = clusters.operator();
  });
  afterAll(() => clusters.stop());

  const headless = (name: string, options: ServiceOptions = {}) =>
    service(name, { headless: true, labels: EXPORTED, ...options });
  const clusterIPs = async (...names: readonly string[]): Promise<readonly string[]> =>
    Promise.all(names.map(async (name) => (await mirrorOf(clusters, name)).spec.clusterIP ?? ''));

  test('without endpoints waits for them; with none that has a hostname it is mirrored as ClusterIP (D2)', async () => {
    await clusters.west.apply(headless('nameless'));
    await eventually(
      'it waits',
      async () => (await clusters.mirrorCondition('nameless'))?.reason === 'WaitingForEndpoints',
    );
    expect(await clusters.get('Service', 'nameless-west')).toBeUndefined();
    await clusters.west.apply(slice('nameless'));
    expect((await mirrorOf(clusters, 'nameless')).spec.clusterIP).not.toBe('None');
    await untilReady(clusters, 'nameless');
  });

  test('becomes headless here when its first hostname appears (D3), and stays so when scaled to zero (D2)', async () => {
    await clusters.west.apply(headless('growing'));
    await clusters.west.apply(slice('growing'));
    await untilReady(clusters, 'growing');
    await clusters.west.apply(statefulSlice('growing', ['growing-0']));
    await eventually(
      'it is headless',
      async () => (await mirrorOf(clusters, 'growing')).spec.clusterIP === 'None',
      DEADLINE_MS,
    );
    await addressesAre(clusters, 'growing-west', await clusterIPs('growing-0'));

    const { metadata } = await mirrorOf(clusters, 'growing');
    await clusters.west.apply(statefulSlice('growing', []));
    await eventually('the pod is gone', async () => (await clusters.get('Service', 'growing-0-west')) === undefined);
    await addressesAre(clusters, 'growing-west', []);
    const now = await mirrorOf(clusters, 'growing');
    expect([now.spec.clusterIP, now.metadata.uid]).toEqual(['None', metadata.uid]);
  });

  test('scales up and down without a change to the pods that stay (D4)', async () => {
    await clusters.west.apply(headless('scaled'));
    await clusters.west.apply(statefulSlice('scaled', ['scaled-0', 'scaled-1']));
    const two = await clusterIPs('scaled-0', 'scaled-1');
    await clusters.west.apply(statefulSlice('scaled', ['scaled-0', 'scaled-1', 'scaled-2', 'scaled-3']));
    const four = await clusterIPs('scaled-0', 'scaled-1', 'scaled-2', 'scaled-3');
    expect(four.slice(0, 2)).toEqual(two);
    await addressesAre(clusters, 'scaled-west', four);
    await clusters.west.apply(statefulSlice('scaled', ['scaled-0']));
    await eventually('the others are gone', async () => (await clusters.get('Service', 'scaled-3-west')) === undefined);
    await addressesAre(clusters, 'scaled-west', two.slice(0, 1));
  });

  test('that publishes pods that are not ready lists them (D5)', async () => {
    await clusters.west.apply(headless('eager', { spec: { publishNotReadyAddresses: true } }));
    await clusters.west.apply(statefulSlice('eager', ['eager-0', 'eager-1'], { notReady: ['eager-0', 'eager-1'] }));
    const both = await clusterIPs('eager-0', 'eager-1');
    await addressesAre(clusters, 'eager-west', both);
    await untilReady(clusters, 'eager-1');
  });

  test("follows the ports of its pods, not the Service's (D6)", async () => {
    await clusters.west.apply(headless('moving'));
    await clusters.west.apply(statefulSlice('moving', ['moving-0']));
    const before = await clusterIPs('moving-0');
    expect((await mirrorOf(clusters, 'moving-0')).spec.ports.map(({ port }) => port)).toEqual([8080]);
    await clusters.west.apply(
      statefulSlice('moving', ['moving-0'], { ports: [{ name: 'http', port: 9090, protocol: 'TCP' }] }),
    );
    await eventually(
      'the port follows',
      async () => (await mirrorOf(clusters, 'moving-0')).spec.ports[0]?.port === 9090,
    );
    await eventually('on the endpoints too', async () => {
      const endpoints = await clusters.get<EndpointsObject>('Endpoints', 'moving-west');
      return endpoints?.subsets?.[0]?.ports?.[0]?.port === 9090;
    });
    expect(await clusterIPs('moving-0')).toEqual(before);
  });

  test('of one name in two namespaces is two, independent of each other (D8)', async () => {
    for (const within of ['shop', 'other']) {
      await clusters.west.apply(headless('twin', { namespace: within }));
      await clusters.west.apply(statefulSlice('twin', ['twin-0'], { namespace: within }));
    }
    await Promise.all(['shop', 'other'].map((within) => mirrorOf(clusters, 'twin-0', within)));
    const { metadata } = await mirrorOf(clusters, 'twin-0', 'other');
    await clusters.west.delete(headless('twin'));
    await eventually('one is gone', async () => (await clusters.get('Service', 'twin-0-west')) === undefined);
    expect((await mirrorOf(clusters, 'twin-0', 'other')).metadata.uid).toBe(metadata.uid);
  });

  test('without a selector, with slices made by hand and without copied labels, works as any other (D9)', async () => {
    await clusters.west.apply(headless('byhand', { selector: null }));
    await clusters.west.apply(statefulSlice('byhand', ['byhand-0'], { labels: {}, name: 'byhand-one' }));
    await mirrorOf(clusters, 'byhand-0');
    await clusters.west.apply(statefulSlice('byhand', ['byhand-1'], { labels: {}, name: 'byhand-two' }));
    await addressesAre(clusters, 'byhand-west', await clusterIPs('byhand-0', 'byhand-1'));
    await clusters.west.delete(slice('byhand', { name: 'byhand-one' }));
    await eventually('its pod is gone', async () => (await clusters.get('Service', 'byhand-0-west')) === undefined);
    await addressesAre(clusters, 'byhand-west', await clusterIPs('byhand-1'));
  });

  test('with one pod in slices of different ports is written once, and not again and again (C5)', async () => {
    await clusters.west.apply(headless('split'));
    await clusters.west.apply(statefulSlice('split', ['split-0', 'split-1'], { name: 'split-a' }));
    const admin = [{ name: 'admin', port: 9000, protocol: 'TCP' }];
    await clusters.west.apply(statefulSlice('split', ['split-0'], { name: 'split-b', ports: admin }));
    const ports = async () =>
      (await clusters.get<EndpointsObject>('Endpoints', 'split-west'))?.subsets?.flatMap((each) => each.ports ?? []);
    await eventually(
      'both ports are there',
      async () => (await ports())?.some(({ port }) => port === 9000),
      DEADLINE_MS,
    );
    await eventually('it rests', () => operator.settled(), DEADLINE_MS);
    await clusters.eastCluster.clearAudit();
    await clusters.west.patch(service('split'), { metadata: { annotations: { 'mirror.linkerd.io/x': '1' } } });
    await exportService(clusters, 'later');
    await untilReady(clusters, 'later');
    expect((await clusters.writes()).filter((write) => write.includes('split'))).toEqual([]);
  });
});

/** What a mirror takes over from its target Service, and what form it has: rules B1 to B3, C4, D2 to D9, flat mode, slices. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import {
  EXPORTED,
  EXPORTED_FLAT,
  GATEWAY,
  link,
  LINKS_NAMESPACE,
  service,
  type ServiceOptions,
  slice,
  statefulSlice,
} from '../support/builders.ts';
import type { EndpointsObject, ServiceObject } from '../support/objects.ts';
import type { TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const DEADLINE_MS = 40_000;

interface SliceObject extends KubeObject {
  readonly addressType: string;
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions: { readonly ready: boolean };
  }[];
  readonly ports?: readonly { readonly name?: string; readonly port: number }[];
}

const mirrorOf = (clusters: TwoClusters, name: string, within = 'shop'): Promise<ServiceObject> =>
  eventually(
    `${name}-west is there`,
    () => clusters.get<ServiceObject>('Service', `${name}-west`, within),
    DEADLINE_MS,
  );

const addressesAre = (clusters: TwoClusters, name: string, expected: readonly string[], within = 'shop') =>
  eventually(
    `${name} has ${expected.join() || 'no addresses'}`,
    async () => (await clusters.addresses(name, within))?.join() === expected.join(),
    DEADLINE_MS,
  );

const isReady = (clusters: TwoClusters, name: string, within = 'shop') =>
  addressesAre(clusters, `${name}-west`, [GATEWAY], within);

const exported = async (clusters: TwoClusters, name: string, options: ServiceOptions = {}): Promise<void> => {
  await clusters.west.apply(service(name, { labels: EXPORTED, ...options }));
  await clusters.west.apply(slice(name, { namespace: options.namespace ?? 'shop' }));
};

onEachBacking('a mirror', (backing) => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link({
      excludedLabels: ['team', 'internal.example/*'],
      excludedAnnotations: ['note', 'config.linkerd.io/*'],
    });
    clusters.operator();
  });
  afterAll(() => clusters.stop());

  test('has the ports of its Service, appProtocol included, and nothing of how it is exposed (B1)', async () => {
    const h2c = { name: 'grpc', port: 81, targetPort: 'grpc', appProtocol: 'kubernetes.io/h2c' };
    await exported(clusters, 'ports', {
      ports: [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30_123 }, h2c],
      spec: {
        type: 'NodePort',
        externalIPs: ['198.51.100.7'],
        sessionAffinity: 'ClientIP',
        internalTrafficPolicy: 'Local',
      },
    });
    const { spec } = await mirrorOf(clusters, 'ports');
    expect(spec.ports).toEqual([
      { name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 },
      { ...h2c, protocol: 'TCP' },
    ]);
    expect(spec).toMatchObject({ type: 'ClusterIP', sessionAffinity: 'None' });
    expect(spec).not.toHaveProperty('selector');
    expect(spec).not.toHaveProperty('externalIPs');
    expect(spec).not.toHaveProperty('internalTrafficPolicy', 'Local');

    await clusters.west.patch(service('ports'), { spec: { ports: [{ name: 'http', port: 8080, targetPort: 8080 }] } });
    await eventually('the ports follow', async () => (await mirrorOf(clusters, 'ports')).spec.ports[0]?.port === 8080);
  });

  test('has the labels and annotations of its Service but those that are excluded (B2), and always opaque ports (B3)', async () => {
    await exported(clusters, 'meta', {
      labels: { ...EXPORTED, app: 'meta', team: 'a', 'internal.example/x': '1', 'internal.example.org/x': '1' },
      annotations: {
        plain: 'yes',
        note: 'no',
        'config.linkerd.io/opaque-ports': '3306',
        'config.linkerd.io/proxy-log-level': 'debug',
        'service.kubernetes.io/topology-mode': 'Auto',
      },
    });
    const { metadata } = await mirrorOf(clusters, 'meta');
    expect(metadata.labels).toEqual({
      app: 'meta',
      'internal.example.org/x': '1',
      'mirror.linkerd.io/mirrored-service': 'true',
      'mirror.linkerd.io/cluster-name': 'west',
    });
    expect(metadata.annotations).toEqual({
      plain: 'yes',
      'config.linkerd.io/opaque-ports': '3306',
      'mirror.linkerd.io/remote-svc-fq-name': 'meta.shop.svc.cluster.local',
      'mirror.linkerd.io/remote-resource-version': expect.any(String) as string,
    });
  });

  test('has the gateway on each of its ports behind it, with the identity by which proxies know it', async () => {
    await exported(clusters, 'wire', {
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    });
    await isReady(clusters, 'wire');
    const endpoints = await clusters.get<EndpointsObject>('Endpoints', 'wire-west');
    expect(endpoints?.subsets).toEqual([
      {
        addresses: [{ ip: GATEWAY }],
        ports: [
          { name: 'a', port: 4143, protocol: 'TCP' },
          { name: 'b', port: 4143, protocol: 'TCP' },
        ],
      },
    ]);
    expect(endpoints?.metadata.annotations).toMatchObject({
      'mirror.linkerd.io/remote-svc-fq-name': 'wire.shop.svc.cluster.local',
      'mirror.linkerd.io/remote-gateway-identity':
        'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
    });
  });

  test('in flat mode says where the pods are, keeps every port, UDP included, and has no endpoints of any kind', async () => {
    await exported(clusters, 'flat', {
      labels: EXPORTED_FLAT,
      ports: [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    });
    const { metadata, spec } = await mirrorOf(clusters, 'flat');
    expect(metadata.labels).toMatchObject({
      'multicluster.linkerd.io/remote-discovery': 'west',
      'multicluster.linkerd.io/remote-service': 'flat',
    });
    expect(spec.ports.map(({ name, port, protocol }) => [name, port, protocol])).toEqual([
      ['http', 80, 'TCP'],
      ['dns', 53, 'UDP'],
    ]);
    await eventually('it is done', async () => (await clusters.mirrorCondition('flat'))?.status === 'True');
    expect(await clusters.get('Endpoints', 'flat-west')).toBeUndefined();
  });

  test('turns from gateway mode to flat and back in place, and has endpoints in gateway mode only (A1)', async () => {
    await exported(clusters, 'turned');
    await isReady(clusters, 'turned');
    const { metadata } = await mirrorOf(clusters, 'turned');
    await clusters.west.patch(service('turned'), { metadata: { labels: EXPORTED_FLAT } });
    await eventually('it has no endpoints', async () => (await clusters.get('Endpoints', 'turned-west')) === undefined);
    expect((await mirrorOf(clusters, 'turned')).metadata.labels).toHaveProperty([
      'multicluster.linkerd.io/remote-service',
    ]);
    await clusters.west.patch(service('turned'), { metadata: { labels: EXPORTED } });
    await isReady(clusters, 'turned');
    const now = await mirrorOf(clusters, 'turned');
    expect(now.metadata.uid).toBe(metadata.uid);
    expect(now.metadata.labels).not.toHaveProperty(['multicluster.linkerd.io/remote-service']);
  });
});

onEachBacking('a headless Service', (backing) => {
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
    await isReady(clusters, 'nameless');
  });

  test('becomes headless here when its first hostname appears (D3), and stays so when scaled to zero (D2)', async () => {
    await clusters.west.apply(headless('growing'));
    await clusters.west.apply(slice('growing'));
    await isReady(clusters, 'growing');
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
    await isReady(clusters, 'eager-1');
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
    await exported(clusters, 'later');
    await isReady(clusters, 'later');
    expect((await clusters.writes()).filter((write) => write.includes('split'))).toEqual([]);
  });
});

onEachBacking('EndpointSlices in place of Endpoints', (backing) => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
  });
  afterAll(() => clusters.stop());

  const slicesOf = (name: string) =>
    clusters.east.list<SliceObject>({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace: 'shop',
      labelSelector: `kubernetes.io/service-name=${name},endpointslice.kubernetes.io/managed-by=linkspan.dev`,
    });

  test('take their place, and give it back, with the same Services, and with readiness as it was', async () => {
    const operator = clusters.operator();
    await exported(clusters, 'web');
    await clusters.west.apply(service('db', { headless: true, labels: EXPORTED }));
    await clusters.west.apply(statefulSlice('db', ['db-0']));
    await isReady(clusters, 'web');
    await isReady(clusters, 'db-0');
    const uids = async () =>
      Promise.all(['web', 'db', 'db-0'].map(async (name) => (await mirrorOf(clusters, name)).metadata.uid));
    const before = await uids();
    await operator.stop();

    const second = clusters.operator({ flags: { endpoints: 'slices' } });
    const [web] = await eventually(
      'web has a slice',
      async () => {
        const found = await slicesOf('web-west');
        return found.length > 0 && found;
      },
      DEADLINE_MS,
    );
    expect(web).toMatchObject({
      metadata: {
        name: 'web-west-ipv4',
        labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
        annotations: {
          'mirror.linkerd.io/remote-svc-fq-name': 'web.shop.svc.cluster.local',
          'mirror.linkerd.io/remote-gateway-identity': expect.stringContaining('linkerd-gateway') as string,
        },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: [GATEWAY], conditions: { ready: true } }],
      ports: [{ name: 'http', port: 4143 }],
    });
    for (const name of ['web-west', 'db-west', 'db-0-west', 'probe-west']) {
      const within = name === 'probe-west' ? LINKS_NAMESPACE : 'shop';
      await eventually(
        `${name} has no Endpoints`,
        async () => (await clusters.get('Endpoints', name, within)) === undefined,
      );
    }
    expect((await slicesOf('db-west'))[0]?.endpoints).toMatchObject([
      { hostname: 'db-0', conditions: { ready: true } },
    ]);
    await clusters.gateway.die();
    await eventually(
      'the slice is not ready',
      async () => (await slicesOf('web-west'))[0]?.endpoints?.[0]?.conditions.ready === false,
    );
    await clusters.gateway.revive();
    await eventually(
      'the slice is ready',
      async () => (await slicesOf('web-west'))[0]?.endpoints?.[0]?.conditions.ready,
    );
    await second.stop();

    clusters.operator();
    await isReady(clusters, 'web');
    await eventually('the slices are gone', async () => (await slicesOf('web-west')).length === 0, DEADLINE_MS);
    expect(await uids()).toEqual(before);
  });
});

describe('a Link that changes', () => {
  onEachBacking('is applied in place', (backing) => {
    let clusters: TwoClusters;
    beforeAll(async () => {
      clusters = await TwoClusters.start({ backing });
      await clusters.link();
      clusters.operator();
      await exported(clusters, 'web', { labels: { ...EXPORTED, team: 'a' }, annotations: { note: 'x' } });
      await clusters.west.apply(service('db', { headless: true, labels: EXPORTED }));
      await clusters.west.apply(statefulSlice('db', ['db-0']));
      await isReady(clusters, 'web');
      await isReady(clusters, 'db-0');
    });
    afterAll(() => clusters.stop());

    const change = (spec: object) => clusters.east.patch(link('west'), { spec });
    const endpoints = (name = 'web-west') => clusters.get<EndpointsObject>('Endpoints', name);
    const uids = async () =>
      Promise.all(['web', 'db', 'db-0'].map(async (name) => (await mirrorOf(clusters, name)).metadata.uid));

    test('its gateway address, port and identity reach every mirror without deleting any (C4)', async () => {
      const before = await uids();
      await change({ gatewayAddress: '203.0.113.21, 203.0.113.20', gatewayPort: '30143', gatewayIdentity: 'other.id' });
      for (const name of ['web-west', 'db-0-west']) {
        await addressesAre(clusters, name, ['203.0.113.20', '203.0.113.21']);
        await eventually(`${name} follows`, async () => {
          const found = await endpoints(name);
          return (
            found?.subsets?.[0]?.ports?.[0]?.port === 30_143 &&
            found.metadata.annotations?.['mirror.linkerd.io/remote-gateway-identity'] === 'other.id'
          );
        });
      }
      await addressesAre(clusters, 'probe-west', ['203.0.113.20', '203.0.113.21'], LINKS_NAMESPACE);
      expect(await uids()).toEqual(before);
    });

    test.each<[string, object, () => Promise<boolean>]>([
      [
        'excludedLabels',
        { excludedLabels: ['team'] },
        async () => !('team' in ((await mirrorOf(clusters, 'web')).metadata.labels ?? {})),
      ],
      [
        'excludedAnnotations',
        { excludedAnnotations: ['note'] },
        async () => !('note' in ((await mirrorOf(clusters, 'web')).metadata.annotations ?? {})),
      ],
      [
        'targetClusterDomain',
        { targetClusterDomain: 'west.example' },
        async () =>
          (await endpoints())?.metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name'] ===
          'web.shop.svc.west.example',
      ],
      [
        'probeSpec.port',
        { probeSpec: { port: '4192' } },
        async () =>
          (await clusters.get<ServiceObject>('Service', 'probe-west', LINKS_NAMESPACE))?.spec.ports[0]?.port === 4192,
      ],
      [
        'a probe that is no more',
        { probeSpec: null },
        async () => (await clusters.get('Service', 'probe-west', LINKS_NAMESPACE)) === undefined,
      ],
    ])('%s is taken up, and nothing is replaced (E5)', async (_, spec, isDone) => {
      const before = await uids();
      await change(spec);
      await eventually('it is taken up', isDone, DEADLINE_MS);
      expect(await uids()).toEqual(before);
    });

    test('headless mirroring can be turned off and on (E5)', async () => {
      await change({ enableHeadlessServices: false });
      await eventually(
        'db is a ClusterIP',
        async () => (await mirrorOf(clusters, 'db')).spec.clusterIP !== 'None',
        DEADLINE_MS,
      );
      await eventually('its pod is gone', async () => (await clusters.get('Service', 'db-0-west')) === undefined);
      await change({ enableHeadlessServices: null });
      await eventually(
        'db is headless',
        async () => (await mirrorOf(clusters, 'db')).spec.clusterIP === 'None',
        DEADLINE_MS,
      );
      await mirrorOf(clusters, 'db-0');
    });

    test('other selectors are taken up: what is no longer selected goes, what is now comes (E5, A2)', async () => {
      const { metadata } = await mirrorOf(clusters, 'db');
      await exported(clusters, 'picked', { labels: { pick: 'me' } });
      await change({ selector: { matchLabels: null, matchExpressions: [{ key: 'pick', operator: 'Exists' }] } });
      await mirrorOf(clusters, 'picked');
      await eventually(
        'web is gone',
        async () => (await clusters.get('Service', 'web-west')) === undefined,
        DEADLINE_MS,
      );
      await change({ selector: { matchExpressions: null, matchLabels: EXPORTED } });
      await mirrorOf(clusters, 'web');
      expect((await mirrorOf(clusters, 'db')).metadata.uid).not.toBe(metadata.uid);
    });

    test('another name of the target renames every mirror, and leaves none of the old (E5)', async () => {
      await change({ targetClusterName: 'elsewhere', clusterCredentialsSecret: 'cluster-credentials-west' });
      await eventually('web is renamed', () => clusters.get('Service', 'web-elsewhere'), DEADLINE_MS);
      await eventually('the pod too', () => clusters.get('Service', 'db-0-elsewhere'), DEADLINE_MS);
      for (const name of ['web-west', 'db-west', 'db-0-west']) {
        await eventually(
          `${name} is gone`,
          async () => (await clusters.get('Service', name)) === undefined,
          DEADLINE_MS,
        );
      }
    });
  });
});

/** What a mirror takes over from its target Service, and what it does not: section B of behaviour.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, EXPORTED_FLAT, GATEWAY, service } from '../support/builders.ts';
import { exportReady, exportService, identityOf, mirrorOf, untilReady } from '../support/exports.ts';
import { LinkerdController } from '../support/linkerd-controller.ts';
import type { EndpointsObject, ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const HTTP = { name: 'http', port: 80, targetPort: 8080 };

/** A Service with something to lose. */
const shrinking = (name: string): ObjectRef =>
  service(name, {
    labels: { ...EXPORTED, tier: 'gold', team: 'shop' },
    annotations: { note: 'x', 'config.linkerd.io/opaque-ports': '25' },
    ports: [HTTP, { name: 'smtp', port: 25, targetPort: 2525 }],
  });

/** Patches what it loses. */
const SHRUNK = {
  metadata: { labels: { tier: null }, annotations: { note: null, 'config.linkerd.io/opaque-ports': null } },
  spec: { ports: [HTTP] },
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

  test('has the ports of its Service, appProtocol included, and none of the fields that expose it (B1)', async () => {
    const h2c = { name: 'grpc', port: 81, targetPort: 'grpc', appProtocol: 'kubernetes.io/h2c' };
    await exportService(clusters, 'ports', {
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
    await exportService(clusters, 'meta', {
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
    await exportService(clusters, 'wire', {
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    });
    await untilReady(clusters, 'wire');
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

  test('in flat mode records where the pods are, keeps every port, UDP included, and has no endpoints of any kind', async () => {
    await exportService(clusters, 'flat', {
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
    await exportService(clusters, 'turned');
    await untilReady(clusters, 'turned');
    const { metadata } = await mirrorOf(clusters, 'turned');
    await clusters.west.patch(service('turned'), { metadata: { labels: EXPORTED_FLAT } });
    await eventually('it has no endpoints', async () => (await clusters.get('Endpoints', 'turned-west')) === undefined);
    expect((await mirrorOf(clusters, 'turned')).metadata.labels).toHaveProperty([
      'multicluster.linkerd.io/remote-service',
    ]);
    await clusters.west.patch(service('turned'), { metadata: { labels: EXPORTED } });
    await untilReady(clusters, 'turned');
    const now = await mirrorOf(clusters, 'turned');
    expect(now.metadata.uid).toBe(metadata.uid);
    expect(now.metadata.labels).not.toHaveProperty(['multicluster.linkerd.io/remote-service']);
  });
});

onEachBacking('a mirror that has been there before', (backing) => {
  let clusters: TwoClusters;
  let taken: { readonly identity: object; readonly endpointsUid: string };
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    // Linkerd's controller was there before: it wrote these two mirrors, and one target changed after it had gone.
    for (const name of ['taken', 'shrinks-by-linkerd']) await exportService(clusters, shrinking(name));
    const linkerd = new LinkerdController(clusters.eastCluster, clusters.westCluster);
    for (const name of ['taken', 'shrinks-by-linkerd']) await untilReady(clusters, name);
    await linkerd.stop();
    taken = {
      identity: identityOf((await clusters.get<ServiceObject>('Service', 'taken-west'))!),
      endpointsUid: (await clusters.get('Endpoints', 'taken-west'))!.metadata.uid,
    };
    await clusters.west.patch(service('taken'), SHRUNK);
    clusters.operator();
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  test('L32 B2 what a GitOps tool tracks by stays behind, all else is copied', async () => {
    const labels = { ...EXPORTED, team: 'shop', 'app.kubernetes.io/name': 'argoed' };
    const trackers = { 'app.kubernetes.io/instance': 'argoed', 'app.kubernetes.io/managed-by': 'Helm' };
    const annotations = { note: 'kept' };
    const tracking = {
      'argocd.argoproj.io/tracking-id': 'argoed:/Service:shop/argoed',
      'argocd.argoproj.io/sync-wave': '1',
      'meta.helm.sh/release-name': 'argoed',
    };
    const mirror = await exportReady(
      clusters,
      service('argoed', { labels: { ...labels, ...trackers }, annotations: { ...annotations, ...tracking } }),
    );
    const endpoints = await clusters.get<EndpointsObject>('Endpoints', 'argoed-west');
    for (const { metadata } of [mirror, endpoints!]) {
      expect(metadata.labels).toMatchObject({ team: 'shop', 'app.kubernetes.io/name': 'argoed' });
      for (const key of Object.keys(trackers)) expect(metadata.labels).not.toHaveProperty([key]);
      for (const key of Object.keys(tracking)) expect(metadata.annotations).not.toHaveProperty([key]);
    }
    expect(mirror.metadata.annotations).toMatchObject(annotations);
  });

  test('L34 A8 mirrors that Linkerd wrote are taken over in place, and what it left in them goes', async () => {
    const mirror = await eventually('the mirror is as the target is', async () => {
      const found = await clusters.get<ServiceObject>('Service', 'taken-west');
      return found?.spec.ports.length === 1 && found;
    });
    expect(mirror.spec.ports).toEqual([{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }]);
    expect(mirror.metadata.labels).toMatchObject({ team: 'shop' });
    expect(mirror.metadata.labels).not.toHaveProperty('tier');
    expect(mirror.metadata.annotations).not.toHaveProperty('note');
    expect(identityOf(mirror)).toEqual(taken.identity);
    const endpoints = await eventually('its Endpoints are too', async () => {
      const found = await clusters.get<EndpointsObject>('Endpoints', 'taken-west');
      return found?.subsets?.[0]?.ports?.length === 1 && found;
    });
    expect(endpoints.subsets?.[0]?.addresses).toEqual([{ ip: GATEWAY }]);
    expect(endpoints.metadata.uid).toBe(taken.endpointsUid);
  });

  test.each(['linkspan', 'linkerd'])(
    'L35 B1 B2 a label, an annotation and a port that go from the target go from a mirror made by %s',
    async (by) => {
      const name = `shrinks-by-${by}`;
      const before = await exportReady(clusters, shrinking(name));
      expect(before.spec.ports).toHaveLength(2);
      expect(before.metadata.labels).toMatchObject({ tier: 'gold', team: 'shop' });

      await clusters.west.patch(service(name), SHRUNK);
      const after = await eventually('the port is gone', async () => {
        const found = await clusters.get<ServiceObject>('Service', `${name}-west`);
        return found?.spec.ports.length === 1 && found;
      });
      expect(identityOf(after)).toEqual(identityOf(before));
      expect(after.spec.ports).toMatchObject([{ name: 'http', port: 80 }]);
      expect(after.metadata.labels).toMatchObject({ team: 'shop' });
      expect(after.metadata.labels).not.toHaveProperty('tier');
      expect(after.metadata.annotations).not.toHaveProperty('note');
      expect(after.metadata.annotations).not.toHaveProperty(['config.linkerd.io/opaque-ports']);
      await eventually('its Endpoints follow', async () => {
        const found = await clusters.get<EndpointsObject>('Endpoints', `${name}-west`);
        return found?.subsets?.[0]?.ports?.length === 1 && found.metadata.labels?.['tier'] === undefined;
      });
    },
  );
});

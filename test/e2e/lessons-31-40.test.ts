/**
 * Lessons L31 to L40: defects that a rewrite is expected to repeat unless it tests for them. One clusters a backing; each
 * lesson uses Services of its own, and where it needs another Link, one whose selector is its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backings } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import {
  EXPORTED,
  EXPORTED_FLAT,
  GATEWAY,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
  statefulSlice,
} from '../support/builders.ts';
import { linkerdLinkCrd } from '../support/linkerd-crd.ts';
import { LinkerdController } from '../support/linkerd-controller.ts';
import type { EndpointsObject, ServiceObject } from '../support/objects.ts';
import { LASTING_LEASE, type TestOperator } from '../support/operator.ts';
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

const identityOf = ({ metadata, spec }: ServiceObject): object => ({ uid: metadata.uid, clusterIP: spec.clusterIP });

onEachBacking('lessons L31 to L36, L39, L40', (backing) => {
  let clusters: TwoClusters;
  let taken: { readonly identity: object; readonly endpointsUid: string };
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    // Linkerd's controller was there before: it wrote these two mirrors, and one target changed after it had gone.
    for (const name of ['taken', 'shrinks-by-linkerd']) await exportReady(shrinking(name));
    const linkerd = new LinkerdController(clusters.eastCluster, clusters.westCluster);
    for (const name of ['taken', 'shrinks-by-linkerd']) await untilReady(name);
    await linkerd.stop();
    taken = {
      identity: identityOf((await clusters.get<ServiceObject>('Service', 'taken-west'))!),
      endpointsUid: (await clusters.get('Endpoints', 'taken-west'))!.metadata.uid,
    };
    await clusters.west.patch(service('taken'), SHRUNK);

    const host = `${clusters.gateway.address.host}:${clusters.gateway.address.port}`;
    clusters.operator({
      flags: {
        ...LASTING_LEASE,
        probeConnectTo: ['west', 'nodeport'].map((name) => `probe-${name}.${LINKS_NAMESPACE}.svc=${host}`),
        enableNamespaceCreation: true,
      },
    });
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  const exportReady = async (manifest: ObjectRef): Promise<void> => {
    await clusters.west.apply(manifest);
    await clusters.west.apply(slice(manifest.metadata.name));
  };

  const untilReady = (name: string) =>
    eventually(`${name}-west is ready`, async () => (await clusters.addresses(`${name}-west`))?.join() === GATEWAY);

  /** Exports a Service with a ready endpoint, and waits until its mirror is ready. */
  const mirrored = async (manifest: ObjectRef): Promise<ServiceObject> => {
    const { name } = manifest.metadata;
    await exportReady(manifest);
    await untilReady(name);
    return (await clusters.get<ServiceObject>('Service', `${name}-west`))!;
  };

  test('L31 F4 a gateway behind node ports is probed on the port of the Link, and reached on its gateway port', async () => {
    await clusters.east.apply(
      link('nodeport', {
        clusterCredentialsSecret: 'cluster-credentials-west',
        gatewayAddress: '203.0.113.31,203.0.113.32',
        gatewayPort: '30143',
        probeSpec: { path: '/ready', port: '30191', period: '100ms' },
        selector: { matchLabels: { lesson: 'L31' } },
      }),
    );
    await clusters.west.apply(service('noded', { labels: { lesson: 'L31' } }));
    await clusters.west.apply(slice('noded', { labels: { lesson: 'L31' } }));
    const endpoints = await eventually('the mirror is ready', async () => {
      const found = await clusters.get<EndpointsObject>('Endpoints', 'noded-nodeport');
      return found?.subsets?.[0]?.addresses === undefined ? undefined : found;
    });
    expect(endpoints.subsets).toEqual([
      {
        addresses: [{ ip: '203.0.113.31' }, { ip: '203.0.113.32' }],
        ports: [{ name: 'http', port: 30143, protocol: 'TCP' }],
      },
    ]);
    await eventually(
      'the gateway is alive',
      async () => (await clusters.condition('GatewayAlive', 'nodeport'))?.status === 'True',
    );
    const probe = await clusters.get<ServiceObject>('Service', 'probe-nodeport', LINKS_NAMESPACE);
    expect(probe?.spec.ports).toMatchObject([{ name: 'mc-probe', port: 30191 }]);
    const behind = await clusters.get<EndpointsObject>('Endpoints', 'probe-nodeport', LINKS_NAMESPACE);
    expect(behind?.subsets?.[0]?.ports).toMatchObject([{ name: 'mc-probe', port: 30191 }]);
    expect(clusters.gateway.hosts).toContain(`probe-nodeport.${LINKS_NAMESPACE}.svc:30191`);
  });

  test('L32 B2 what a GitOps tool tracks by stays behind, all else is copied', async () => {
    const labels = { ...EXPORTED, team: 'shop', 'app.kubernetes.io/name': 'argoed' };
    const trackers = { 'app.kubernetes.io/instance': 'argoed', 'app.kubernetes.io/managed-by': 'Helm' };
    const annotations = { note: 'kept' };
    const tracking = {
      'argocd.argoproj.io/tracking-id': 'argoed:/Service:shop/argoed',
      'argocd.argoproj.io/sync-wave': '1',
      'meta.helm.sh/release-name': 'argoed',
    };
    const mirror = await mirrored(
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

  test.each([
    ['a flat-mode mirror', 'flatmirror', { 'multicluster.linkerd.io/remote-discovery': 'north' }, {}],
    ['a mirror', 'gatewaymirror', { 'mirror.linkerd.io/mirrored-service': 'true' }, {}],
    ['a federated Service', 'federated', {}, { 'multicluster.linkerd.io/remote-discovery': 'web@north' }],
    ['a local federated Service', 'localfed', {}, { 'multicluster.linkerd.io/local-discovery': 'web' }],
  ])('L33 A4 %s of the target is not mirrored on, in either mode', async (_, name, labels, annotations) => {
    for (const [mode, exported] of [
      ['gateway', EXPORTED],
      ['flat', EXPORTED_FLAT],
    ] as const) {
      const each = `${name}-${mode}`;
      await clusters.west.apply(service(each, { labels: { ...labels, ...exported }, annotations }));
      await clusters.west.apply(slice(each));
      const condition = await eventually(`${each} is reported on`, () => clusters.mirrorCondition(each));
      expect(condition).toMatchObject({ status: 'False', reason: 'InvalidService' });
      expect(await clusters.get('Service', `${each}-west`)).toBeUndefined();
    }
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
      const before = await mirrored(shrinking(name));
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

  test('L39 A3 E8 nothing is written to the namespaces of Kubernetes, of the control plane or of the operator', async () => {
    const forbidden = ['kube-system', 'kube-public', 'linkerd', LINKS_NAMESPACE];
    await clusters.eastCluster.clearAudit();
    for (const name of forbidden) {
      await clusters.west.apply(namespace(name));
      await clusters.west.apply(service('intruder', { namespace: name, labels: EXPORTED }));
      await clusters.west.apply(slice('intruder', { namespace: name }));
    }
    // What is allowed is written meanwhile, so the operator has seen them all by the time they are reported on.
    await mirrored(service('guest', { labels: EXPORTED }));
    for (const name of forbidden) {
      const condition = await eventually(`${name} is reported on`, () => clusters.mirrorCondition('intruder', name));
      expect(condition).toMatchObject({ status: 'False', reason: 'NamespaceNotAllowed' });
      expect(await clusters.get('Service', 'intruder-west', name)).toBeUndefined();
      expect(await clusters.get('Endpoints', 'intruder-west', name)).toBeUndefined();
    }
    expect(await clusters.east.get(namespace('linkerd'))).toBeUndefined();
    expect(
      (await clusters.writes()).filter((write) => write.includes('intruder') || write.includes('namespaces')),
    ).toEqual([]);
    for (const name of forbidden) await clusters.west.delete(service('intruder', { namespace: name }));
  });

  test('L40 D6 a pod addressed by name is reached on the port that it listens on', async () => {
    await clusters.west.apply(
      service('db', { headless: true, labels: EXPORTED, ports: [{ name: 'sql', port: 80, targetPort: 8080 }] }),
    );
    const ports = [{ name: 'sql', port: 8080, protocol: 'TCP' }];
    await clusters.west.apply(statefulSlice('db', ['db-0', 'db-1'], { ports }));
    await eventually(
      'the headless mirror has both pods',
      async () => (await clusters.addresses('db-west'))?.length === 2,
    );
    for (const name of ['db-0-west', 'db-1-west']) {
      const { spec, metadata } = (await clusters.get<ServiceObject>('Service', name))!;
      expect(spec.ports, name).toMatchObject([{ name: 'sql', port: 8080, targetPort: 8080 }]);
      // The address and port that the headless mirror's Endpoints name are the endpoint mirror's own.
      const subset = (await clusters.get<EndpointsObject>('Endpoints', 'db-west'))!.subsets![0]!;
      expect(subset.ports).toMatchObject([{ name: 'sql', port: spec.ports[0]!.port }]);
      expect(subset.addresses).toContainEqual({ ip: spec.clusterIP, hostname: metadata.name.replace('-west', '') });
      await eventually(`${name} leads to the gateway`, async () => (await clusters.addresses(name))?.[0] === GATEWAY);
    }

    const moved = [{ name: 'sql', port: 9090, protocol: 'TCP' }];
    const { metadata } = (await clusters.get<ServiceObject>('Service', 'db-0-west'))!;
    await clusters.west.apply(statefulSlice('db', ['db-0', 'db-1'], { ports: moved }));
    const after = await eventually('the endpoint mirror follows its pod', async () => {
      const found = await clusters.get<ServiceObject>('Service', 'db-0-west');
      return found?.spec.ports[0]?.port === 9090 && found;
    });
    expect(after.metadata.uid).toBe(metadata.uid);
  });
});

describe.runIf(backings().includes('simulated'))('lesson L36 [simulated]', () => {
  let clusters: TwoClusters;
  let east: SimulatedCluster;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    east = clusters.eastCluster as SimulatedCluster;
    await clusters.link();
    clusters.operator({ flags: LASTING_LEASE });
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

  const mirrored = async (name: string): Promise<void> => {
    await clusters.west.apply(service(name, { labels: EXPORTED }));
    await clusters.west.apply(slice(name));
    await eventually(`${name}-west is ready`, async () => (await clusters.addresses(`${name}-west`))?.[0] === GATEWAY);
  };

  /** As when somebody replaces a mirror by a Service of their own. */
  const replaceByForeign = (name: string): void => {
    east.store.delete('v1', 'Service', 'shop', name);
    east.store.delete('v1', 'Endpoints', 'shop', name);
    east.store.upsert({ ...foreign(name) });
  };

  test('L36 A6 a foreign Service that appears just before ours is created is left alone', async () => {
    justBefore('patch', 'created-west', () => void east.store.upsert({ ...foreign('created-west') }));
    await clusters.west.apply(service('created', { labels: EXPORTED }));
    await clusters.west.apply(slice('created'));
    await untouched('created-west');
    await clusters.east.delete(service('created-west'));
    await eventually('the name is taken once it is free', async () => {
      const found = await clusters.get('Service', 'created-west');
      return found?.metadata.labels?.['mirror.linkerd.io/cluster-name'] === 'west';
    });
  });

  test('L36 A6 a foreign Service that takes the place of a mirror just before an update is left alone', async () => {
    await mirrored('updated');
    justBefore('patch', 'updated-west', () => replaceByForeign('updated-west'));
    await clusters.west.patch(service('updated'), { metadata: { labels: { team: 'shop' } } });
    await untouched('updated-west');
  });

  test('L36 A6 a foreign Service that takes the place of a mirror just before its deletion is left alone', async () => {
    await mirrored('deleted');
    justBefore('delete', 'deleted-west', () => replaceByForeign('deleted-west'));
    await clusters.west.delete(service('deleted'));
    await eventually('the deletion was tried', async () =>
      (await east.audit()).some(({ verb, name }) => verb === 'delete' && name === 'deleted-west'),
    );
    await mirrored('after-deletion');
    expect((await clusters.get('Service', 'deleted-west'))?.metadata.labels).toEqual({ owner: 'somebody' });
  });
});

onEachBacking('lesson L38', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing, crd: linkerdLinkCrd });
    await clusters.link();
    operator = clusters.operator({ flags: LASTING_LEASE });
  });
  afterAll(() => clusters.stop());

  test("L38 G5 with Linkerd's own Link CRD everything works, is said once, and no status is written in a loop", async () => {
    await clusters.west.apply(service('web', { labels: EXPORTED }));
    await clusters.west.apply(slice('web'));
    await clusters.west.apply(
      service('odd', { labels: EXPORTED, spec: { type: 'ExternalName', externalName: 'a.b' } }),
    );
    await eventually('the mirror is ready', async () => (await clusters.addresses('web-west'))?.join() === GATEWAY);
    await eventually(
      'status has what Linkerd knows',
      async () => (await clusters.mirrorCondition('web'))?.status === 'True',
    );
    await eventually('failures too', async () => (await clusters.mirrorCondition('odd'))?.reason === 'InvalidService');
    expect(await clusters.condition('Ready')).toBeUndefined();

    await clusters.gateway.die();
    await eventually(
      'the mirror is not ready',
      async () => (await clusters.addresses('web-west'))?.join() === `!${GATEWAY}`,
    );
    await clusters.gateway.revive();
    await eventually(
      'the mirror is ready again',
      async () => (await clusters.addresses('web-west'))?.join() === GATEWAY,
    );

    await eventually('nothing is left to write', async () => {
      await clusters.eastCluster.clearAudit();
      // Several times the shortest period between two writes of a status.
      await probed(clusters, 12);
      return (await clusters.writes()).length === 0;
    });
    // Each of these makes the operator look at its status again, and none gives it anything new to say.
    for (const touched of ['once', 'twice', 'thrice']) {
      await clusters.east.patch(link('west'), { metadata: { labels: { touched } } });
      await probed(clusters, 6);
    }
    expect(await clusters.writes()).toEqual([]);
    expect(operator.lines.filter(({ message }) => message.includes("Linkerd's own"))).toHaveLength(1);
    const events = await clusters.east.list<KubeObject & { reason: string; count: number }>({
      apiVersion: 'v1',
      kind: 'Event',
      namespace: LINKS_NAMESPACE,
    });
    expect(events.filter(({ reason }) => reason === 'FieldsPruned').map(({ count }) => count)).toEqual([1]);
  });
});

/** Waits for so many more probes, one each 100 ms: time in which what should not happen could have happened. */
const probed = async (clusters: TwoClusters, count: number): Promise<void> => {
  const until = clusters.gateway.probes + count;
  await eventually(`${count} probes more`, async () => clusters.gateway.probes >= until);
};

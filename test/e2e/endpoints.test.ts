/** The endpoints behind mirrors, in both of their kinds: section C of behaviour.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { RequestInfo } from '../cluster/simulated/request.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, LINKS_NAMESPACE, service, slice, statefulSlice } from '../support/builders.ts';
import { EndpointsHistory } from '../support/endpoints-history.ts';
import {
  exportAllReady,
  exportReady,
  exportService,
  findMirror,
  identityOf,
  mirrorOf,
  untilReady,
} from '../support/exports.ts';
import type { ServiceObject } from '../support/objects.ts';
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

onEachBacking('the endpoints of a mirror', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = clusters.operator();
  });
  afterAll(() => clusters.stop());

  const isReady = (name: string) =>
    eventually(`${name} is ready`, async () => (await clusters.addresses(name))?.[0] === GATEWAY);

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

  test('L27 C3 what is edited by hand is put right: a mirror, its Endpoints, the probe Service', async () => {
    await exportAllReady(clusters, ['edited']);
    const before = (await findMirror(clusters, 'edited'))!;
    await clusters.east.patch(before, {
      metadata: { labels: { added: 'by-hand' }, annotations: { 'mirror.linkerd.io/remote-svc-fq-name': 'else.where' } },
      spec: { ports: [{ name: 'http', port: 81, protocol: 'TCP', targetPort: 8080 }] },
    });
    await eventually('the mirror is as it was', async () => {
      const { metadata, spec } = (await findMirror(clusters, 'edited'))!;
      return (
        spec.ports[0]?.port === 80 &&
        metadata.labels?.['added'] === undefined &&
        metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name'] === 'edited.shop.svc.cluster.local'
      );
    });
    expect(identityOf((await findMirror(clusters, 'edited'))!)).toEqual(identityOf(before));

    const endpoints = (await clusters.get('Endpoints', 'edited-west'))!;
    await clusters.east.patch(endpoints, { subsets: [{ addresses: [{ ip: '203.0.113.66' }], ports: [{ port: 1 }] }] });
    await untilReady(clusters, 'edited');
    await clusters.east.delete(endpoints);
    await untilReady(clusters, 'edited');
    expect((await clusters.get('Endpoints', 'edited-west'))!.metadata.uid).not.toBe(endpoints.metadata.uid);
  });

  test.each([
    ['Service', 'gone-west', 'shop'],
    ['Endpoints', 'gone-west', 'shop'],
    ['Service', 'probe-west', LINKS_NAMESPACE],
    ['Endpoints', 'probe-west', LINKS_NAMESPACE],
  ])('L27 C3 %s %s deleted by hand is there again at once', async (kind, name, within) => {
    await exportAllReady(clusters, ['gone']);
    const before = await eventually<KubeObject>('it is there', () => clusters.get(kind, name, within));
    await clusters.east.delete(before);
    await eventually('it is there again', async () => {
      const now = await clusters.get(kind, name, within);
      return now !== undefined && now.metadata.uid !== before.metadata.uid;
    });
    await untilReady(clusters, 'gone');
  });
});

describe('a mirror that is updated while it is written [simulated]', () => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    await clusters.link();
    clusters.operator();
  });
  afterAll(() => clusters.stop());

  const port = (number: number) => ({ spec: { ports: [{ name: 'http', port: number, targetPort: 8080 }] } });

  test.each([0, 1, 2, 3])(
    'L1 C3 H4: of two updates, the second while the first is being written, the second stands, after %i conflicts',
    async (conflicts) => {
      const name = `twice-${conflicts}`;
      await exportReady(clusters, name);
      const before = await findMirror(clusters, name);
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
      await eventually(
        'the second update is there',
        async () => (await findMirror(clusters, name))?.spec.ports[0]?.port === 82,
      );
      slow();

      await exportReady(clusters, `after-${name}`);
      const after = await findMirror(clusters, name);
      expect(after?.spec.ports).toEqual([{ name: 'http', port: 82, protocol: 'TCP', targetPort: 8080 }]);
      expect(after?.metadata.uid).toBe(before?.metadata.uid);
      await eventually('it is reported as mirrored', async () => {
        return (await clusters.mirrorCondition(name))?.status === 'True';
      });
    },
  );
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
    await exportService(clusters, 'web');
    await clusters.west.apply(service('db', { headless: true, labels: EXPORTED }));
    await clusters.west.apply(statefulSlice('db', ['db-0']));
    await untilReady(clusters, 'web');
    await untilReady(clusters, 'db-0');
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
    await untilReady(clusters, 'web');
    await eventually('the slices are gone', async () => (await slicesOf('web-west')).length === 0, DEADLINE_MS);
    expect(await uids()).toEqual(before);
  });
});

/** Failover: ServiceFailovers and the routes that the operator makes for them. Section J of behaviour.md. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { failoverCrd } from '../../crds/index.ts';
import type { FailoverStatus } from '../../crds/failover/types.gen.ts';
import type { RouteBackendRef } from '../../operator/failover/observed.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, installCrd, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED_FLAT, service, slice } from '../support/builders.ts';
import { exportReady } from '../support/exports.ts';
import type { TestOperator } from '../support/operator.ts';
import { httpRouteCrds, tcpRouteCrd } from '../support/route-crds.ts';
import { TwoClusters } from '../support/two-clusters.ts';

interface RouteObject extends KubeObject {
  readonly spec: { readonly rules: readonly { readonly backendRefs: readonly RouteBackendRef[] }[] };
}

interface FailoverObject extends KubeObject {
  readonly status?: FailoverStatus;
}

const GATEWAY_API = 'gateway.networking.k8s.io';

const failover = (name: string, backends: readonly object[], spec: object = {}): ObjectRef =>
  ({
    apiVersion: 'linkspan.dev/v1alpha1',
    kind: 'ServiceFailover',
    metadata: { name, namespace: 'shop' },
    spec: { service: name, backends, holdDown: '0', ...spec },
  }) as ObjectRef;

const routeRef = (name: string, kind = 'HTTPRoute', version = 'v1'): ObjectRef => ({
  apiVersion: `${GATEWAY_API}/${version}`,
  kind,
  metadata: { name, namespace: 'shop' },
});

onEachBacking('failover', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator | undefined;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    for (const crd of [failoverCrd as unknown as ObjectRef, ...httpRouteCrds()]) {
      await installCrd(clusters.eastCluster, crd);
    }
    // A cluster is lent with the kinds that others have installed.
    const crd = tcpRouteCrd();
    await clusters.east.delete(crd);
    await eventually('TCPRoutes are not served', async () => (await clusters.east.get(crd)) === undefined);
    await clusters.link();
  });
  beforeEach(async () => {
    await clusters.gateway.revive();
    operator = clusters.operator();
  });
  afterEach(() => operator?.stop());
  afterAll(() => clusters.stop());

  /** The weights of a route: `web 1, web-west 0`. */
  const weights = async (name: string): Promise<string> => {
    const found = await clusters.east.get<RouteObject>(routeRef(name));
    const refs = found?.spec.rules.flatMap(({ backendRefs }) => backendRefs) ?? [];
    return refs.map(({ name: backend, weight }) => `${backend} ${weight}`).join(', ');
  };
  const goes = (name: string, expected: string) =>
    eventually(`${name} is ${expected || 'not there'}`, async () => (await weights(name)) === expected);
  const statusOf = async (name: string): Promise<FailoverStatus | undefined> =>
    (await clusters.east.get<FailoverObject>(failover(name, [])))?.status;
  const isReady = (name: string, reason: string) =>
    eventually(`${name} is ${reason}`, async () => {
      const ready = (await statusOf(name))?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.reason === reason ? ready : undefined;
    });
  const local = async (name: string, ready: boolean): Promise<void> => {
    await clusters.east.apply(slice(name, { labels: {}, endpoints: [{ ready }] }));
  };
  /** A Service of that name here and in west, whose requests go to this cluster first. */
  const both = async (name: string, spec: object = {}): Promise<void> => {
    await clusters.east.apply(service(name));
    await local(name, true);
    await exportReady(clusters, name);
    await clusters.east.apply(failover(name, [{ service: name }, { service: `${name}-west` }], spec));
    await goes(`${name}-80`, `${name} 1, ${name}-west 0`);
  };

  test('J1 J2: requests go to the mirror while the local pods are not ready, and back after the hold-down', async () => {
    await both('web', { holdDown: '1s' });
    await isReady('web', 'Ready');
    const before = await clusters.east.get(routeRef('web-80'));

    await local('web', false);
    await goes('web-80', 'web 0, web-west 1');
    await eventually('the status says so', async () => (await statusOf('web'))?.active === 'web-west');
    await local('web', true);
    const beganMs = performance.now();
    await goes('web-80', 'web 1, web-west 0');
    expect(performance.now() - beganMs).toBeGreaterThan(900);
    await eventually('the status says so', async () => (await statusOf('web'))?.active === 'web');
    // Updated in place: Linkerd must accept a new route before it counts.
    expect((await clusters.east.get(routeRef('web-80')))?.metadata.uid).toBe(before?.metadata.uid);
    await eventually('an Event says so', async () => {
      const events = await clusters.east.list<KubeObject & { reason: string; message: string }>({
        apiVersion: 'v1',
        kind: 'Event',
        namespace: 'shop',
      });
      return events.some(
        ({ reason, message }) => reason === 'FailedOver' && message.startsWith('requests go to web-west'),
      );
    });
  });

  test('J3: a dead gateway turns routes to this cluster, and a target without ready pods does', async () => {
    await clusters.east.apply(service('api'));
    await local('api', true);
    await exportReady(clusters, 'api');
    await clusters.east.apply(failover('api', [{ service: 'api-west' }, { service: 'api' }]));
    await goes('api-80', 'api-west 1, api 0');

    await clusters.gateway.die();
    await goes('api-80', 'api-west 0, api 1');
    await clusters.gateway.revive();
    await goes('api-80', 'api-west 1, api 0');
    await clusters.west.apply(slice('api', { endpoints: [{ ready: false }] }));
    await goes('api-80', 'api-west 0, api 1');
    // Nothing is ready: nothing changes.
    await local('api', false);
    await isReady('api', 'NoBackendReady');
    expect(await weights('api-80')).toBe('api-west 0, api 1');
  });

  test('J3: a mirror in flat mode is ready while pods in the target are, whatever its gateway does', async () => {
    await clusters.east.apply(service('flat'));
    await local('flat', false);
    const pods = (ready: boolean) =>
      clusters.west.apply(slice('flat', { labels: EXPORTED_FLAT, endpoints: [{ ready }] }));
    await clusters.west.apply(service('flat', { labels: EXPORTED_FLAT }));
    await pods(true);
    await clusters.gateway.die();
    await clusters.east.apply(failover('flat', [{ service: 'flat' }, { service: 'flat-west' }]));
    await goes('flat-80', 'flat 0, flat-west 1');
    await isReady('flat', 'Ready');

    await local('flat', true);
    await goes('flat-80', 'flat 1, flat-west 0');
    await pods(false);
    await eventually('the status says so', async () => (await statusOf('flat'))?.backends?.[1]?.ready === false);
    await local('flat', false);
    await isReady('flat', 'NoBackendReady');
    await pods(true);
    await goes('flat-80', 'flat 0, flat-west 1');
  });

  test('J2: a share of the ready pods is asked for, and weights are divided among what is ready', async () => {
    await clusters.east.apply(service('share'));
    await local('share', true);
    await exportReady(clusters, 'share');
    const backends = [
      { service: 'share', minReady: '50%', weight: 90 },
      { service: 'share-west', weight: 10 },
    ];
    await clusters.east.apply(failover('share', backends));
    await goes('share-80', 'share 90, share-west 10');
    const pods = (ready: number) =>
      clusters.east.apply(slice('share', { labels: {}, endpoints: [0, 1, 2, 3].map((at) => ({ ready: at < ready })) }));
    await pods(2);
    await eventually('the pods are counted', async () => (await statusOf('share'))?.backends?.[0]?.endpoints === 4);
    expect(await weights('share-80')).toBe('share 90, share-west 10');
    await pods(1);
    await goes('share-80', 'share 0, share-west 10');
  });

  test('C5: a restart writes nothing, with the target away or not', async () => {
    await both('quiet');
    await isReady('quiet', 'Ready');
    await operator?.settled();
    await operator?.stop();
    await clusters.eastCluster.clearAudit();
    operator = clusters.operator();
    await clusters.ready();
    await operator.settled();
    expect((await clusters.writes()).filter((write) => /routes|failovers/.test(write))).toEqual([]);
  });

  test('J1: routes that others edit or delete are put right, and go with their ServiceFailover', async () => {
    await both('mine');
    await clusters.east.patch(routeRef('mine-80'), {
      spec: { rules: [{ backendRefs: [{ name: 'mine', port: 80, weight: 0 }] }] },
    });
    await goes('mine-80', 'mine 1, mine-west 0');
    await clusters.east.delete(routeRef('mine-80'));
    await goes('mine-80', 'mine 1, mine-west 0');
    await clusters.east.delete(failover('mine', []));
    await goes('mine-80', '');
  });

  test('J4: an older route of others, and a name that others have, are reported and left alone', async () => {
    await clusters.east.apply(service('taken'));
    await local('taken', true);
    const theirs = {
      ...routeRef('theirs'),
      spec: {
        parentRefs: [{ group: 'core', kind: 'Service', name: 'taken', port: 80 }],
        rules: [{ backendRefs: [{ name: 'taken', port: 80 }] }],
      },
    };
    await clusters.east.apply(theirs);
    await clusters.east.apply(failover('taken', [{ service: 'taken' }]));
    expect((await isReady('taken', 'RouteConflict')).message).toContain('HTTPRoute shop/theirs');
    expect(await weights('taken-80')).toBe('');

    await clusters.east.delete(theirs);
    await goes('taken-80', 'taken 1');
    await clusters.east.delete(failover('taken', []));
    await goes('taken-80', '');
    await clusters.east.apply({
      ...theirs,
      ...routeRef('taken-80'),
      spec: { ...theirs.spec, parentRefs: [] },
    } as ObjectRef);
    await clusters.east.apply(failover('taken', [{ service: 'taken' }]));
    await isReady('taken', 'NameConflict');
    expect((await clusters.east.get(routeRef('taken-80')))?.metadata.labels).toBeUndefined();
  });

  test('J4: a second ServiceFailover for one Service is reported, and takes over once the first is gone', async () => {
    await both('twice');
    await clusters.east.apply(failover('again', [{ service: 'twice-west' }], { service: 'twice' }));
    const { message } = await isReady('again', 'RouteConflict');
    expect(message).toContain('delete ServiceFailover twice');
    expect(await weights('again-80')).toBe('');
    await isReady('twice', 'Ready');

    await clusters.east.delete(failover('twice', []));
    await goes('again-80', 'twice-west 1');
    await isReady('again', 'Ready');

    // The other way round, and by leaving the Service.
    await clusters.east.apply(failover('twice', [{ service: 'twice' }]));
    expect((await isReady('twice', 'RouteConflict')).message).toContain('delete ServiceFailover again');
    await clusters.east.apply(failover('again', [{ service: 'twice-west' }], { service: 'twice-west' }));
    await goes('twice-80', 'twice 1');
    await isReady('twice', 'Ready');
  });

  test('J4: without the CRD of a kind nothing is known of it, and its routes come once it is there', async () => {
    await clusters.east.apply(service('db', { ports: [{ name: 'mysql', port: 3306 }] }));
    await local('db', true);
    await clusters.east.apply(failover('db', [{ service: 'db' }, { service: 'db-west' }]));
    const { message } = await isReady('db', 'RouteKindMissing');
    expect(message).toContain('tcproutes.gateway.networking.k8s.io');

    await installCrd(clusters.eastCluster, tcpRouteCrd());
    await isReady('db', 'BackendNotFound');
    const found = await clusters.east.get<RouteObject>(routeRef('db-3306', 'TCPRoute', 'v1alpha2'));
    expect(found?.spec.rules[0]?.backendRefs).toMatchObject([{ name: 'db', port: 3306, weight: 1 }]);
  });

  test('J4: ServiceFailovers that vanish with their CRD leave their routes', async () => {
    await both('kept');
    const crd = failoverCrd as unknown as ObjectRef;
    await clusters.east.delete(crd);
    await eventually('the CRD is gone', async () => (await clusters.east.get(crd)) === undefined);
    await operator?.settled();
    expect(await weights('kept-80')).toBe('kept 1, kept-west 0');
    await installCrd(clusters.eastCluster, crd);
  });
});

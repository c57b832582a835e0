/**
 * What is right stays untouched: an operator that starts over hundreds of mirrors, its own or those of Linkerd's
 * controller, writes nothing. The API server's audit log is the witness; clients of a mirror keep the ClusterIP they
 * know.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { type Api, eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, LINKS_NAMESPACE, service, slice, statefulSlice } from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import { exportReady, exportService } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import type { TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const CLUSTER_IP = 60;
const HEADLESS = 30;
/** Mirrors of both kinds, and two endpoint mirrors for each headless one. */
const SERVICES_IN_SOURCE = CLUSTER_IP + HEADLESS * 3;
const AT_ONCE = 16;
const DEADLINE_MS = 60_000;
/** For the operator's own: headless Services, and pods of each. */
const SETS = Array.from({ length: 100 }, (_, index) => `set-${index}`);
const PODS = 5;
const PLAIN = Array.from({ length: 40 }, (_, index) => `plain-${index}`);

const IDENTITY = 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local';
/** One number in the Service, the pod and the mirror: then Linkerd's endpoint mirrors are as ours (rule D6). */
const PORT = { name: 'http', port: 8080, protocol: 'TCP', targetPort: 8080 };
const COPIED = { team: 'shop' };

const clusterIPNames = Array.from({ length: CLUSTER_IP }, (_, index) => `web-${index}`);
const headlessNames = Array.from({ length: HEADLESS }, (_, index) => `db-${index}`);
const podsOf = (name: string): readonly string[] => [`${name}-set-0`, `${name}-set-1`];

interface Mirror extends KubeObject {
  readonly spec: { readonly clusterIP: string };
}

/** Puts the running Services into the target. */
const fill = async (west: Api): Promise<void> => {
  const labels = { ...EXPORTED, ...COPIED };
  await concurrently(clusterIPNames, AT_ONCE, async (name) => {
    await west.apply(service(name, { labels, ports: [PORT] }));
    await west.apply(slice(name, { labels }));
  });
  await concurrently(headlessNames, AT_ONCE, async (name) => {
    await west.apply(service(name, { labels, ports: [PORT], headless: true }));
    await west.apply(statefulSlice(name, podsOf(name), { labels }));
  });
};

const OF_WEST = 'mirror.linkerd.io/cluster-name=west';

const mirrors = ({ east }: TwoClusters): Promise<readonly Mirror[]> =>
  east.list<Mirror>({ apiVersion: 'v1', kind: 'Service', namespace: 'shop', labelSelector: OF_WEST });

type Entry = readonly [string, string];

/** What must survive: uid, ClusterIP and version of every mirror, and uid and version of its Endpoints. */
const identities = async (clusters: TwoClusters): Promise<Readonly<Record<string, string>>> => {
  const endpoints = await clusters.east.list({
    apiVersion: 'v1',
    kind: 'Endpoints',
    namespace: 'shop',
    labelSelector: OF_WEST,
  });
  return Object.fromEntries([
    ...(await mirrors(clusters)).map(({ metadata: { name, uid, resourceVersion }, spec: { clusterIP } }): Entry => [
      `Service ${name}`,
      `${uid} ${clusterIP} ${resourceVersion}`,
    ]),
    ...endpoints.map(({ metadata: { name, uid, resourceVersion } }): Entry => [
      `Endpoints ${name}`,
      `${uid} ${resourceVersion}`,
    ]),
  ]);
};

/** Waits until the operator has caught up, has a verdict on the gateway, and has had time to write its status. */
const atRest = async (clusters: TwoClusters, operator: TestOperator, services: number): Promise<void> => {
  const probesBefore = clusters.gateway.probes;
  await eventually(
    'the operator has looked at everything and probed the gateway a few times',
    async () =>
      (await operator.metric('controller_runtime_reconcile_total')) >= services &&
      clusters.gateway.probes >= probesBefore + 10 &&
      (await operator.settled()),
    DEADLINE_MS,
  );
};

onEachBacking('a restart', (backing) => {
  let clusters: TwoClusters;
  let second: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
  });
  afterAll(() => clusters.stop());

  test('L7 D5 C5: over 500 endpoint mirrors deletes none, changes no ClusterIP and writes nothing', async () => {
    const first = clusters.operator();
    await concurrently(SETS, AT_ONCE, async (name) => {
      const pods = Array.from({ length: PODS }, (_, pod) => `${name}-${pod}`);
      await clusters.west.apply(service(name, { headless: true, labels: EXPORTED }));
      // One pod of each is not ready: its endpoint mirror stays all the same.
      await clusters.west.apply(statefulSlice(name, pods, { notReady: [pods[0]!] }));
    });
    await concurrently(PLAIN, AT_ONCE, (name) => exportService(clusters, name));
    // Each Service and each pod has a Service and Endpoints here.
    const total = 2 * (PLAIN.length + SETS.length * (1 + PODS));
    await eventually(
      'everything is mirrored',
      async () => Object.keys(await inventory(clusters)).length === total,
      90_000,
    );
    await eventually('the operator is at rest', () => first.settled(), 60_000);
    await first.stop();
    const before = await inventory(clusters);
    await clusters.eastCluster.clearAudit();

    // The target's Services are known long before their endpoints are, and the mirrors after everything else here.
    if (backing === 'simulated') {
      (clusters.westCluster as SimulatedCluster).faults.latency(2_000, ({ resource }) => resource === 'endpointslices');
      (clusters.eastCluster as SimulatedCluster).faults.latency(500, (request) => {
        return request.verb === 'list' && request.resource === 'services';
      });
    }
    second = clusters.operator();
    await exportReady(clusters, 'barrier');
    await eventually('the operator is at rest', () => second.settled(), 60_000);
    const writes = (await clusters.writes()).filter((write) => !/ links\/status |\/barrier-west /.test(write));
    expect(writes).toEqual([]);
    expect(await inventory(clusters)).toMatchObject(before);
  }, 180_000);

  test('writes nothing but Leases, and changes no uid and no ClusterIP (C5, D5, L7)', async () => {
    if (backing === 'simulated') {
      for (const cluster of [clusters.eastCluster, clusters.westCluster]) (cluster as SimulatedCluster).faults.clear();
    }
    await eventually(
      'the status is written',
      async () => (await clusters.mirrorCondition('barrier'))?.status === 'True',
    );
    await second.stop();
    const before = await inventory(clusters);
    await clusters.eastCluster.clearAudit();

    await atRest(clusters, clusters.operator(), PLAIN.length + SETS.length);
    expect(await clusters.writes()).toEqual([]);
    expect(await inventory(clusters)).toEqual(before);
  });

  test('follows the target as before (H1)', async () => {
    await exportReady(clusters, 'last');
  });
});

describe('mirrors written by the controller of Linkerd', () => {
  onEachBacking('an operator that takes them over', (backing) => {
    let clusters: TwoClusters;
    beforeAll(async () => {
      clusters = await TwoClusters.start({ backing });
      await fill(clusters.west);
      await writeAsLinkerd(clusters);
      await clusters.link();
    }, 2 * DEADLINE_MS);
    afterAll(() => clusters.stop());

    test('writes none of them, and changes no uid and no ClusterIP (A8)', { timeout: 2 * DEADLINE_MS }, async () => {
      const before = await identities(clusters);
      expect(Object.keys(before)).toHaveLength(2 * SERVICES_IN_SOURCE);
      await clusters.eastCluster.clearAudit();

      await atRest(clusters, clusters.operator(), CLUSTER_IP + HEADLESS);
      await clusters.ready();

      const writes = await clusters.writes();
      expect(writes.filter((write) => !write.includes(` links/status ${LINKS_NAMESPACE}/west `))).toEqual([]);
      expect(await identities(clusters)).toEqual(before);
    });
  });
});

/** All as Linkerd's controller leaves them: created and updated, not applied, by field manager `controller`. */
const writeAsLinkerd = async ({ east, west }: TwoClusters): Promise<void> => {
  const by = { fieldManager: 'controller' };
  const services = await west.list({ apiVersion: 'v1', kind: 'Service', namespace: 'shop' });
  const versions = new Map(services.map(({ metadata: { name, resourceVersion } }) => [name, resourceVersion]));
  const labels = {
    'mirror.linkerd.io/mirrored-service': 'true',
    'mirror.linkerd.io/cluster-name': 'west',
    ...COPIED,
  };
  const mirror = async (name: string, of: string, more: { labels?: object; spec?: object } = {}): Promise<Mirror> =>
    east.create<Mirror>(
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: `${name}-west`,
          namespace: 'shop',
          labels: { ...labels, ...more.labels },
          annotations: {
            'mirror.linkerd.io/remote-svc-fq-name': `${name === of ? of : `${name}.${of}`}.shop.svc.cluster.local`,
            'mirror.linkerd.io/remote-resource-version': versions.get(of),
          },
        },
        spec: { ports: [PORT], ...more.spec },
      } as ObjectRef,
      by,
    );
  const endpoints = async (name: string, of: string, subsets: readonly object[], more: object = {}): Promise<void> => {
    const object = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: {
        name: `${name}-west`,
        namespace: 'shop',
        labels: { ...labels, ...more },
        annotations: {
          'mirror.linkerd.io/remote-svc-fq-name': `${name === of ? of : `${name}.${of}`}.shop.svc.cluster.local`,
          'mirror.linkerd.io/remote-gateway-identity': IDENTITY,
        },
      },
    };
    const created = await east.create(object, by);
    await east.replace({ ...created, subsets } as ObjectRef, by);
  };
  await writeProbe(east);
  const gateway = [{ addresses: [{ ip: GATEWAY }], ports: [{ name: 'http', port: 4143, protocol: 'TCP' }] }];
  await concurrently(clusterIPNames, AT_ONCE, async (name) => {
    await mirror(name, name);
    await endpoints(name, name, gateway);
  });
  await concurrently(headlessNames, AT_ONCE, async (name) => {
    await mirror(name, name, { spec: { clusterIP: 'None' } });
    const belongs = { 'mirror.linkerd.io/headless-mirror-svc-name': `${name}-west` };
    const addresses: object[] = [];
    for (const pod of podsOf(name)) {
      const { spec } = await mirror(pod, name, { labels: belongs });
      await endpoints(pod, name, gateway, belongs);
      addresses.push({ hostname: pod, ip: spec.clusterIP });
    }
    await endpoints(name, name, [{ addresses, ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }]);
  });
};

/** The probe Service, which the chart of the controller makes. */
const writeProbe = async (east: Api): Promise<void> => {
  const by = { fieldManager: 'controller' };
  const cluster = { 'mirror.linkerd.io/cluster-name': 'west' };
  const named = { name: 'probe-west', namespace: LINKS_NAMESPACE };
  await east.create(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        ...named,
        labels: { ...cluster, 'mirror.linkerd.io/mirrored-gateway': 'true', 'linkerd.io/extension': 'multicluster' },
      },
      spec: { ports: [{ name: 'mc-probe', port: 4191, protocol: 'TCP' }] },
    } as ObjectRef,
    by,
  );
  await east.create(
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: {
        ...named,
        labels: cluster,
        annotations: { 'mirror.linkerd.io/remote-gateway-identity': IDENTITY },
      },
      subsets: [{ addresses: [{ ip: GATEWAY }], ports: [{ name: 'mc-probe', port: 4191, protocol: 'TCP' }] }],
    } as ObjectRef,
    by,
  );
};

/**
 * What is right stays untouched: an operator that starts over 300 mirrors, its own or those of Linkerd's controller,
 * writes nothing. The API server's audit log is the witness; clients of a mirror keep the ClusterIP they know.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { type Api, eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, LINKS_NAMESPACE, service, slice, statefulSlice } from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import type { TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const CLUSTER_IP = 200;
const HEADLESS = 100;
/** Mirrors of both kinds, and two endpoint mirrors for each headless one. */
const SERVICES_IN_SOURCE = CLUSTER_IP + HEADLESS * 3;
const AT_ONCE = 16;
/** The clusters and the operator share a process here: a Lease must outlive its being busy. */
const UNHURRIED = { flags: { leaseDuration: '30s', renewDeadline: '20s' } };
const DEADLINE_MS = 60_000;

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

/** Puts the 300 running Services into the target. */
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

/** Waits until the operator has looked at everything, has a verdict on the gateway, and had time to say so. */
const atRest = async (clusters: TwoClusters, operator: TestOperator): Promise<void> => {
  const probesBefore = clusters.gateway.probes;
  await eventually(
    'the operator has looked at everything and probed the gateway a few times',
    async () =>
      (await operator.metric('controller_runtime_reconcile_total')) >= CLUSTER_IP + HEADLESS &&
      clusters.gateway.probes >= probesBefore + 10 &&
      (await operator.settled()),
    DEADLINE_MS,
  );
};

onEachBacking('an operator that starts over 300 mirrors of its own', (backing) => {
  let clusters: TwoClusters;
  let first: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await fill(clusters.west);
    await clusters.link();
    first = clusters.operator(UNHURRIED);
    await eventually(
      'every mirror is there',
      async () => (await mirrors(clusters)).length === SERVICES_IN_SOURCE,
      DEADLINE_MS,
    );
    await atRest(clusters, first);
    await clusters.ready();
  }, 2 * DEADLINE_MS);
  afterAll(() => clusters.stop());

  test(
    'writes nothing but Leases, and changes no uid and no ClusterIP (C5, D5, L7)',
    { timeout: 2 * DEADLINE_MS },
    async () => {
      await first.stop();
      const before = await identities(clusters);
      expect(Object.keys(before)).toHaveLength(2 * SERVICES_IN_SOURCE);
      await clusters.eastCluster.clearAudit();

      await atRest(clusters, clusters.operator(UNHURRIED));

      expect(await clusters.writes()).toEqual([]);
      expect(await identities(clusters)).toEqual(before);
    },
  );

  test('follows the target as before (H1)', { timeout: 2 * DEADLINE_MS }, async () => {
    await clusters.west.apply(service('last', { labels: EXPORTED }));
    await clusters.west.apply(slice('last'));
    await eventually(
      'the Service exported after the restart is mirrored',
      async () => (await clusters.addresses('last-west'))?.[0] === GATEWAY,
    );
  });
});

describe('mirrors written by the controller of Linkerd', () => {
  onEachBacking('an operator that takes over 300 of them', (backing) => {
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

      await atRest(clusters, clusters.operator(UNHURRIED));
      await clusters.ready();

      const writes = await clusters.writes();
      expect(writes.filter((write) => !write.includes(` links/status ${LINKS_NAMESPACE}/west `))).toEqual([]);
      expect(await identities(clusters)).toEqual(before);
    });
  });
});

/** All 300 as Linkerd's controller leaves them: created and updated, not applied, by field manager `controller`. */
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

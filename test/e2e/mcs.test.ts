/**
 * ServiceExports and ServiceImports over two clusters that are linked to each other, each with an operator: rules K1 to K5
 * of behaviour.md. What the MCS API itself requires is in mcs-conformance.test.ts.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tuning } from '../../operator/config/tuning.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { GATEWAY, link, namespace, service, type ServiceOptions } from '../support/builders.ts';
import { FullMesh } from '../support/full-mesh.ts';
import type { ServiceObject } from '../support/objects.ts';
import { installMcs, type McsSlice, McsView, podSlices, serviceExport, serviceImportRef } from '../support/mcs.ts';

/** As the operators here are probed: the gateway of west alone. */
const PROBED = { path: '/ready', port: '4191', period: '100ms', timeout: '1s', failureThreshold: '1' };
const EAST_GATEWAY = '203.0.113.20';
const LOCAL_POD = 'local 10.244.0.1';
const WEST = `west ${GATEWAY}`;

onEachBacking('ServiceExports and ServiceImports', (backing) => {
  let mesh: FullMesh;
  let east: McsView;
  let west: McsView;
  beforeAll(async () => {
    mesh = await FullMesh.start(backing, 'east', 'west');
    for (const { cluster } of mesh.peers) await installMcs(cluster);
    east = new McsView(mesh.peer('east').api);
    west = new McsView(mesh.peer('west').api);
    await linkEast();
    await mesh.link('west', 'east', { federation: 'gateway', gatewayAddress: EAST_GATEWAY });
    mesh.operate();
    for (const { name } of mesh.peers) await mesh.ready(name);
  });
  afterAll(() => mesh.stop());

  const linkEast = (spec: object = {}): Promise<void> =>
    mesh.link('east', 'west', { federation: 'gateway', probeSpec: PROBED, ...spec });

  /** Makes a Service with a pod, and exports it. */
  const exported = async (from: McsView, name: string, options: ServiceOptions = {}): Promise<void> => {
    await from.api.apply(service(name, options));
    for (const slice of podSlices(name, [{ ip: '10.244.0.1' }], options)) await from.api.apply(slice);
    await from.api.apply(serviceExport(name, options.namespace));
  };
  /** Exports it from both, and returns when both have imported that. */
  const exportedByBoth = async (name: string): Promise<void> => {
    for (const from of [east, west]) await exported(from, name);
    await east.untilAddresses(name, LOCAL_POD, WEST);
    await west.untilAddresses(name, `east ${EAST_GATEWAY}`, LOCAL_POD);
    await east.untilClusters(name, 'local,west');
    await west.untilClusters(name, 'east,local');
  };
  /** The Services that stand for pods of west, by hostname, as far as DNS answers with their addresses. */
  const podsOf = async (name: string): Promise<Readonly<Record<string, PodService>>> => {
    const labelSelector = `linkspan.dev/service-import=${name}`;
    const [services, slices] = await Promise.all([
      east.api.list<ServiceObject>({ apiVersion: 'v1', kind: 'Service', namespace: 'shop', labelSelector }),
      east.api.list<McsSlice>({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        namespace: 'shop',
        labelSelector,
      }),
    ]);
    const listed = (await east.slices(name)).flatMap(({ endpoints }) => endpoints ?? []);
    return Object.fromEntries(
      listed.flatMap(({ hostname = '', addresses }) => {
        const found = services.find(({ spec }) => spec.clusterIP === addresses[0]);
        if (found === undefined) return [];
        const own = slices.filter(
          ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === found.metadata.name,
        );
        const endpoints = own.flatMap((each) => each.endpoints ?? []);
        const pod: PodService = {
          uid: found.metadata.uid,
          labels: Object.keys(found.metadata.labels ?? {}),
          authority: own[0]?.metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name'],
          leadsTo: endpoints.flatMap((each) => (each.conditions?.ready === false ? [] : each.addresses)),
        };
        return [[hostname, pod]];
      }),
    );
  };
  const untilPods = (name: string, ...hostnames: readonly string[]) =>
    eventually(`DNS knows ${hostnames.join() || 'no pod'} of ${name}`, async () => {
      const found = await podsOf(name);
      return Object.keys(found).sort().join() === hostnames.join() && found;
    });
  /** What must live as long as an import. */
  const identity = async (at: McsView, name: string) => {
    const [found, derived] = await Promise.all([at.serviceImport(name), at.derived(name)]);
    return {
      import: found?.metadata.uid,
      ips: found?.spec.ips,
      derived: derived?.metadata.uid,
      clusterIP: derived?.spec.clusterIP,
    };
  };
  const derivedIdentity = async (at: McsView, name: string) => {
    const { derived, clusterIP } = await identity(at, name);
    return { derived, clusterIP };
  };
  const restart = async (at: string, tuning: Tuning): Promise<void> => {
    await mesh.stopOperator(at);
    await mesh.peer(at).cluster.clearAudit();
    mesh.operate([at], { tuning });
  };
  const atRest = async (at: string): Promise<void> => {
    await mesh.ready(at);
    await eventually('it is at rest', () => mesh.operator(at).settled());
  };
  /** A sign that the operator has looked: whatever was changed before, it has seen. */
  const lookedAt = async (at: McsView, name: string): Promise<void> => {
    await exported(at, name);
    await eventually(`${name} is imported`, async () => (await at.clusters(name)) === 'local');
    await at.api.delete(serviceExport(name));
    await at.untilGone(name);
  };

  test('K1 K2 the oldest export decides in each cluster, and its exporters are told whom it was compared with', async () => {
    await exported(west, 'aged', { spec: { sessionAffinity: 'ClientIP' } });
    const first = Date.parse((await west.api.get(serviceExport('aged')))!.metadata.creationTimestamp);
    await eventually('a second has passed', async () => Date.now() - first > 1_100);
    await exported(east, 'aged');
    for (const at of [east, west])
      await at.untilImport('has the affinity of the oldest', 'aged', ({ spec }) => spec.sessionAffinity === 'ClientIP');
    const told = await east.untilCondition('Conflict', 'SessionAffinityConflict', 'aged');
    expect(told.status).toBe('True');
    expect(told.message).toContain('of the oldest export, in west; local disagrees');
    expect(told.message).toContain('compared: local, west');
    const toldWest = await west.untilCondition('Conflict', 'SessionAffinityConflict', 'aged');
    expect(toldWest.message).toContain('of the oldest export, in local; east disagrees');
    await east.api.apply(service('aged', { spec: { sessionAffinity: 'ClientIP' } }));
    for (const at of [east, west]) await at.untilCondition('Conflict', 'NoConflicts', 'aged');
  });

  test('K1 with a Link in one direction the exporting cluster sees itself alone', async () => {
    await mesh.peer('west').api.delete(link('east'));
    await exported(east, 'one-way', { spec: { sessionAffinity: 'ClientIP' } });
    await exported(west, 'one-way');
    await west.untilClusters('one-way', 'local');
    await eventually('west has compared it with none', async () => {
      const found = await west.exportCondition('Conflict', 'one-way');
      return found?.reason === 'NoConflicts' && found.message === 'compared: local';
    });
    await east.untilClusters('one-way', 'local,west');
    const told = await east.untilCondition('Conflict', 'SessionAffinityConflict', 'one-way');
    expect(told.message).toContain('compared: local, west');
    await mesh.link('west', 'east', { federation: 'gateway', gatewayAddress: EAST_GATEWAY });
    await west.untilClusters('one-way', 'east,local');
    await west.untilCondition('Conflict', 'SessionAffinityConflict', 'one-way');
  });

  test('K1 a Link takes no exports if it says so', async () => {
    await exportedByBoth('untaken');
    const before = await identity(east, 'untaken');
    await linkEast({ serviceExports: false });
    await east.untilAddresses('untaken', LOCAL_POD);
    await east.untilClusters('untaken', 'local');
    await west.untilClusters('untaken', 'east,local');
    await linkEast();
    await east.untilAddresses('untaken', LOCAL_POD, WEST);
    expect(await identity(east, 'untaken')).toEqual(before);
  });

  test('K2 an import waits for its namespace', async () => {
    await west.api.apply(namespace('bank'));
    await exported(west, 'waiting', { namespace: 'bank' });
    await west.untilImport('is there', 'waiting', () => true, 'bank');
    await lookedAt(east, 'meanwhile');
    expect(await east.serviceImport('waiting', 'bank')).toBeUndefined();
    await east.api.apply(namespace('bank'));
    await east.untilImport('is there', 'waiting', () => true, 'bank');
  });

  test('K2 K3 an export that ends takes its slices, and the last the import; its ClusterSetIP lives till then', async () => {
    await exportedByBoth('leaving');
    const before = await identity(east, 'leaving');
    await west.api.delete(serviceExport('leaving'));
    await east.untilAddresses('leaving', LOCAL_POD);
    await east.untilClusters('leaving', 'local');
    await west.api.apply(serviceExport('leaving'));
    await east.untilAddresses('leaving', LOCAL_POD, WEST);
    await east.api.delete(serviceExport('leaving'));
    await east.untilAddresses('leaving', WEST);
    expect(await identity(east, 'leaving')).toEqual(before);
    // An export without a Service is none.
    await west.api.delete(service('leaving'));
    for (const at of [east, west]) await at.untilGone('leaving');
    await west.untilCondition('Valid', 'NoService', 'leaving');
  });

  test('K3 a derived Service that somebody deletes comes back with its address', async () => {
    await exportedByBoth('restored');
    const { ips, import: uid } = await identity(east, 'restored');
    const { derived } = await identity(east, 'restored');
    await east.api.delete(service('restored-clusterset'));
    await eventually('it is back', async () => {
      const now = await identity(east, 'restored');
      return now.derived !== undefined && now.derived !== derived && now.clusterIP === ips?.[0];
    });
    expect(await identity(east, 'restored')).toMatchObject({ import: uid, ips });
  });

  test('F1 C1 a gateway that dies takes the slices of its cluster out of use, until it is back', async () => {
    await exportedByBoth('routed');
    const before = await identity(east, 'routed');
    await mesh.gateway.die();
    await east.untilAddresses('routed', LOCAL_POD);
    await east.untilClusters('routed', 'local,west');
    await mesh.gateway.revive();
    await east.untilAddresses('routed', LOCAL_POD, WEST);
    // Nor is there anything to send to without ready pods.
    for (const slice of podSlices('routed', [{ ip: '10.244.0.1', ready: false }])) await west.api.apply(slice);
    await east.untilAddresses('routed', LOCAL_POD);
    expect(await identity(east, 'routed')).toEqual(before);
    await mesh.ready('east');
  });

  test('K3 D3 each pod of a headless Service has a Service of its own, through the gateway', async () => {
    await west.api.apply(service('paired', { headless: true }));
    const pods = [
      { ip: '10.244.0.1', hostname: 'paired-0' },
      { ip: '10.244.0.2', hostname: 'paired-1' },
    ];
    const run = async (of: typeof pods): Promise<void> => {
      for (const slice of podSlices('paired', of)) await west.api.apply(slice);
    };
    await run(pods);
    await west.api.apply(serviceExport('paired'));
    await untilPods('paired', 'paired-0', 'paired-1');
    const leads = async (to: string): Promise<boolean> =>
      Object.values(await podsOf('paired')).every(({ leadsTo }) => leadsTo.join() === to);
    await eventually('they lead to the gateway', () => leads(GATEWAY));
    const before = await podsOf('paired');
    for (const [hostname, pod] of Object.entries(before))
      expect(pod).toMatchObject({
        leadsTo: [GATEWAY],
        authority: `${hostname}.paired.shop.svc.cluster.local`,
        labels: expect.not.arrayContaining(['mirror.linkerd.io/mirrored-service']) as unknown,
      });
    await mesh.gateway.die();
    await eventually('no Service of a pod leads to the dead gateway', () => leads(''));
    await mesh.gateway.revive();
    await eventually('they lead to it again', () => leads(GATEWAY));
    await run(pods.slice(0, 1));
    const after = await untilPods('paired', 'paired-0');
    expect(after['paired-0']?.uid).toBe(before['paired-0']?.uid);
    await west.api.delete(serviceExport('paired'));
    await untilPods('paired');
    await east.untilGone('paired');
  });

  test('K3 I5 an import keeps its address when its clusters are reached in another way', async () => {
    await exportedByBoth('turning');
    const before = await identity(east, 'turning');
    await linkEast({ federation: 'flat' });
    await eventually('Linkerd is given the clusters', async () => {
      return (await east.routes('turning', 80))?.join() === '(local),turning@west';
    });
    expect(await identity(east, 'turning')).toEqual(before);
    await linkEast();
    await eventually('Linkerd is given addresses', async () => {
      return (await east.routes('turning', 80))?.join() === [LOCAL_POD, WEST].join();
    });
    expect(await identity(east, 'turning')).toEqual(before);
  });

  test('K2 A6 a ServiceImport and a Service of others are left alone', async () => {
    const foreign = { ...serviceImportRef('taken'), spec: { type: 'Headless', ports: [] } };
    await east.api.apply(foreign);
    await east.api.apply(service('held-clusterset'));
    await exported(west, 'taken');
    await exported(west, 'held');
    const own = await derivedIdentity(east, 'held');
    const pending = await east.untilImport('waits', 'held', ({ status }) =>
      (status?.conditions ?? []).some(
        ({ type, status: is, reason }) => type === 'Ready' && is === 'False' && reason === 'Pending',
      ),
    );
    expect(pending.spec.ips).toBeUndefined();
    expect(pending.status?.conditions?.[0]?.message).toContain('shop/held-clusterset');
    expect(await derivedIdentity(east, 'held')).toEqual(own);
    expect(await east.slices('held')).toEqual([]);
    await lookedAt(east, 'meanwhile');
    const left = await east.serviceImport('taken');
    expect(left).toMatchObject({ spec: foreign.spec });
    expect(left?.status).toBeUndefined();
    expect([await east.derived('taken'), await east.slices('taken')]).toEqual([undefined, []]);

    await east.api.delete(serviceImportRef('taken'));
    await east.api.delete(service('held-clusterset'));
    for (const name of ['taken', 'held']) await east.untilAddresses(name, WEST);
    for (const name of ['taken', 'held']) await east.untilClusters(name, 'west');
  });

  test('K1 nothing that users have is changed, but for the status of ServiceExports', async () => {
    await exportedByBoth('untouched');
    const before = [await owned(east), await owned(west)];
    expect(Object.keys(before[0]!)).toContain('ServiceExport shop/untouched');
    await west.api.apply(service('untouched', { spec: { sessionAffinity: 'ClientIP' } }));
    await west.untilCondition('Conflict', 'SessionAffinityConflict', 'untouched');
    await west.api.apply(service('untouched'));
    for (const at of [east, west]) await at.untilCondition('Conflict', 'NoConflicts', 'untouched');
    expect([await owned(east), await owned(west)].map(withoutVersionOf('Service shop/untouched'))).toEqual(
      before.map(withoutVersionOf('Service shop/untouched')),
    );
    const [east1, west1] = [await east.api.get(service('untouched')), await west.api.get(service('untouched'))];
    for (const object of [east1, west1])
      expect((object?.metadata.managedFields ?? []).map(({ manager }) => manager)).not.toContain('linkspan');
  });

  test('C5 a restart writes nothing', async () => {
    // A busy machine delays probes, and lists.
    await linkEast({ probeSpec: undefined });
    await exportedByBoth('resting');
    for (const at of ['east', 'west']) {
      await atRest(at);
      await restart(at, { importSettleMs: 60_000 });
      await atRest(at);
      expect(await writesIn(mesh, at)).toEqual([]);
    }
    await linkEast();
  });

  test('H9 K5 the exports of a suspended Link stay, whatever becomes of them', async () => {
    await exportedByBoth('suspended');
    const suspend = (value: string | null) =>
      mesh.peer('east').api.patch(link('west'), { metadata: { annotations: { 'linkspan.dev/suspended': value } } });
    await suspend('true');
    await eventually('it is suspended', async () => {
      return (await mesh.condition('east', 'west', 'Ready'))?.reason === 'Suspended';
    });
    for (const at of [east, west]) await at.api.delete(serviceExport('suspended'));
    await east.untilAddresses('suspended', WEST);
    await lookedAt(east, 'meanwhile');
    await east.untilAddresses('suspended', WEST);
    await suspend(null);
    await east.untilGone('suspended');
  });

  test('K5 E5 a Link that is deleted takes its part of imports with it, also while no operator runs', async () => {
    await exportedByBoth('linked');
    const before = await identity(east, 'linked');
    await mesh.peer('east').api.delete(link('west'));
    await east.untilAddresses('linked', LOCAL_POD);
    await east.untilClusters('linked', 'local');
    await linkEast();
    await east.untilAddresses('linked', LOCAL_POD, WEST);
    await mesh.stopOperator('east');
    await mesh.peer('east').api.delete(link('west'));
    mesh.operate(['east']);
    await east.untilAddresses('linked', LOCAL_POD);
    expect(await identity(east, 'linked')).toEqual(before);
    await linkEast();
    await east.untilAddresses('linked', LOCAL_POD, WEST);
    await mesh.ready('east');
  });

  /** What is not an operator's in the namespace, but for status: by name, without what a status changes. */
  const owned = async ({ api }: McsView): Promise<Readonly<Record<string, unknown>>> => {
    const kinds = [
      ['v1', 'Service'],
      ['v1', 'Endpoints'],
      ['v1', 'Secret'],
      ['v1', 'ConfigMap'],
      ['discovery.k8s.io/v1', 'EndpointSlice'],
      ['multicluster.x-k8s.io/v1beta1', 'ServiceExport'],
    ] as const;
    const lists = await Promise.all(
      kinds.map(([apiVersion, kind]) =>
        api.list<KubeObject & { readonly status?: unknown }>({ apiVersion, kind, namespace: 'shop' }),
      ),
    );
    return Object.fromEntries(
      lists
        .flat()
        .filter(({ metadata }) => metadata.labels?.['linkspan.dev/service-import'] === undefined)
        .map(({ status, ...object }) => {
          const { managedFields: _, resourceVersion, ...metadata } = object.metadata;
          const version = object.kind === 'ServiceExport' ? undefined : resourceVersion;
          return [`${object.kind} ${metadata.namespace}/${metadata.name}`, { ...object, metadata, version }];
        }),
    );
  };
});

/** A Service that stands for a pod. */
interface PodService {
  readonly uid: string;
  readonly labels: readonly string[];
  /** The name that requests to it have in the target. */
  readonly authority: string | undefined;
  /** Ready addresses behind it. */
  readonly leadsTo: readonly string[];
}

const withoutVersionOf =
  (name: string) =>
  (of: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({ ...of, [name]: undefined });

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Writes of an operator in its own cluster, but for Leases and Events. */
const writesIn = async (mesh: FullMesh, at: string): Promise<readonly string[]> =>
  (await mesh.peer(at).cluster.audit())
    .filter(({ verb, userAgent }) => WRITES.has(verb) && userAgent.startsWith('linkspan-operator'))
    .filter(({ resource }) => resource !== 'leases' && resource !== 'events')
    .map(({ verb, resource, subresource = '', name = '' }) => `${verb} ${resource} ${subresource} ${name}`);

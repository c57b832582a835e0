import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { KubeClient } from '../../../operator/kube/client.ts';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import type { Logger } from '../../../operator/runtime/logger.ts';
import { PROBE_KEY } from '../../../operator/source/owner.ts';
import { SourceCluster } from '../../../operator/source/source.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import { namespace, service, slice } from '../../support/builders.ts';

const MIRROR = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const PROBE = { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const LINKS = 'linkerd-multicluster';

const west = (key: string) => ({ cluster: 'west', key });

const recorder = (lines: string[]): Logger => {
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    lines.push(`${level} ${String(fields['namespace'] ?? fields['resource'])}: ${message}`);
  };
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return log;
};

describe('the source cluster', () => {
  let cluster: SimulatedCluster;
  let client: KubeClient;
  let source: SourceCluster;
  const stop = new AbortController();
  const put = (object: ObjectRef & { readonly metadata: { readonly labels?: object } }) =>
    cluster.store.upsert({ ...object });
  const changes: string[] = [];
  /** Names that were taken or given up, each with the owner who knows that already. */
  const names: string[] = [];
  const namespaces: string[] = [];
  let running: Promise<void>;

  beforeAll(async () => {
    cluster = await startSimulated({ name: 'east' });
    for (const name of ['shop', LINKS]) put(namespace(name));
    put(service('web-west', { labels: MIRROR, selector: null }));
    client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }), {
      userAgent: 'test',
      fieldManager: 'test',
    });
    source = new SourceCluster({
      client,
      namespace: LINKS,
      log: recorder([]),
    });
    for (const name of ['west', 'north']) {
      source.subscribe(name, (key, by) => changes.push(`${name} ${key} ${by}`));
    }
    source.subscribeNames((namespace, name, by) =>
      names.push(`${namespace}/${name}${by === undefined ? '' : ` by ${by.cluster} ${by.key}`}`),
    );
    source.namespaces.subscribe((name, state) => namespaces.push(`${name} ${state}`));
    running = source.run(stop.signal);
    await source.whenSynced(stop.signal);
    expect(source.synced).toBe(true);
  });
  afterAll(async () => {
    stop.abort();
    await running;
    await client.close();
    await cluster.stop();
  });

  it('reports that the mirror of a cluster gave up its name (A7)', async () => {
    put(service('lost-north', { labels: MIRROR, selector: null }));
    await eventually('the mirror is known', () =>
      Promise.resolve(source.services.get('shop/lost-north') !== undefined),
    );
    names.splice(0);
    cluster.store.delete('v1', 'Service', 'shop', 'lost-north');
    await eventually('it is reported', async () => names.includes('shop/lost-north by west shop/~lost-north'));
  });

  it('tells those who wait for a name that an operator gave it up for another of its own (A7)', async () => {
    const wanted: string[] = [];
    const ends = [
      source.subscribeFederations((key) => wanted.push(`federations ${key}`)),
      source.subscribeImports((key) => wanted.push(`imports ${key}`)),
    ];
    const ofCluster = (cluster: string) => ({ ...MIRROR, 'mirror.linkerd.io/cluster-name': cluster });
    put(service('late-north-west', { labels: MIRROR, selector: null }));
    put(service('late-north', { labels: MIRROR, selector: null }));
    put(service('late-federated', { labels: ofCluster('federated'), selector: null }));
    put(service('late-clusterset', { labels: ofCluster('clusterset'), selector: null }));
    const found = (name: string) => source.services.get(`shop/${name}`);
    const late = ['late-north-west', 'late-north', 'late-federated', 'late-clusterset'];
    await eventually('all are known', async () => late.every(found));
    for (const reports of [changes, names, wanted]) reports.splice(0);
    for (const name of late) source.written['services']!.deleted(found(name)!);
    expect(changes).toEqual([]);
    expect(names).toEqual([
      'shop/late-north-west by west shop/late-north',
      'shop/late-north by west shop/~late-north',
      'shop/late-federated by federated shop/late',
      'shop/late-clusterset by clusterset shop/late',
    ]);
    expect(wanted).toEqual(['federations shop/late', 'imports shop/late']);
    for (const name of late) cluster.store.delete('v1', 'Service', 'shop', name);
    for (const end of ends) end();
  });

  it('knows what is whose', () => {
    expect(source.ownedBy(west('shop/web')).services.map(({ metadata }) => metadata.name)).toEqual(['web-west']);
    expect(source.ownedBy(west('shop/other'))).toEqual({ services: [], endpoints: [], slices: [] });
    expect([...source.keysOf('west')]).toEqual(['shop/web']);
    expect([...source.keysOf('north')]).toEqual([]);
    expect([...source.clusters()]).toEqual(['west']);
  });

  it('knows a slice of ours whatever somebody says of who maintains it, but not those of Kubernetes (C3)', async () => {
    const put = (name: string, by: string) => {
      const labels = { ...MIRROR, 'kubernetes.io/service-name': 'web-west', [MANAGED_BY]: by };
      return cluster.store.upsert({ ...slice(name), metadata: { name, namespace: 'shop', labels } });
    };
    const shown = () => source.ownedBy(west('shop/web')).slices.map(({ metadata }) => metadata.name);
    for (const by of ['linkspan.dev', 'somebody', '']) {
      put('web-west-ipv4', by);
      put('web-west-abc', 'endpointslicemirroring-controller.k8s.io');
      put('web-west-ipv6', by);
      await eventually('both are shown', async () => shown().join() === 'web-west-ipv4,web-west-ipv6');
      cluster.store.delete('discovery.k8s.io/v1', 'EndpointSlice', 'shop', 'web-west-ipv6');
      await eventually('one is shown', async () => shown().join() === 'web-west-ipv4');
    }
    for (const name of ['web-west-ipv4', 'web-west-abc'])
      cluster.store.delete('discovery.k8s.io/v1', 'EndpointSlice', 'shop', name);
    await eventually('none is shown', async () => shown().length === 0);
  });

  it('knows what is derived from a ServiceImport, from which clusters, and who has a name that it needs (K3, A6)', async () => {
    const found: string[] = [];
    const end = source.subscribeImports((key) => found.push(key));
    const labels = { 'linkspan.dev/service-import': 'set' };
    const entries = { 'multicluster.linkerd.io/remote-discovery': 'set@flat,set@west,other@north' };
    put(service('set-clusterset', { labels, annotations: entries, selector: null }));
    put({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'set-clusterset.from-south-ipv4',
        namespace: 'shop',
        labels: {
          ...labels,
          'linkspan.dev/imported-from': 'south',
          'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
        },
      },
      addressType: 'IPv4',
      endpoints: [],
      ports: [],
    } as ObjectRef);
    await eventually('both are known', async () => {
      const { services, slices } = source.import('shop/set');
      return services.length === 1 && slices.length === 1;
    });
    expect([...source.imports()]).toEqual(['shop/set']);
    const from = ['flat', 'west', 'south', 'north'].map((cluster) => [...source.importsFrom(cluster)].join());
    expect(from).toEqual(['shop/set', 'shop/set', 'shop/set', '']);
    const [derived] = source.import('shop/set').services;
    expect(derived?.spec?.clusterIPs).toEqual([derived?.spec?.clusterIP]);
    expect(found).toEqual(['shop/set', 'shop/set']);
    put(service('taken-clusterset'));
    await eventually('the other is known', async () => source.services.get('shop/taken-clusterset') !== undefined);
    cluster.store.delete('v1', 'Service', 'shop', 'set-clusterset');
    await eventually('it is gone', async () => source.import('shop/set').services.length === 0);
    expect(found.slice(2)).toEqual(['shop/taken', 'shop/set']);
    end();
    cluster.store.delete('v1', 'Service', 'shop', 'taken-clusterset');
    cluster.store.delete('discovery.k8s.io/v1', 'EndpointSlice', 'shop', 'set-clusterset.from-south-ipv4');
    await eventually('all is gone', async () => source.imports().size === 0);
    expect(found).toHaveLength(4);
  });

  it('has one listener for each target cluster', () => {
    expect(() => source.subscribe('west', () => undefined)).toThrow('already have a listener');
    const end = source.subscribe('south', () => undefined);
    end();
    expect(() => source.subscribe('south', () => undefined)()).not.toThrow();
  });

  it('knows the names that Services of others have, and reports when they take them and give them up', async () => {
    names.length = 0;
    put(service('db-west'));
    await eventually('it is known', async () => source.isTaken('shop', 'db-west', 'west'));
    expect(names).toEqual(['shop/db-west']);
    expect(source.isTaken('shop', 'web-west', 'west')).toBe(false);
    expect(source.isTaken('shop', 'elsewhere', 'west')).toBe(false);
    expect(source.services.get('shop/db-west')).toEqual({
      metadata: {
        name: 'db-west',
        namespace: 'shop',
        uid: expect.any(String) as string,
        resourceVersion: expect.any(String) as string,
      },
      spec: { type: 'ClusterIP', ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
    });
    // What changes nothing about the name is reported to nobody.
    put(service('db-west', { annotations: { a: 'b' } }));
    put(service('db'));
    cluster.store.delete('v1', 'Service', 'shop', 'db-west');
    await eventually('it is gone', async () => !source.isTaken('shop', 'db-west', 'west'));
    expect(names).toEqual(['shop/db-west', 'shop/db', 'shop/db-west']);
  });

  it('reports once a mirror that loses its labels, and one that gets them', async () => {
    changes.length = 0;
    put(service('web-west', { selector: null }));
    await eventually('it is not ours', async () => source.isTaken('shop', 'web-west', 'west'));
    expect(changes).toEqual(['west shop/web service']);
    expect([...source.keysOf('west')]).toEqual([]);
    put(service('web-west', { labels: MIRROR, selector: null }));
    await eventually('it is ours', async () => !source.isTaken('shop', 'web-west', 'west'));
    expect(changes).toEqual(['west shop/web service', 'west shop/web service']);
    expect([...source.keysOf('west')]).toEqual(['shop/web']);
  });

  it('reports to both owners when an object changes hands', async () => {
    changes.length = 0;
    put(service('web-west', { labels: { ...MIRROR, 'mirror.linkerd.io/cluster-name': 'north' }, selector: null }));
    await eventually('both have a report', async () => changes.length === 2);
    expect(changes).toEqual(['west shop/web service', 'north shop/~web-west service']);
    expect([...source.keysOf('west')]).toEqual([]);
  });

  it('sees slices of our own making only, not those that Kubernetes copies from Endpoints', async () => {
    changes.length = 0;
    const copied = { 'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io' };
    const made = { 'endpointslice.kubernetes.io/managed-by': 'linkspan.dev' };
    for (const [name, labels] of [
      ['copied', copied],
      ['made', made],
    ] as const) {
      const manifest = slice('db-west', { name });
      put({
        ...manifest,
        metadata: { ...manifest.metadata, labels: { ...MIRROR, ...labels, 'kubernetes.io/service-name': 'db-west' } },
      });
    }
    await eventually('one is reported', async () => changes.length > 0);
    expect(source.ownedBy(west('shop/db')).slices.map(({ metadata }) => metadata.name)).toEqual(['made']);
  });

  it('reports namespaces that come and go, and nothing else about them', async () => {
    expect(source.namespaces.stateOf('new')).toBe('missing');
    namespaces.length = 0;
    put(namespace('new'));
    await eventually('it is there', async () => source.namespaces.stateOf('new') === 'exists');
    put({ ...namespace('new'), metadata: { name: 'new', labels: { a: 'b' } } });
    cluster.store.delete('v1', 'Namespace', undefined, 'new');
    await eventually('it is gone', async () => source.namespaces.stateOf('new') === 'missing');
    expect(namespaces).toEqual(['new exists', 'new missing']);
  });
});

describe('the source cluster, limited to namespaces', () => {
  let cluster: SimulatedCluster;
  let client: KubeClient;
  let source: SourceCluster;
  let running: Promise<void>;
  const stop = new AbortController();
  const lines: string[] = [];
  const namespaces: string[] = [];
  const put = (object: ObjectRef) => cluster.store.upsert({ ...object });
  const refuse = (within: string) =>
    cluster.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ namespace: of }) => of === within,
    });
  let allow: () => void;

  beforeAll(async () => {
    cluster = await startSimulated({ name: 'east' });
    for (const name of ['shop', 'bank', 'elsewhere', LINKS]) put(namespace(name));
    for (const within of ['shop', 'bank', 'elsewhere']) {
      put(service('web-west', { labels: MIRROR, selector: null, namespace: within }));
    }
    put(service('probe-west', { labels: PROBE, selector: null, namespace: LINKS }));
    allow = refuse('bank');
    client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }), {
      userAgent: 'test',
      fieldManager: 'test',
    });
    source = new SourceCluster({
      client,
      namespace: LINKS,
      mirrorNamespaces: ['shop', 'bank'],
      timings: { settledMs: 500, backoff: { baseMs: 20, capMs: 100 } },
      log: recorder(lines),
    });
    source.namespaces.subscribe((name, state) => namespaces.push(`${name} ${state}`));
    running = source.run(stop.signal);
    await source.whenSynced(stop.signal);
  });
  afterAll(async () => {
    stop.abort();
    await running;
    await client.close();
    await cluster.stop();
  });

  it('knows what is in these and in its own, and asks for no other', async () => {
    expect([...source.keysOf('west')].sort()).toEqual([PROBE_KEY, 'shop/web']);
    expect(source.ownedBy(west(PROBE_KEY)).services).toHaveLength(1);
    const asked = (await cluster.audit()).filter(({ verb }) => verb === 'list').map((entry) => entry.namespace);
    expect(new Set(asked)).toEqual(new Set(['shop', 'bank', LINKS]));
  });

  it('does not wait for one that is refused, and knows it once it is not (A3)', async () => {
    expect([source.namespaces.stateOf('shop'), source.namespaces.stateOf('bank')]).toEqual(['exists', 'unreadable']);
    expect(source.namespaces.unreadable).toEqual(['bank']);
    expect(lines).toEqual([expect.stringContaining('error bank: namespace bank cannot be read')]);
    allow();
    await eventually('it can be read', async () => namespaces.at(-1) === 'bank exists');
    expect([source.namespaces.stateOf('bank'), source.namespaces.unreadable]).toEqual(['exists', []]);
    await eventually('it is logged', async () => lines.length === 2);
    expect(lines[1]).toBe('info bank: the namespace can be read');
    expect([...source.keysOf('west')].sort()).toEqual([PROBE_KEY, 'bank/web', 'shop/web']);
  });

  it('finds out that one may not be read any more when a refused write has it re-checked, and keeps what it knew', async () => {
    const release = refuse('shop');
    source.recheck('shop');
    await eventually('it is found out', async () => source.namespaces.stateOf('shop') === 'unreadable');
    expect(source.ownedBy(west('shop/web')).services).toHaveLength(1);
    expect(source.namespaces.stateOf('bank')).toBe('exists');
    release();
    await eventually('it can be read again', async () => source.namespaces.stateOf('shop') === 'exists');
  });

  it('logs once for each resource that the API server does not answer, and that it does again', async () => {
    await eventually('nothing is refused', async () => source.namespaces.unreadable.length === 0);
    lines.length = 0;
    await cluster.kill();
    const failing = () => lines.filter((line) => line.startsWith('error'));
    await eventually('all are logged', async () => failing().length === 3);
    expect(
      failing()
        .map((line) => line.split(':')[0])
        .sort(),
    ).toEqual(['error endpoints', 'error endpointslices', 'error services']);
    expect(source.namespaces.stateOf('shop')).toBe('exists');
    await cluster.start();
    await eventually('all are logged', async () => lines.filter((line) => line.startsWith('info')).length === 3);
    expect(failing()).toHaveLength(3);
  });

  it('opens the watches of one anew only once, however many writes are refused in a while', async () => {
    const watch = vi.spyOn(client, 'watch');
    source.recheck('bank');
    await eventually('they are open', async () => watch.mock.calls.length === 4);
    source.recheck('bank');
    put(service('late-west', { labels: MIRROR, selector: null, namespace: 'bank' }));
    await eventually('they have heard of a Service', async () => source.keysOf('west').has('bank/late'));
    expect(watch).toHaveBeenCalledTimes(4);
    watch.mockRestore();
  });
});

import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { KubeClient } from '../../../operator/kube/client.ts';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import type { EndpointSlice, KubeObject } from '../../../operator/kube/objects.ts';
import { ownerOf, PROBE_KEY, SourceCluster } from '../../../operator/source/source.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import { namespace, service, slice } from '../../support/builders.ts';

const MIRROR = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const PROBE = { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'west' };
const LINKS = 'linkerd-multicluster';

const object = (name: string, labels: Record<string, string>, within = 'shop'): KubeObject & { spec: object } => ({
  metadata: { name, namespace: within, labels },
  spec: {},
});
const bare = (name: string, labels: Record<string, string>, within = 'shop'): KubeObject => ({
  metadata: { name, namespace: within, labels },
});
const sliceOf = (name: string, of: string, labels: Record<string, string>, within = 'shop'): EndpointSlice => ({
  metadata: { name, namespace: within, labels: { ...labels, 'kubernetes.io/service-name': of } },
  addressType: 'IPv4',
});
const west = (key: string) => ({ cluster: 'west', key });

describe('whose an object is (A6)', () => {
  test.each<[string, KubeObject, ReturnType<typeof ownerOf>]>([
    ['a mirror is of the Service it is named after', object('web-west', MIRROR), west('shop/web')],
    ['its Endpoints too', bare('web-west', MIRROR), west('shop/web')],
    ['its slices by the Service they belong to', sliceOf('web-west-ipv4', 'web-west', MIRROR), west('shop/web')],
    [
      'an endpoint mirror is of its headless Service',
      object('web-0-west', { ...MIRROR, 'mirror.linkerd.io/headless-mirror-svc-name': 'web-west' }),
      west('shop/web'),
    ],
    ['a cluster of which another is the ending keeps its name', object('a-b-west', MIRROR), west('shop/a-b')],
    ['a mirror of no possible name is a stray', object('web', MIRROR), west('shop/~web')],
    ['nor is there a Service without a name', object('-west', MIRROR), west('shop/~-west')],
    ['the probe Service is the probe’s', object('probe-west', PROBE, LINKS), { cluster: 'west', key: PROBE_KEY }],
    [
      'its Endpoints, which have no more than the name of the cluster',
      bare('probe-west', { 'mirror.linkerd.io/cluster-name': 'west' }, LINKS),
      { cluster: 'west', key: PROBE_KEY },
    ],
    ['a probe Service elsewhere is not ours', object('probe-west', PROBE), undefined],
    [
      'nor a Service with no more than the name of the cluster',
      object('probe-west', { 'mirror.linkerd.io/cluster-name': 'west' }, LINKS),
      undefined,
    ],
    ['nor a user’s own Service', object('web-west', {}), undefined],
    [
      'nor a federated Service, of no one cluster',
      object('web-federated', { 'mirror.linkerd.io/mirrored-service': 'true' }),
      undefined,
    ],
    [
      'nor what says it is mirrored from nowhere',
      object('web-west', { ...MIRROR, 'mirror.linkerd.io/cluster-name': '' }),
      undefined,
    ],
    [
      'nor what says it is not mirrored',
      object('web-west', { ...MIRROR, 'mirror.linkerd.io/mirrored-service': 'false' }),
      undefined,
    ],
  ])('%s', (_, given, expected) => {
    expect(ownerOf(given, LINKS)).toEqual(expected);
  });
});

describe('the source cluster', () => {
  let cluster: SimulatedCluster;
  let client: KubeClient;
  let source: SourceCluster;
  const stop = new AbortController();
  const put = (object: ObjectRef & { readonly metadata: { readonly labels?: object } }) =>
    cluster.store.upsert({ ...object });
  const changes: string[] = [];
  const namespaces: string[] = [];
  let running: Promise<void>;

  beforeAll(async () => {
    cluster = await startSimulated({ name: 'east' });
    for (const name of ['shop', LINKS]) put(namespace(name));
    put(service('web-west', { labels: MIRROR, selector: null }));
    client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }));
    source = new SourceCluster({
      client,
      namespace: LINKS,
      onChange: (owner, by) => changes.push(`${owner.cluster} ${owner.key} ${by}`),
      onNamespace: (name) => namespaces.push(name),
      onState: () => undefined,
    });
    running = source.run(stop.signal);
    await eventually('the source is synced', async () => source.synced);
  });
  afterAll(async () => {
    stop.abort();
    await running;
    await client.close();
    await cluster.stop();
  });

  it('knows what is whose', () => {
    expect(source.ownedBy(west('shop/web')).services.map(({ metadata }) => metadata.name)).toEqual(['web-west']);
    expect(source.ownedBy(west('shop/other'))).toEqual({ services: [], endpoints: [], slices: [] });
    expect([...source.keysOf('west')]).toEqual(['shop/web']);
    expect([...source.keysOf('north')]).toEqual([]);
  });

  it('tells both owners when an object changes hands', async () => {
    changes.length = 0;
    put(service('web-west', { labels: { ...MIRROR, 'mirror.linkerd.io/cluster-name': 'north' }, selector: null }));
    await eventually('both are told', async () => changes.length === 2);
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
    await eventually('one is told', async () => changes.length > 0);
    expect(source.ownedBy(west('shop/db')).slices.map(({ metadata }) => metadata.name)).toEqual(['made']);
  });

  it('tells of namespaces that come and go, and of nothing else about them', async () => {
    expect(source.namespaceState('new')).toBe('missing');
    namespaces.length = 0;
    put(namespace('new'));
    await eventually('it is there', async () => source.namespaceState('new') === 'exists');
    put({ ...namespace('new'), metadata: { name: 'new', labels: { a: 'b' } } });
    cluster.store.delete('v1', 'Namespace', undefined, 'new');
    await eventually('it is gone', async () => source.namespaceState('new') === 'missing');
    expect(namespaces).toEqual(['new', 'new']);
  });
});

describe('the source cluster, limited to namespaces', () => {
  let cluster: SimulatedCluster;
  let client: KubeClient;
  let source: SourceCluster;
  let running: Promise<void>;
  const stop = new AbortController();
  const states: string[] = [];
  const namespaces: string[] = [];
  const refused: string[] = [];
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
    client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }));
    source = new SourceCluster({
      client,
      namespace: LINKS,
      mirrorNamespaces: ['shop', 'bank'],
      timings: { backoff: { baseMs: 20, capMs: 100 } },
      onChange: () => undefined,
      onNamespace: (name) => namespaces.push(name),
      onRefused: (name, error) => refused.push(`${name} ${error === undefined ? 'no more' : 'refused'}`),
      onState: (what, { connected }) => states.push(`${what} ${String(connected)}`),
    });
    running = source.run(stop.signal);
    await eventually('the source is synced', async () => source.synced);
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
    expect([source.namespaceState('shop'), source.namespaceState('bank')]).toEqual(['exists', 'unreadable']);
    expect([source.unreadable, refused]).toEqual([['bank'], ['bank refused']]);
    allow();
    await eventually('it can be read', async () => namespaces.at(-1) === 'bank' && refused.length === 2);
    expect([source.namespaceState('bank'), source.unreadable]).toEqual(['exists', []]);
    expect(refused).toEqual(['bank refused', 'bank no more']);
    expect([...source.keysOf('west')].sort()).toEqual([PROBE_KEY, 'bank/web', 'shop/web']);
  });

  it('finds out that one may not be read any more when a write makes it doubtful, and keeps what it knew', async () => {
    const release = refuse('shop');
    source.doubt('shop');
    await eventually('it is found out', async () => source.namespaceState('shop') === 'unreadable');
    expect(source.ownedBy(west('shop/web')).services).toHaveLength(1);
    expect(source.namespaceState('bank')).toBe('exists');
    release();
    await eventually('it can be read again', async () => source.namespaceState('shop') === 'exists');
  });

  it('says once for each resource that the API server does not answer', async () => {
    states.length = 0;
    await cluster.kill();
    await eventually('all are told', async () => states.length === 3);
    expect(states.sort()).toEqual(['endpoints false', 'endpointslices false', 'services false']);
    expect(source.namespaceState('shop')).toBe('exists');
    await cluster.start();
    await eventually('all are told', async () => states.length === 6);
  });
});

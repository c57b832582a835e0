/** The faults of the simulated API server, each seen from a client, and its back door. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Api, eventually, type KubeObject, type WatchEvent } from '../workload/index.ts';
import { startSimulated, type SimulatedCluster } from './start.ts';

const NAMESPACE = 'default';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

const configMap = (name: string, data: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: NAMESPACE },
  data,
});

describe('the simulated API server', () => {
  let cluster: SimulatedCluster;
  let client: Api;

  beforeEach(async () => {
    let drawn = 0;
    const random = (): number => (drawn++ % 4) / 4;
    cluster = await startSimulated({ name: 'faults', bookmarkIntervalMs: 50, random });
    client = new Api(cluster, cluster.adminToken, 'faults/1.0');
  });

  afterEach(async () => {
    await client.close();
    await cluster.stop();
  });

  const codeOfList = async (): Promise<number> => (await client.request('GET', CONFIG_MAPS)).code;

  /** Reads a watch in the background: what it has seen so far, and how it ended. */
  const watch = (query: Record<string, string | boolean> = {}) => {
    const state: { events: WatchEvent<KubeObject>[]; ended: 'open' | 'closed' | 'broken' } = {
      events: [],
      ended: 'open',
    };
    const run = async (): Promise<void> => {
      const collection = { apiVersion: 'v1', kind: 'ConfigMap', namespace: NAMESPACE };
      for await (const event of client.watch(collection, query, new AbortController().signal)) state.events.push(event);
    };
    void run().then(
      () => (state.ended = 'closed'),
      () => (state.ended = 'broken'),
    );
    return state;
  };

  /** A watch that has shown that it runs. */
  const running = async (query: Record<string, string | boolean> = {}) => {
    const state = watch({ allowWatchBookmarks: true, resourceVersion: cluster.store.resourceVersion, ...query });
    await eventually('the watch runs', async () => state.events.some(({ type }) => type === 'BOOKMARK'));
    return state;
  };

  it('refuses requests with a status and Retry-After, until disposed', async () => {
    const dispose = cluster.faults.refuse({ failure: { kind: 'status', code: 429, retryAfterSeconds: 1 } });
    const { code, body } = await client.request<{ reason: string }>('GET', CONFIG_MAPS);
    expect({ code, reason: body.reason }).toEqual({ code: 429, reason: 'TooManyRequests' });
    dispose();
    expect(await codeOfList()).toBe(200);
  });

  it('refuses only what matches, a fraction of it, or so many times', async () => {
    cluster.faults.refuse({ failure: { kind: 'status', code: 500 }, match: ({ verb }) => verb === 'create' });
    expect((await client.request('POST', CONFIG_MAPS, { body: configMap('x') })).code).toBe(500);
    expect(await codeOfList()).toBe(200);
    cluster.faults.clear();
    cluster.faults.refuse({ failure: { kind: 'status', code: 503 }, fraction: 0.5 });
    expect([await codeOfList(), await codeOfList(), await codeOfList(), await codeOfList()]).toEqual([
      503, 503, 200, 200,
    ]);
    cluster.faults.clear();
    cluster.faults.refuse({ failure: { kind: 'status', code: 503 }, times: 1 });
    expect([await codeOfList(), await codeOfList()]).toEqual([503, 200]);
  });

  it('drops the connection before a write takes effect, or after', async () => {
    for (const effect of ['before', 'after'] as const) {
      const dispose = cluster.faults.refuse({ failure: { kind: 'drop', effect } });
      await expect(client.request('POST', CONFIG_MAPS, { body: configMap(effect) })).rejects.toThrow();
      dispose();
      expect(cluster.store.get('v1', 'ConfigMap', NAMESPACE, effect) !== undefined).toBe(effect === 'after');
    }
  });

  it('leaves a request without an answer', async () => {
    cluster.faults.refuse({ failure: { kind: 'hang', effect: 'after' }, match: ({ verb }) => verb === 'create' });
    const request = client.request('POST', CONFIG_MAPS, { body: configMap('hung') }).catch(() => 'broken');
    await eventually('the write took effect', async () => cluster.store.get('v1', 'ConfigMap', NAMESPACE, 'hung'));
    await cluster.kill();
    expect(await request).toBe('broken');
  });

  it('delays requests', async () => {
    cluster.faults.latency(100);
    const started = performance.now();
    await codeOfList();
    expect(performance.now() - started).toBeGreaterThan(95);
  });

  it('sends bookmarks at its interval', async () => {
    const { events } = await running();
    expect(events[0]?.object).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: cluster.store.resourceVersion },
    });
  });

  it('breaks watches', async () => {
    const state = await running();
    cluster.faults.dropWatches();
    await eventually('the watch breaks', async () => state.ended === 'broken');
  });

  it('silences watches without closing them', async () => {
    const state = await running();
    cluster.faults.silenceWatches();
    const seen = state.events.length;
    cluster.store.upsert(configMap('unheard'));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(state).toMatchObject({ ended: 'open', events: { length: seen } });
  });

  it('expires watches, resumes and pages alike', async () => {
    for (const name of ['a', 'b', 'c']) cluster.store.upsert(configMap(name));
    const first = await client.request<{ metadata: { resourceVersion: string; continue: string } }>(
      'GET',
      CONFIG_MAPS,
      {
        query: { limit: 1 },
      },
    );
    const state = await running();
    cluster.faults.expireWatches();
    await eventually('the watch ends', async () => state.ended === 'closed');
    expect(state.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    const { resourceVersion, continue: token } = first.body.metadata;
    const resumed = watch({ resourceVersion });
    await eventually('the resume ends', async () => resumed.ended === 'closed');
    expect(resumed.events).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
    const next = await client.request<{ reason: string; metadata: { continue: string } }>('GET', CONFIG_MAPS, {
      query: { limit: 1, continue: token },
    });
    expect(next).toMatchObject({ code: 410, body: { reason: 'Expired' } });
    const query = { limit: 1, continue: next.body.metadata.continue };
    const inconsistent = await client.request<{ items: KubeObject[] }>('GET', CONFIG_MAPS, { query });
    expect(inconsistent.body.items.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  it('goes back to a backup: objects vanish unannounced and versions go back', async () => {
    const snapshot = cluster.store.snapshot();
    const before = cluster.store.resourceVersion;
    cluster.store.upsert(configMap('lost'));
    const state = await running();
    cluster.faults.restoreFrom(snapshot);
    await eventually('the watch breaks', async () => state.ended === 'broken');
    expect(state.events.every(({ type }) => type === 'BOOKMARK')).toBe(true);
    expect(cluster.store.list('v1', 'ConfigMap')).toEqual([]);
    expect(cluster.store.resourceVersion).toBe(before);
  });

  it('loses what is wiped', async () => {
    cluster.store.upsert(configMap('kept'));
    cluster.store.upsert(configMap('wiped'));
    cluster.faults.wipe(({ metadata }) => metadata.name === 'wiped');
    expect(cluster.store.list('v1', 'ConfigMap').map(({ metadata }) => metadata.name)).toEqual(['kept']);
  });

  it('shows writes through the back door to watchers', async () => {
    const state = await running();
    cluster.store.upsert(configMap('x', { a: '1' }));
    cluster.store.upsert(configMap('x', { a: '2' }));
    cluster.store.delete('v1', 'ConfigMap', NAMESPACE, 'x');
    const changes = () => state.events.filter(({ type }) => type !== 'BOOKMARK').map(({ type }) => type);
    await eventually('three events', async () => changes().length === 3);
    expect(changes()).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });

  it('counts the bytes it sends, by request', async () => {
    const sent = (): number =>
      cluster.bytesSent(({ userAgent, verb }) => userAgent === 'faults/1.0' && verb === 'watch');
    await running();
    const before = sent();
    expect(before).toBeGreaterThan(0);
    cluster.store.upsert(configMap('x'));
    await eventually('the event is counted', async () => sent() > before + 100);
  });

  it('refuses an object that etcd would not take', async () => {
    const large = configMap('large', { text: 'x'.repeat(1_600_000) });
    const { code, body } = await client.request<{ message: string }>('POST', CONFIG_MAPS, { body: large });
    expect({ code, message: body.message }).toEqual({ code: 500, message: 'etcdserver: request is too large' });
    expect(cluster.store.list('v1', 'ConfigMap')).toEqual([]);
  });
});

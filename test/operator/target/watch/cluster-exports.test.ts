/** What one cluster exports by the MCS API, as far as it can be known (rules K1, K2, K5). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterPropertyCrd, serviceExportCrd } from '../../../../crds/index.ts';
import { sourceAccess } from '../../../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../../../operator/kube/client.ts';
import { LimitError } from '../../../../operator/kube/errors.ts';
import type { KubeObject } from '../../../../operator/kube/objects.ts';
import { isConfirmed } from '../../../../operator/target/aspect.ts';
import {
  ClusterExports,
  type ClusterExportsListener,
  type ClusterExportsOptions,
} from '../../../../operator/target/watch/cluster-exports.ts';
import { type SimulatedCluster, startSimulated } from '../../../cluster/simulated/start.ts';
import { eventually, installCrd, type ObjectRef } from '../../../cluster/workload/index.ts';
import { namespace, objectRef, service, slice } from '../../../support/builders.ts';

/** What is known of one export. */
const observe = (exports: ClusterExports, key: string) => ({
  isKnown: exports.decides(key),
  serviceExport: exports.exportOf(key),
  service: exports.get(key),
  slices: exports.slicesOf(key),
});

/** Reports whether nothing is seen of an export, and the cluster has confirmed that. Asks the cluster if need be. */
const confirmsGone = (exports: ClusterExports, key: string): boolean =>
  exports.get(key) === undefined && isConfirmed(exports, key);

const MCS = 'multicluster.x-k8s.io/v1beta1';
const ABOUT = 'about.k8s.io/v1beta1';
const CLUSTER_ID = 'cluster.clusterset.k8s.io';
const WEB = 'shop/web';

let cluster: SimulatedCluster;
let client: KubeClient;
const running: { readonly stop: AbortController; readonly ended: Promise<void> }[] = [];

beforeEach(async () => {
  cluster = await startSimulated({ name: 'west' });
  client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }), {
    userAgent: 'test',
    fieldManager: 'test',
  });
  for (const name of ['shop', 'bank', 'secret']) put(namespace(name));
});
afterEach(async () => {
  for (const { stop } of running) stop.abort();
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  await client.close();
  await cluster.stop();
});

const put = (object: ObjectRef) => cluster.store.upsert({ ...object });
const serviceExport = (name: string, within = 'shop') => objectRef(MCS, 'ServiceExport', name, within);
const clusterId = (value: string) => ({ ...objectRef(ABOUT, 'ClusterProperty', CLUSTER_ID), spec: { value } });
const unexport = (name: string, within = 'shop') => cluster.store.delete(MCS, 'ServiceExport', within, name);

const installExports = () => installCrd(cluster, serviceExportCrd);
const installProperties = () => installCrd(cluster, clusterPropertyCrd);
/** Deletes a CRD as Kubernetes does: its objects go first, one by one, and the server ends its watches. */
const removeCrd = (crd: { readonly metadata: { readonly name: string } }): void =>
  void cluster.store.delete('apiextensions.k8s.io/v1', 'CustomResourceDefinition', undefined, crd.metadata.name);

/** What a hostile cluster lists in place of an object, by resource and name. */
const LIES: Readonly<Record<string, (object: KubeObject) => object>> = {
  'serviceexports web': (object) => ({ ...object, spec: { exportedLabels: 7 }, status: 'fine' }),
  'serviceexports bad': ({ metadata }) => ({ metadata: { ...metadata, name: '../bad' } }),
  'services api': (object) => ({ ...object, spec: { sessionAffinityConfig: 'x'.repeat(1000) } }),
  'endpointslices web-abcde': (object) => ({
    ...object,
    endpoints: [
      { addresses: ['10.0.0.1', '127.0.0.1', '169.254.169.254', 'db.example.org', '::1', 7] },
      { addresses: ['127.0.0.1'] },
      { addresses: 'all' },
    ],
  }),
};

/** A client of a cluster that is hostile. */
const lyingClient = (): KubeClient => {
  const honest = (object: KubeObject): object => object;
  const listEach: KubeClient['listEach'] = (of, query, take, signal) =>
    client.listEach(
      of,
      query,
      (object) => take((LIES[`${of.plural} ${object.metadata.name}`] ?? honest)(object) as never),
      signal,
    );
  const watch = client.watch.bind(client);
  return { listEach, watch, list: client.list.bind(client), get: client.get.bind(client) } as unknown as KubeClient;
};

/** A client of a cluster with more Services than are read. */
const clientBeyondLimits = (): KubeClient => {
  const listEach: KubeClient['listEach'] = (of, ...asked) => {
    if (of.plural === 'services') return Promise.reject(new LimitError('list services: more than 50000 objects'));
    return client.listEach(of, ...asked);
  };
  const [watch, list, get] = [client.watch.bind(client), client.list.bind(client), client.get.bind(client)];
  return { listEach, watch, list, get } as unknown as KubeClient;
};

/** Has the cluster refuse requests for a resource. */
const refuse = (resource: string, code: number, within?: string) =>
  cluster.faults.refuse({
    failure: { kind: 'status', code },
    match: (request) => request.resource === resource && (within === undefined || request.namespace === within),
  });

/** Reads what the cluster exports, and records what it reports. */
function reading({ reachable, ...options }: Partial<ClusterExportsOptions & ClusterExportsListener> = {}) {
  const changed: string[] = [];
  const relists: (readonly string[])[] = [];
  const ids: (string | null | undefined)[] = [];
  const malformed: string[] = [];
  const logged: string[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const exports: ClusterExports = new ClusterExports({
    client,
    timings: { settledMs: 100, backoff: { baseMs: 10, capMs: 40 } },
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    ...options,
    listener: {
      changed: (key) => changed.push(key),
      relisted: () => relists.push([...exports.keys()]),
      identityChanged: () => ids.push(exports.claimedId),
      malformed: (what) => malformed.push(what),
      ...(reachable && { reachable }),
    },
  });
  const stop = new AbortController();
  running.push({ stop, ended: exports.run(stop.signal) });
  const known = (key = WEB) => eventually(`${key} is known`, async () => observe(exports, key).isKnown);
  /** Resolves once the cluster confirms that there is no such export. */
  const gone = (key = WEB) => eventually(`${key} is gone`, async () => confirmsGone(exports, key));
  return { exports, changed, relists, ids, malformed, logged, known, gone, stop };
}

const asked = async (match: (uri: string) => boolean): Promise<number> =>
  (await cluster.audit()).filter(({ uri }) => match(uri)).length;
const askedForServices = () => asked((uri) => uri.startsWith('/api/v1/services'));
const askedForWeb = () => asked((uri) => uri.includes('/serviceexports?') && uri.includes('metadata.name%3Dweb'));
const DISCOVERY = `/apis/${MCS}`;
const askedWhatIsServed = () => asked((uri) => uri === DISCOVERY);
/** Says that the kind is being deleted: it cannot be created any more. */
const isBeingDeleted = () =>
  cluster.faults.refuse({ failure: { kind: 'status', code: 404 }, match: ({ uri }) => uri === DISCOVERY });

describe('an export', () => {
  beforeEach(installExports);

  it('is known with its Service and its slices, and those of no other Service (K1)', async () => {
    put(service('web', { selector: { app: 'web' }, labels: { a: 'b' }, annotations: { c: 'd' } }));
    put(service('other'));
    for (const name of ['web', 'other']) put(slice(name, { labels: {}, endpoints: [{ hostname: 'web-0' }] }));
    put(serviceExport('web'));
    const { exports, known } = reading();
    await known();
    await eventually('its slices are known', async () => observe(exports, WEB).slices !== undefined);
    const { serviceExport: found, service: its, slices } = observe(exports, WEB);
    expect([found?.metadata.name, its?.metadata, exports.size, [...exports.keys()]]).toEqual([
      'web',
      { name: 'web', namespace: 'shop', resourceVersion: its!.metadata.resourceVersion, labels: {}, annotations: {} },
      1,
      [WEB],
    ]);
    expect(slices!.map(({ metadata, endpoints }) => [metadata.name, endpoints![0]!.hostname])).toEqual([
      ['web-abcde', 'web-0'],
    ]);
    expect(observe(exports, 'shop/other')).toEqual({
      isKnown: true,
      serviceExport: undefined,
      service: undefined,
      slices: [],
    });
    const queries = (await cluster.audit()).filter(({ resource }) => resource === 'endpointslices');
    const selectors = queries.map(({ uri }) => new URL(uri, 'http://test').searchParams.get('labelSelector'));
    expect(new Set(selectors)).toEqual(new Set(['kubernetes.io/service-name in (web)']));
  });

  it('is reported as often beside many others as alone (E11)', async () => {
    const exportNamed = (name: string): void => {
      put(service(name));
      put(slice(name, { labels: {} }));
      put(serviceExport(name));
    };
    const reports = async (names: readonly string[]): Promise<readonly string[]> => {
      const { exports, changed, stop } = reading();
      const isKnown = (name: string): boolean => observe(exports, `shop/${name}`).slices?.length === 1;
      await eventually('all slices are known', async () => names.every(isKnown));
      stop.abort();
      return changed;
    };
    exportNamed('web');
    const alone = (await reports(['web'])).length;
    const names = Array.from({ length: 250 }, (_, index) => `web-${index}`);
    names.forEach(exportNamed);
    const counts = Map.groupBy(await reports(names), (key) => key);
    expect(Math.max(...[...counts.values()].map(({ length }) => length))).toBeLessThanOrEqual(alone);
  });

  it('that appears has its Service at once, and each change of it, its Service and its slices is reported', async () => {
    put(service('web'));
    put(service('api'));
    put(serviceExport('api'));
    const { exports, changed, known } = reading();
    await known('shop/api');
    await cluster.clearAudit();
    /** Resolves when a change of `web` is reported. */
    const changes = async (what: string, act: () => unknown): Promise<void> => {
      changed.length = 0;
      act();
      await eventually(what, async () => changed.includes(WEB));
    };
    await changes('the export is seen', () => put(serviceExport('web')));
    expect([observe(exports, WEB).isKnown, observe(exports, WEB).service?.metadata.name]).toEqual([true, 'web']);
    expect(await askedForServices()).toBe(0);
    await eventually('there are no slices', async () => observe(exports, WEB).slices?.length === 0);
    await changes('its slice is seen', () => put(slice('web')));
    expect(observe(exports, WEB).slices).toHaveLength(1);
    await changes('its Service is seen', () => put(service('web', { ports: [{ port: 81 }] })));
    expect(observe(exports, WEB).service?.spec?.ports).toMatchObject([{ port: 81 }]);
    await changes('its Service is gone', () => cluster.store.delete('v1', 'Service', 'shop', 'web'));
    expect(observe(exports, WEB)).toMatchObject({ isKnown: true, service: undefined, slices: [] });
    changed.length = 0;
    put(service('other'));
    await changes('the Service is back', () => put(service('web')));
    expect(changed).not.toContain('shop/other');
  });

  it('has what of its Service and its slices is imported elsewhere (K2, K3)', async () => {
    const spec = {
      type: 'ClusterIP',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      internalTrafficPolicy: 'Local',
      trafficDistribution: 'PreferClose',
      ipFamilies: ['IPv4'],
    };
    const annotations = { 'config.linkerd.io/opaque-ports': '80' };
    const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'linkspan.dev/service-import': 'x' };
    put(service('web', { spec, annotations, labels }));
    put(slice('web', { endpoints: [{ ip: '10.1.2.3', hostname: 'web-0', ready: false }] }));
    put(serviceExport('web'));
    const { exports, known } = reading();
    await known();
    await eventually('its slices are known', async () => observe(exports, WEB).slices?.length === 1);
    const { service: its, slices } = observe(exports, WEB);
    expect(its).toMatchObject({ metadata: { annotations, labels }, spec });
    expect(slices![0]!.endpoints).toMatchObject([
      { addresses: ['10.1.2.3'], hostname: 'web-0', conditions: { ready: false } },
    ]);
  });

  it('is not known before the Services are, and none are read before there is one', async () => {
    put(service('web'));
    const { exports, changed, relists, known } = reading();
    await known();
    expect([observe(exports, WEB).serviceExport, relists.length > 0]).toEqual([undefined, true]);
    expect(await askedForServices()).toBe(0);
    const allow = refuse('services', 403);
    put(serviceExport('web'));
    await eventually('it is seen', async () => exports.size === 1);
    expect(observe(exports, WEB)).toMatchObject({ isKnown: false, service: undefined, slices: undefined });
    put(serviceExport('without'));
    await eventually('it is seen', async () => exports.size === 2);
    changed.length = 0;
    allow();
    await known();
    expect(observe(exports, WEB).service).toBeDefined();
    expect(observe(exports, 'shop/without')).toMatchObject({ isKnown: true, service: undefined, slices: [] });
    expect(changed.sort()).toEqual(expect.arrayContaining([WEB, 'shop/without']));
  });

  it('whose Service may not be listed is reported once, in the log too, and once more when it may (G6, K5)', async () => {
    put(service('web'));
    const allow = refuse('services', 403);
    const reachable: boolean[] = [];
    const { known, logged } = reading({
      about: { link: 'west' },
      reachable: (obstacle) => reachable.push(obstacle === undefined),
    });
    await eventually('exports are read', async () => reachable.length === 1);
    put(serviceExport('web'));
    await eventually('it is tried again and again', async () => (await askedForServices()) > 5);
    expect(reachable).toEqual([true, false]);
    const warnings = (): readonly string[] => logged.filter((line) => line.startsWith('warn'));
    expect(warnings()).toEqual([expect.stringMatching(/cannot all be read.*"link":"west".*list services.*403/)]);
    allow();
    await known();
    await eventually('it can be read', async () => reachable.length === 3);
    expect([reachable.at(-1), warnings().length]).toEqual([true, 1]);
  });

  it('of a cluster with more Services than are read is reported (E10)', async () => {
    put(serviceExport('web'));
    const obstacles: unknown[] = [];
    const { logged } = reading({
      client: clientBeyondLimits(),
      reachable: (obstacle) => obstacles.push(obstacle?.error),
    });
    await eventually('it is', async () => obstacles.at(-1) instanceof LimitError);
    expect(logged.filter((line) => line.startsWith('warn'))).toEqual([expect.stringContaining('more than 50000')]);
  });

  it('of an untrusted cluster has only what is valid (E1)', async () => {
    put(service('web'));
    put(service('api'));
    put(slice('web', { endpoints: [{ ip: '10.0.0.1' }] }));
    for (const name of ['web', 'api', 'bad']) put(serviceExport(name));
    const { exports, known, malformed } = reading({ client: lyingClient() });
    await known();
    await eventually('its slices are known', async () => observe(exports, WEB).slices?.length === 1);
    expect([...exports.keys()].sort()).toEqual(['shop/api', WEB]);
    expect(Object.keys(observe(exports, WEB).serviceExport!)).toEqual(['metadata']);
    expect(observe(exports, WEB).slices![0]!.endpoints).toMatchObject([{ addresses: ['10.0.0.1'] }]);
    expect(observe(exports, 'shop/api')).toMatchObject({ isKnown: true, service: undefined });
    expect(malformed.map((each) => each.split(':')[0])).toEqual(
      expect.arrayContaining(['ServiceExport shop/../bad', 'Service shop/api']),
    );
  });
});

describe('where the CRD is missing', () => {
  it('nothing is known, until it is there (K5)', async () => {
    const { exports, known, logged } = reading();
    await eventually('it is asked', async () => (await asked((uri) => uri.includes('/serviceexports?'))) > 2);
    expect([observe(exports, WEB).isKnown, confirmsGone(exports, WEB)]).toEqual([false, false]);
    expect(logged.filter((line) => !line.startsWith('debug'))).toEqual([]);
    await installExports();
    await known();
    put(service('web'));
    put(serviceExport('web'));
    await eventually('it is seen', async () => observe(exports, WEB).service !== undefined);
  });

  it('nothing counts as deleted: neither what goes with it, nor what is not back with it (K5)', async () => {
    await installExports();
    put(serviceExport('web'));
    put(service('web'));
    const { exports, known, gone } = reading();
    await known();
    removeCrd(serviceExportCrd);
    await eventually('the export has gone', async () => exports.size === 0);
    await cluster.clearAudit();
    expect(confirmsGone(exports, WEB)).toBe(false);
    await eventually('the kind has gone', async () => !observe(exports, WEB).isKnown);
    expect(confirmsGone(exports, WEB)).toBe(false);
    await installExports();
    await known();
    await cluster.clearAudit();
    expect([confirmsGone(exports, WEB), confirmsGone(exports, 'shop/other')]).toEqual([false, false]);
    expect(await askedForWeb()).toBe(0);
    put(serviceExport('web'));
    await eventually('it is back', async () => exports.size === 1);
    unexport('web');
    await eventually('it is deleted', async () => exports.size === 0);
    await gone();
  });

  it('the time until what is not back counts as deleted begins when it is back, however long it was away (L138)', async () => {
    await installExports();
    put(serviceExport('web'));
    put(service('web'));
    const graceMs = 500;
    const { exports, known, gone, relists } = reading({
      returnGraceMs: graceMs,
      timings: { settledMs: 0, backoff: { baseMs: 10, capMs: 40 } },
    });
    await known();
    put(serviceExport('other'));
    await eventually('the watch shows what there is', async () => exports.size === 2);
    removeCrd(serviceExportCrd);
    await eventually('the kind has gone', async () => !observe(exports, WEB).isKnown);
    const before = relists.length;
    await eventually('it has been away for longer than that time', async () => relists.length > before);
    const backMs = performance.now();
    await installExports();
    await known();
    await gone();
    expect(performance.now() - backMs).toBeGreaterThan(graceMs);
  });

  it('what is there once it is back counts as deleted when it goes (K5)', async () => {
    await installExports();
    put(serviceExport('web'));
    put(service('web'));
    const { exports, known, gone } = reading();
    await known();
    // The list and the watch find no CRD, as after an API server was restored, but nothing says that the export has gone.
    const restore = refuse('serviceexports', 404);
    cluster.faults.dropWatches();
    await eventually('the kind has gone', async () => !observe(exports, WEB).isKnown);
    expect(exports.size).toBe(1);
    restore();
    await known();
    unexport('web');
    await eventually('it is deleted', async () => exports.size === 0);
    await gone();
  });

  it.each([
    ['before it was read here, as by another replica', true],
    ['while its watch was interrupted', false],
  ])('of which a list shows none may have lost them with its CRD %s (K5, L255)', async (_, isFirst) => {
    await installExports();
    if (!isFirst) put(serviceExport('web'));
    put(service('web'));
    const { exports, known, gone, relists } = reading({ returnGraceMs: 500 });
    await known();
    if (!isFirst) {
      const restore = cluster.faults.refuse({
        failure: { kind: 'status', code: 410 },
        match: ({ resource, verb }) => resource === 'serviceexports' && verb === 'watch',
      });
      cluster.faults.dropWatches();
      unexport('web');
      await eventually('a list shows that it is gone', async () => exports.size === 0);
      restore();
      await known();
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(confirmsGone(exports, WEB)).toBe(false);
    const before = relists.length;
    await eventually('that is over', async () => relists.length > before);
    await gone();
  });

  it('what is not back when a while is over counts as deleted (K5)', async () => {
    const { exports, known, gone, relists } = reading({ returnGraceMs: 400 });
    await eventually('it is asked', async () => (await asked((uri) => uri.includes('/serviceexports?'))) > 2);
    await installExports();
    await known();
    expect(confirmsGone(exports, WEB)).toBe(false);
    const before = relists.length;
    await eventually('that is over', async () => relists.length > before);
    await gone();
  });
});

describe('a cluster that is asked whether there is an export', () => {
  beforeEach(async () => {
    await installExports();
    put(service('web'));
    put(serviceExport('web'));
  });

  it('confirms that there is none; an answer is good until it is forgotten (K5)', async () => {
    const { exports, changed, relists, known, gone } = reading();
    await known();
    unexport('web');
    await eventually('it has gone', async () => exports.size === 0);
    changed.length = 0;
    await cluster.clearAudit();
    expect(confirmsGone(exports, WEB)).toBe(false);
    await eventually('it is answered', async () => changed.includes(WEB));
    expect([confirmsGone(exports, WEB), await askedForWeb(), await askedWhatIsServed()]).toEqual([true, 1, 1]);
    exports.forget(WEB);
    expect(confirmsGone(exports, WEB)).toBe(false);
    await gone();
    // What a list shows is newer.
    const before = relists.length;
    cluster.faults.expireWatches();
    await eventually('exports are listed', async () => relists.length > before);
    expect(confirmsGone(exports, WEB)).toBe(false);
    await gone();
    put(serviceExport('web'));
    await eventually('it is back', async () => exports.size === 1);
    expect(confirmsGone(exports, WEB)).toBe(false);
    // What was answered before it came back says nothing of now.
    unexport('web');
    await eventually('it has gone again', async () => exports.size === 0);
    expect(confirmsGone(exports, WEB)).toBe(false);
  });

  it('without its Service is confirmed to have none; an answer is good until it is forgotten (K5, A2)', async () => {
    const { exports, changed, known, gone, relists } = reading();
    await known();
    const hasService = () => observe(exports, WEB).service !== undefined;
    const lose = async () => {
      cluster.store.delete('v1', 'Service', 'shop', 'web');
      await eventually('the Service has gone', async () => !hasService());
    };
    expect(confirmsGone(exports, WEB)).toBe(false);
    await lose();
    changed.length = 0;
    await cluster.clearAudit();
    expect(confirmsGone(exports, WEB)).toBe(false);
    await gone();
    const askedForIts = await asked((uri) => uri.includes('/services?') && uri.includes('metadata.name%3Dweb'));
    expect([changed.includes(WEB), askedForIts]).toEqual([true, 1]);
    exports.forget(WEB);
    expect(confirmsGone(exports, WEB)).toBe(false);
    await gone();
    put(service('web'));
    await eventually('it is back', async () => hasService());
    expect(confirmsGone(exports, WEB)).toBe(false);
    await lose();
    expect(confirmsGone(exports, WEB)).toBe(false);
    await gone();
    const before = relists.length;
    cluster.faults.expireWatches();
    await eventually('Services are listed', async () => relists.length > before && !confirmsGone(exports, WEB));
    await gone();
  });

  it('does not confirm what its watch has yet to show', async () => {
    const { exports, changed, known } = reading();
    await known();
    unexport('web');
    await eventually('it has gone', async () => exports.size === 0);
    cluster.faults.silenceWatches();
    put(serviceExport('web'));
    changed.length = 0;
    expect(confirmsGone(exports, WEB)).toBe(false);
    await eventually('it is answered', async () => changed.includes(WEB));
    expect(confirmsGone(exports, WEB)).toBe(false);
  });

  it.each([
    ['that the kind is being deleted', isBeingDeleted],
    ['that it may not be read', () => refuse('serviceexports', 403)],
    ['nothing', () => refuse('serviceexports', 503)],
  ])('does not confirm it while it says %s (K5)', async (_, fail) => {
    const { exports, changed, known } = reading();
    await known();
    unexport('web');
    await eventually('it has gone', async () => exports.size === 0);
    fail();
    changed.length = 0;
    await cluster.clearAudit();
    expect(confirmsGone(exports, WEB)).toBe(false);
    await eventually('it is asked again', async () => (await askedForWeb()) > 2);
    expect([changed, confirmsGone(exports, WEB)]).toEqual([[], false]);
  });

  it('does not confirm it once it has said that there is no such kind (K5)', async () => {
    const { exports, changed, known } = reading();
    await known();
    unexport('web');
    await eventually('it has gone', async () => exports.size === 0);
    const isAboutWeb = ({ selected }: { readonly selected?: string }): boolean => selected === 'web';
    for (const code of [503, 404]) {
      cluster.faults.refuse({ failure: { kind: 'status', code }, match: isAboutWeb, times: 1 });
    }
    changed.length = 0;
    expect(confirmsGone(exports, WEB)).toBe(false);
    await eventually('it is answered', async () => changed.includes(WEB));
    expect(confirmsGone(exports, WEB)).toBe(false);
  });

  it('confirms the Service that is seen, and not the one that was before it (A2, L243)', async () => {
    const { exports, changed, known } = reading();
    await known();
    await eventually('it is seen', async () => observe(exports, WEB).service !== undefined);
    expect(isConfirmed(exports, WEB)).toBe(false);
    await eventually('it is confirmed', async () => isConfirmed(exports, WEB));
    exports.forget(WEB);
    cluster.faults.silenceWatches();
    put(service('web', { spec: { sessionAffinity: 'ClientIP' } }));
    changed.length = 0;
    expect(isConfirmed(exports, WEB)).toBe(false);
    await eventually('it is answered', async () => changed.includes(WEB));
    expect([exports.get(WEB)?.spec?.sessionAffinity, isConfirmed(exports, WEB)]).not.toContain('ClientIP');
    expect(isConfirmed(exports, WEB)).toBe(false);
  });

  it('is not asked whether there is one while that may not be read (K5)', async () => {
    const { exports, known, logged } = reading();
    await known();
    const allow = refuse('serviceexports', 403);
    confirmsGone(exports, 'shop/gone');
    cluster.faults.dropWatches();
    await eventually('it is refused', async () => !observe(exports, WEB).isKnown);
    // The last question may still be under way.
    await eventually('it is tried again', async () => (await asked((uri) => uri.includes('/serviceexports?'))) > 1);
    await cluster.clearAudit();
    expect(confirmsGone(exports, 'shop/gone')).toBe(false);
    await eventually('it is tried again', async () => (await asked((uri) => uri.includes('/serviceexports?'))) > 1);
    expect(await asked((uri) => uri.includes('metadata.name%3Dgone'))).toBe(0);
    expect(logged.some((line) => line.startsWith('info it cannot be read'))).toBe(true);
    expect(logged.some((line) => line.startsWith('warn'))).toBe(false);
    allow();
    await known();
  });
});

describe('where only some namespaces are read', () => {
  beforeEach(async () => {
    await installExports();
    for (const within of ['shop', 'bank', 'secret']) {
      put(service('web', { namespace: within }));
      put(slice('web', { namespace: within }));
      put(serviceExport('web', within));
    }
  });

  it('no other is asked for, and what is in another is not exported', async () => {
    await cluster.clearAudit();
    const { exports, known } = reading({ namespaces: ['shop', 'bank'] });
    for (const key of [WEB, 'bank/web', 'secret/web']) await known(key);
    await eventually('slices are known', async () => observe(exports, 'bank/web').slices?.length === 1);
    expect([...exports.keys()].sort()).toEqual(['bank/web', WEB]);
    expect(observe(exports, 'secret/web')).toMatchObject({ isKnown: true, serviceExport: undefined });
    expect(confirmsGone(exports, 'secret/web')).toBe(true);
    const namespaces = (await cluster.audit())
      .filter(({ resource }) => ['serviceexports', 'services', 'endpointslices'].includes(resource))
      .map((entry) => entry.namespace);
    expect(new Set(namespaces)).toEqual(new Set(['shop', 'bank']));
  });

  it('one that is refused is not known, and the others are (K5)', async () => {
    const allow = refuse('serviceexports', 403, 'bank');
    const { exports, known } = reading({ namespaces: ['shop', 'bank'] });
    await known();
    expect(observe(exports, 'bank/web').isKnown).toBe(false);
    expect(confirmsGone(exports, 'bank/gone')).toBe(false);
    allow();
    await known('bank/web');
  });

  it('all are counted before a list takes anything away (E6)', async () => {
    const { exports, known, relists, gone } = reading({ namespaces: ['shop', 'bank'] });
    for (const key of [WEB, 'bank/web']) await known(key);
    const barred = cluster.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: (request) => request.namespace === 'shop' && request.verb === 'list',
    });
    const expired = cluster.faults.refuse({
      failure: { kind: 'status', code: 410 },
      match: (request) => request.namespace === 'bank' && request.verb === 'watch',
    });
    cluster.faults.dropWatches((request) => request.namespace === 'bank' && request.resource === 'serviceexports');
    unexport('web', 'bank');
    await eventually('the loss is seen', async () => exports.size === 1);
    expect([observe(exports, 'bank/web').isKnown, observe(exports, WEB).isKnown]).toEqual([false, true]);
    expect(confirmsGone(exports, 'bank/web')).toBe(false);
    expired();
    const before = relists.length;
    barred();
    await known('bank/web');
    expect(relists.length).toBeGreaterThan(before);
    await gone('bank/web');
  });
});

describe('the id that a cluster claims (K2)', () => {
  it('is none where the CRD is missing, and is known once it is there, changes and goes', async () => {
    const { exports, ids } = reading();
    expect(exports.claimedId).toBeUndefined();
    await eventually('there is none', async () => exports.claimedId === null);
    await installProperties();
    put({ ...objectRef(ABOUT, 'ClusterProperty', 'other'), spec: { value: 'x' } } as ObjectRef);
    put(clusterId('west-1'));
    await eventually('it is known', async () => exports.claimedId === 'west-1');
    const asking = (await cluster.audit()).filter(
      ({ resource, userAgent }) => resource === 'clusterproperties' && userAgent.startsWith('test'),
    );
    expect(asking.every(({ uri }) => uri.includes(`fieldSelector=metadata.name%3D${CLUSTER_ID}`))).toBe(true);
    put(clusterId('west-2'));
    await eventually('it has changed', async () => exports.claimedId === 'west-2');
    expect(ids).toEqual([null, 'west-1', 'west-2']);
    // Nothing but the id counts.
    const { metadata, spec } = cluster.store.get(ABOUT, 'ClusterProperty', undefined, CLUSTER_ID) as ReturnType<
      typeof clusterId
    >;
    put({ ...clusterId('west-2'), metadata: { ...metadata, annotations: { seen: 'now' } }, spec } as ObjectRef);
    put(clusterId('west-3'));
    await eventually('it has changed again', async () => exports.claimedId === 'west-3');
    expect(ids).toEqual([null, 'west-1', 'west-2', 'west-3']);
    cluster.store.delete(ABOUT, 'ClusterProperty', undefined, CLUSTER_ID);
    await eventually('there is none again', async () => exports.claimedId === null && ids.at(-1) === null);
  });

  it('is not known while the cluster does not answer, and none where it may not be read', async () => {
    await installProperties();
    put(clusterId('west-1'));
    const answer = refuse('clusterproperties', 503);
    const { exports } = reading();
    await eventually('it is asked', async () => (await asked((uri) => uri.includes('/clusterproperties?'))) > 2);
    expect(exports.claimedId).toBeUndefined();
    const allow = refuse('clusterproperties', 403);
    answer();
    await eventually('it is refused', async () => exports.claimedId === null);
    allow();
    await eventually('it is known', async () => exports.claimedId === 'west-1');
    // What was read stays: an id that goes and comes back would move all that is imported.
    refuse('clusterproperties', 403);
    cluster.faults.dropWatches();
    await cluster.clearAudit();
    await eventually('it is refused', async () => (await asked((uri) => uri.includes('/clusterproperties?'))) > 2);
    expect(exports.claimedId).toBe('west-1');
  });

  it('is none if no cluster can have it (E1)', async () => {
    await installProperties();
    put(clusterId('x'.repeat(100)));
    const { exports, malformed } = reading();
    await eventually('it is read', async () => exports.claimedId === null && malformed.length > 0);
    expect(malformed[0]).toMatch(/^ClusterProperty /);
  });

  it('is none once it is one that no cluster can have, as after a list (L130)', async () => {
    await installProperties();
    put(clusterId('west-1'));
    const { exports, ids } = reading();
    await eventually('it is read', async () => exports.claimedId === 'west-1');
    put(clusterId('x'.repeat(100)));
    await eventually('there is none', async () => exports.claimedId === null && ids.at(-1) === null);
  });
});

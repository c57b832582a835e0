import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseSelector } from '../../../crds/selector.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { sourceAccess } from '../../../operator/kube/source-access.ts';
import { Target } from '../../../operator/link/target.ts';
import type { ObjectRef } from '../../cluster/workload.ts';
import { eventually } from '../../cluster/eventually.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/sim/start.ts';
import { EXPORTED, EXPORTED_FLAT, namespace, service, slice } from '../../support/builders.ts';

let cluster: SimulatedCluster;
let client: KubeClient;
const stops: Target[] = [];

beforeEach(async () => {
  cluster = await startSimulated({ name: 'west' });
  put(namespace('shop'));
  client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }));
});
afterEach(async () => {
  for (const target of stops.splice(0)) target.stop();
  await client.close();
  await cluster.stop();
});

const selectorOf = (labels: Readonly<Record<string, string>> | undefined) => {
  const parsed = parseSelector(labels === undefined ? {} : { matchLabels: labels }, 'spec.selector');
  if (!parsed.ok) throw new Error('bad selector');
  return parsed.value;
};

const put = (object: ObjectRef) => cluster.store.upsert({ ...object });

/** A target that is watched, and what it told. */
function watching(
  selectors: { readonly gateway?: typeof EXPORTED; readonly flat?: typeof EXPORTED } = {
    gateway: EXPORTED,
    flat: EXPORTED_FLAT,
  },
) {
  const changed: string[] = [];
  const reachable: string[] = [];
  const malformed: string[] = [];
  let relisted = 0;
  const stop = new AbortController();
  const target = new Target({
    selectors: { gateway: selectorOf(selectors.gateway), flat: selectorOf(selectors.flat) },
    timings: { backoff: { baseMs: 20, capMs: 100 } },
    onChange: (key) => changed.push(key),
    onRelisted: () => (relisted += 1),
    onReachable: (yes, error) => reachable.push(yes ? 'yes' : error instanceof Error ? error.name : 'no'),
    onMalformed: (what) => malformed.push(what),
  });
  stops.push(target);
  target.run(client, stop.signal);
  return { target, changed, reachable, malformed, relisted: () => relisted };
}

const names = (target: Target, key: string) =>
  target
    .slicesOf(key)
    ?.map(({ metadata }) => metadata.name)
    .sort();

describe('what a target exports', () => {
  it('is what its selectors select, with the mode; flat wins (A1)', async () => {
    put(service('web', { labels: EXPORTED }));
    put(service('flat', { labels: EXPORTED_FLAT }));
    put(service('own'));
    const { target, relisted } = watching({ gateway: {}, flat: EXPORTED_FLAT });
    await eventually('it is synced', async () => target.synced && relisted() > 0);
    expect([...target.keys()]).toEqual(['shop/flat']);
    const both = watching();
    await eventually('it is synced', async () => both.target.synced);
    expect([...both.target.keys()].sort()).toEqual(['shop/flat', 'shop/web']);
    expect(both.target.get('shop/web')?.mode).toBe('gateway');
    expect(both.target.get('shop/flat')?.mode).toBe('remote-discovery');
    expect(both.target.get('shop/own')).toBeUndefined();
  });

  it('is nothing, and known at once, where nothing is selected', async () => {
    const { target, relisted } = watching({});
    expect([target.synced, target.keys().size, relisted()]).toEqual([true, 0, 1]);
    expect((await cluster.audit()).filter(({ resource }) => resource === 'services')).toEqual([]);
  });

  it('costs nothing when it is not exported', async () => {
    const { target, changed } = watching();
    await eventually('it is synced', async () => target.synced);
    put(service('own'));
    put(slice('own', { labels: {} }));
    put(service('web', { labels: EXPORTED }));
    await eventually('the other is told', async () => changed.includes('shop/web'));
    expect(changed).not.toContain('shop/own');
  });

  it('does not lose a Service on its way from one mode to the other', async () => {
    put(service('web', { labels: EXPORTED }));
    const { target, changed } = watching();
    await eventually('it is there', async () => target.get('shop/web')?.mode === 'gateway');
    changed.length = 0;
    put(service('web', { labels: EXPORTED_FLAT }));
    await eventually('it is told', async () => changed.length > 0);
    expect(target.get('shop/web')?.mode).toBe('remote-discovery');
  });
});

describe('the slices of a Service (D9)', () => {
  it('are found by the labels that Kubernetes copies', async () => {
    put(service('web', { labels: EXPORTED }));
    put(slice('web'));
    const { target } = watching();
    await eventually('the slice is known', async () => names(target, 'shop/web')?.join() === 'web-abcde');
  });

  it('are found by name where nobody copied the labels, also for a Service that comes later', async () => {
    put(service('one', { labels: EXPORTED }));
    put(slice('one', { labels: {}, name: 'one-hand-made' }));
    const { target, changed } = watching();
    await eventually('the slice is known', async () => names(target, 'shop/one')?.join() === 'one-hand-made');
    put(slice('two', { labels: {}, name: 'two-hand-made' }));
    put(service('two', { labels: EXPORTED, selector: null }));
    await eventually('the other slice is known', async () => names(target, 'shop/two')?.join() === 'two-hand-made');
    changed.length = 0;
    cluster.store.delete('discovery.k8s.io/v1', 'EndpointSlice', 'shop', 'two-hand-made');
    await eventually('its end is told', async () => changed.includes('shop/two'));
    expect(names(target, 'shop/two')).toEqual([]);
  });

  it('are labelled and hand-made ones together, for a Service without a selector', async () => {
    put(service('web', { labels: EXPORTED, selector: null }));
    put(slice('web', { name: 'a' }));
    put(slice('web', { name: 'b', labels: {} }));
    const { target } = watching();
    await eventually('both are known', async () => names(target, 'shop/web')?.join() === 'a,b');
  });

  it('are not known, rather than none, until they were looked for', async () => {
    const release = cluster.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ resource }) => resource === 'endpointslices',
    });
    put(service('web', { labels: EXPORTED }));
    const { target } = watching();
    await eventually('the Service is known', async () => target.get('shop/web') !== undefined);
    expect(target.slicesOf('shop/web')).toBeUndefined();
    release();
    await eventually('there are none', async () => target.slicesOf('shop/web')?.length === 0);
  });
});

describe('a target that cannot be read (E4)', () => {
  it('is told of once, with the error, and again when it can be; what was known stays', async () => {
    put(service('web', { labels: EXPORTED }));
    const { target, reachable } = watching();
    await eventually('it is synced', async () => target.synced && reachable.length === 1);
    await cluster.kill();
    await eventually('it is not reachable', async () => reachable.length === 2);
    expect([...target.keys()]).toEqual(['shop/web']);
    await cluster.start();
    await eventually('it is reachable again', async () => reachable.length === 3);
    expect(reachable).toEqual(['yes', 'ConnectionError', 'yes']);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseSelector } from '../../../crds/selector.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import { Target, type TargetObstacle } from '../../../operator/target/target.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import { EXPORTED, EXPORTED_FLAT, namespace, service, slice } from '../../support/builders.ts';

let cluster: SimulatedCluster;
let client: KubeClient;
const stops: Target[] = [];

beforeEach(async () => {
  cluster = await startSimulated({ name: 'west' });
  put(namespace('shop'));
  client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }), {
    userAgent: 'test',
    fieldManager: 'test',
  });
});
afterEach(async () => {
  for (const target of stops.splice(0)) target.stop();
  await client.close();
  await cluster.stop();
});

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };

const selectorOf = (labels: Readonly<Record<string, string>> | undefined) => {
  const parsed = parseSelector(labels === undefined ? {} : { matchLabels: labels }, 'spec.selector');
  if (!parsed.ok) throw new Error('bad selector');
  return parsed.value;
};

const put = (object: ObjectRef) => cluster.store.upsert({ ...object });

/** A target that is watched, and what it told. */
function watching(
  selectors: Partial<Record<'gateway' | 'flat' | 'members', typeof EXPORTED>> = {
    gateway: EXPORTED,
    flat: EXPORTED_FLAT,
  },
  namespaces?: readonly string[],
  readsMemberSlices = false,
) {
  const changed: string[] = [];
  const members: string[] = [];
  const reachable: string[] = [];
  const malformed: string[] = [];
  const lists: string[] = [];
  const answers: string[] = [];
  const stop = new AbortController();
  const target = new Target({
    selectors: {
      gateway: selectorOf(selectors.gateway),
      flat: selectorOf(selectors.flat),
      members: selectorOf(selectors.members),
      readsMemberSlices,
    },
    namespaces,
    timings: { settledMs: 500, backoff: { baseMs: 20, capMs: 100 } },
    listener: {
      serviceChanged: (key) => changed.push(key),
      memberChanged: (key) => members.push(key),
      relisted: (what) => lists.push(what),
      reachable: (obstacle) => reachable.push(obstacle === undefined ? 'yes' : sayingOf(obstacle)),
      malformed: (what) => malformed.push(what),
      serviceAnswered: (key) => answers.push(key),
      unanswered: (key) => answers.push(`not ${key}`),
    },
  });
  stops.push(target);
  target.run(client, stop.signal);
  return {
    target,
    changed,
    members,
    reachable,
    malformed,
    lists,
    answers,
    relisted: () => lists.filter((what) => what === 'services').length,
  };
}

const sayingOf = ({ error, namespaces }: TargetObstacle): string =>
  [error instanceof Error ? error.name : 'no', ...namespaces].join(' ');

const names = (target: Target, key: string) =>
  target.mirrored
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
    expect([...target.mirrored.keys()]).toEqual(['shop/flat']);
    const both = watching();
    await eventually('it is synced', async () => both.target.synced);
    expect([...both.target.mirrored.keys()].sort()).toEqual(['shop/flat', 'shop/web']);
    expect(both.target.mirrored.get('shop/web')?.mode).toBe('gateway');
    expect(both.target.mirrored.get('shop/flat')?.mode).toBe('remote-discovery');
    expect(both.target.mirrored.get('shop/own')).toBeUndefined();
  });

  it('is asked for a Service that left one mode while the watch of the other hears nothing (A1, L66)', async () => {
    put(service('web', { labels: EXPORTED }));
    const { target, answers } = watching();
    await eventually(
      'it is exported',
      async () => target.synced && target.mirrored.get('shop/web')?.mode === 'gateway',
    );
    const isFlat = ({ query }: { readonly query: URLSearchParams }) =>
      (query.get('labelSelector') ?? '').includes('remote-discovery');
    const heal = cluster.faults.silenceWatches(isFlat);
    put(service('web', { labels: EXPORTED_FLAT }));
    await eventually('it has left the one', async () => target.mirrored.get('shop/web') === undefined);
    for (const key of ['shop/web', 'shop/gone']) target.mirrored.ask(key);
    await eventually('it has answered', async () => answers.length === 2);
    expect([target.mirrored.confirms('shop/web'), target.mirrored.confirms('shop/gone')]).toEqual([false, true]);
    heal();
    cluster.faults.dropWatches(isFlat);
    await eventually('it is in the other', async () => target.mirrored.get('shop/web')?.mode === 'remote-discovery');
  });

  it('is nothing, and known at once, where nothing is selected', async () => {
    const { target, relisted } = watching({});
    expect([target.synced, target.mirrored.keys().size, relisted()]).toEqual([true, 0, 1]);
    expect((await cluster.audit()).filter(({ resource }) => resource === 'services')).toEqual([]);
  });

  it('is one thing, and members of federated Services are another: a Service may be both (I1)', async () => {
    put(service('web', { labels: { ...EXPORTED, ...MEMBER } }));
    put(slice('web', { labels: { ...EXPORTED, ...MEMBER } }));
    put(service('alone', { labels: MEMBER }));
    put(slice('alone', { labels: MEMBER }));
    put(service('bare', { labels: MEMBER, selector: null }));
    put(slice('bare'));
    put(service('shown', { labels: EXPORTED }));
    const { target, members, lists } = watching({ gateway: EXPORTED, members: MEMBER }, undefined, true);
    expect(target.members.decides('shop/alone')).toBe(false);
    await eventually('all is known', async () => target.members.slicesOf('shop/bare')?.length === 1);
    expect([...target.mirrored.keys()].sort()).toEqual(['shop/shown', 'shop/web']);
    expect([...target.members.keys()].sort()).toEqual(['shop/alone', 'shop/bare', 'shop/web']);
    expect(target.mirrored.size).toBe(2);
    expect([target.members.get('shop/shown'), target.members.decides('shop/shown')]).toEqual([undefined, true]);
    for (const name of ['web', 'alone', 'bare']) expect(target.members.slicesOf(`shop/${name}`)).toHaveLength(1);
    expect(lists).toContain('services');
    members.length = 0;
    put(slice('alone', { labels: MEMBER, endpoints: [{ ready: false }] }));
    await eventually('what is behind it has changed', async () => members.includes('shop/alone'));
    put(service('alone'));
    await eventually('it is none any more', async () => target.members.get('shop/alone') === undefined);
    expect([target.members.decides('shop/alone'), members.at(-1)]).toEqual([true, 'shop/alone']);
  });

  it('has nothing behind its members that is read where no gateway needs it (E10)', async () => {
    put(service('web', { labels: MEMBER }));
    put(slice('web', { labels: MEMBER }));
    const { target } = watching({ members: MEMBER });
    await eventually('all is known', async () => target.members.get('shop/web') !== undefined);
    expect(target.members.slicesOf('shop/web')).toBeUndefined();
    expect((await cluster.audit()).filter(({ resource }) => resource === 'endpointslices')).toEqual([]);
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

  it('is not said to be listed anew when only what is behind it is (E6)', async () => {
    const { target, lists, relisted } = watching({ gateway: EXPORTED });
    await eventually('it is synced', async () => target.synced);
    put(slice('manual', { labels: {} }));
    put(service('manual', { labels: EXPORTED, selector: null }));
    await eventually('the slice is found', async () => names(target, 'shop/manual')?.length === 1);
    expect(lists).toContain('slices');
    expect(relisted()).toBe(1);
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

  it('are those that list somebody, labelled first, for a Service with one', async () => {
    put(service('web', { labels: EXPORTED }));
    put({ ...slice('web', { name: 'a' }), endpoints: null } as ObjectRef);
    put(slice('web', { name: 'b', labels: {} }));
    const { target, changed } = watching();
    await eventually('both are known', async () => names(target, 'shop/web')?.join() === 'a,b');
    put(slice('web', { name: 'a' }));
    await eventually('it is labelled', async () => names(target, 'shop/web')?.join() === 'a');
    changed.length = 0;
    put({ ...slice('web', { name: 'a' }), endpoints: null } as ObjectRef);
    await eventually('both are known again, and that is told', async () => {
      return changed.includes('shop/web') && names(target, 'shop/web')?.join() === 'a,b';
    });
  });

  it('are not known, rather than none, until they were looked for', async () => {
    const release = cluster.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ resource }) => resource === 'endpointslices',
    });
    put(service('web', { labels: EXPORTED }));
    const { target } = watching();
    await eventually('the Service is known', async () => target.mirrored.get('shop/web') !== undefined);
    expect(target.mirrored.slicesOf('shop/web')).toBeUndefined();
    release();
    await eventually('there are none', async () => target.mirrored.slicesOf('shop/web')?.length === 0);
  });

  it('of flat mode are read once failover needs them, and are not known before (J3, E10)', async () => {
    put(service('web', { labels: EXPORTED }));
    put(slice('web', { name: 'a' }));
    put(service('flat', { labels: EXPORTED_FLAT }));
    put(slice('flat', { labels: EXPORTED_FLAT, name: 'b' }));
    const { target, changed } = watching();
    await eventually('all that is read is known', async () => {
      return target.synced && names(target, 'shop/web')?.join() === 'a';
    });
    expect(target.mirrored.slicesOf('shop/flat')).toBeUndefined();
    const lists = async () =>
      (await cluster.audit()).filter(({ verb, resource }) => verb === 'list' && resource === 'endpointslices').length;
    expect(await lists()).toBe(1);
    changed.length = 0;
    for (const each of [target, target]) each.readFlatSlices();
    await eventually('they are known, and that is told', async () => {
      return changed.includes('shop/flat') && names(target, 'shop/flat')?.join() === 'b';
    });
    expect(await lists()).toBe(2);
  });
});

describe('a target that cannot be read (E4)', () => {
  it('is told of once, with the error, and again when it can be; what was known stays', async () => {
    put(service('web', { labels: EXPORTED }));
    const { target, reachable } = watching();
    await eventually('it is synced', async () => target.synced && reachable.length === 1);
    await cluster.kill();
    await eventually('it is not reachable', async () => reachable.length === 2);
    expect([...target.mirrored.keys()]).toEqual(['shop/web']);
    await cluster.start();
    await eventually('it is reachable again', async () => reachable.length === 3);
    expect(reachable).toEqual(['yes', 'ConnectionError', 'yes']);
  });
});

describe('a target of which only some namespaces are read', () => {
  const refuse = (within: string, ...resources: readonly string[]) =>
    cluster.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ namespace: of, resource }) => of === within && (resources.length === 0 || resources.includes(resource)),
    });
  const lists = async (within: string): Promise<number> =>
    (await cluster.audit()).filter(({ verb, resource, namespace: of }) => {
      return verb === 'list' && resource === 'services' && of === within;
    }).length;

  beforeEach(() => {
    for (const name of ['bank', 'secret']) put(namespace(name));
    for (const within of ['shop', 'bank', 'secret']) put(service('web', { labels: EXPORTED, namespace: within }));
  });

  it('exports what is in these, and asks for no other', async () => {
    put(slice('web', { namespace: 'bank' }));
    const { target, reachable } = watching({ gateway: EXPORTED }, ['shop', 'bank']);
    await eventually('it is synced', async () => target.synced && reachable.length === 1);
    expect([...target.mirrored.keys()].sort()).toEqual(['bank/web', 'shop/web']);
    expect(target.mirrored.get('bank/web')?.mode).toBe('gateway');
    expect(target.mirrored.get('secret/web')).toBeUndefined();
    await eventually('the slice is known', async () => names(target, 'bank/web')?.join() === 'web-abcde');
    const asked = (await cluster.audit()).map((entry) => entry.namespace);
    expect(new Set(asked)).toEqual(new Set(['shop', 'bank']));
  });

  it('decides about those that can be read, while one is refused, and about that one once it can be (E4)', async () => {
    const release = refuse('bank');
    const { target, reachable, relisted } = watching({ gateway: EXPORTED }, ['shop', 'bank']);
    await eventually('it is told', async () => reachable.at(-1) === 'ApiError bank');
    await eventually('it is listed', async () => relisted() > 0);
    expect([
      target.mirrored.decides('shop/web'),
      target.mirrored.decides('shop/gone'),
      target.mirrored.decides('bank/web'),
    ]).toEqual([true, true, false]);
    release();
    await eventually(
      'the other is read',
      async () => reachable.at(-1) === 'yes' && target.mirrored.decides('bank/gone'),
    );
    expect([...target.mirrored.keys()].sort()).toEqual(['bank/web', 'shop/web']);
  });

  it('keeps what it knew of one that is refused later', async () => {
    const { target, reachable } = watching({ gateway: EXPORTED }, ['shop', 'bank']);
    await eventually('it is synced', async () => target.synced && target.mirrored.keys().size === 2);
    refuse('bank');
    await cluster.kill();
    await cluster.start();
    await eventually('it is told', async () => reachable.at(-1) === 'ApiError bank');
    expect([...target.mirrored.keys()].sort()).toEqual(['bank/web', 'shop/web']);
  });

  it('that all refuse decides nothing', async () => {
    for (const within of ['shop', 'bank']) refuse(within);
    const { target, reachable, relisted } = watching({ gateway: EXPORTED }, ['shop', 'bank']);
    await eventually('it is told', async () => reachable.at(-1) === 'ApiError shop bank');
    expect([target.synced, target.mirrored.decides('shop/web'), relisted()]).toEqual([false, false, 0]);
  });

  it('counts all of them anew before a list takes anything away (E6)', async () => {
    const { target, relisted } = watching({ gateway: EXPORTED }, ['shop', 'bank']);
    await eventually('it is synced', async () => target.synced && target.mirrored.keys().size === 2);
    const before = await lists('shop');
    const barred = cluster.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ namespace: of, verb }) => of === 'shop' && verb === 'list',
    });
    const listed = relisted();
    // Only the watch of one namespace has to list anew.
    const expired = cluster.faults.refuse({
      failure: { kind: 'status', code: 410 },
      match: ({ namespace: of, verb }) => of === 'bank' && verb === 'watch',
    });
    cluster.faults.dropWatches(({ namespace: of }) => of === 'bank');
    cluster.store.delete('v1', 'Service', 'bank', 'web');
    await eventually('the loss is known', async () => target.mirrored.get('bank/web') === undefined);
    expect([target.mirrored.decides('bank/web'), target.mirrored.decides('shop/web')]).toEqual([false, true]);
    expect(relisted()).toBe(listed);
    barred();
    expired();
    await eventually('all are counted', async () => target.mirrored.decides('bank/web') && relisted() > listed);
    expect(await lists('shop')).toBeGreaterThan(before);
  });
});

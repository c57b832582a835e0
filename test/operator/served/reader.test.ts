import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import { parseTargetKubeconfig } from '../../../operator/kube/access/secret-kubeconfig.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import type { Selection } from '../../../operator/served/selection.ts';
import { NOTHING_EXPORTED } from '../../../operator/target/aspect.ts';
import { TargetReader } from '../../../operator/served/reader.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { EXPORTED, namespace, selectorOf, service } from '../../support/builders.ts';
import { recordingLog } from '../link/recorded.ts';

const HALF = 'token-of-half';
const SELECTION: Selection = { selector: selectorOf(EXPORTED) };
const OTHER: Selection = { selector: selectorOf({ pick: 'me' }) };

let cluster: SimulatedCluster;
/** Where other credentials lead to. */
let other: SimulatedCluster;
let running: TargetReader | undefined;
const clients: KubeClient[] = [];
const stop = new AbortController();

beforeEach(async () => {
  cluster = await startSimulated({ name: 'west' });
  other = await startSimulated({ name: 'west-2', users: [{ name: 'half', token: HALF }] });
  for (const each of [cluster, other]) each.store.upsert({ ...namespace('shop') });
  cluster.store.upsert({ ...namespace('bank') });
});
afterEach(async () => {
  running?.stop();
  await Promise.all(clients.splice(0).map((each) => each.close()));
  await Promise.all([cluster, other].map((each) => each.stop()));
});

const kept = (client: KubeClient): KubeClient => {
  clients.push(client);
  return client;
};

/** A client of the other cluster. */
const clientOf = async (kubeconfig: string): Promise<KubeClient> => {
  const parsed = parseTargetKubeconfig(kubeconfig);
  if (!parsed.ok) throw new Error('not a kubeconfig of the other cluster');
  return kept(new KubeClient(parsed.value.access, { userAgent: 'other', fieldManager: 'test' }));
};

const putExported = (name: string): void => void cluster.store.upsert({ ...service(name, { labels: EXPORTED }) });

/** West as it is read, and what was reported of it. */
async function reading(selection = SELECTION) {
  const lines: string[] = [];
  /** Keys of the exports, at each list. */
  const lists: (readonly string[])[] = [];
  const reachable: boolean[] = [];
  let heardMs = 0;
  const nothing = (): void => undefined;
  const log = recordingLog(lines);
  const reader: TargetReader = new TargetReader({
    link: 'west',
    selection,
    exports: { ...NOTHING_EXPORTED, use: () => undefined, whenRead: () => Promise.resolve() },
    env: { tuning: { targetTimings: { backoff: { baseMs: 20, capMs: 100 } }, labelCopyMs: 0 }, log },
    signal: stop.signal,
    listener: {
      serviceChanged: nothing,
      memberChanged: nothing,
      serviceAnswered: nothing,
      memberAnswered: nothing,
      unanswered: nothing,
      malformed: nothing,
      relisted: () => lists.push([...reader.mirrored.keys()].sort()),
      reachable: (obstacle) => reachable.push(obstacle === undefined),
      heard: () => (heardMs = Date.now()),
    },
  });
  running = reader;
  const access = await sourceAccess({ kubeconfig: cluster.kubeconfigFile });
  const client = kept(new KubeClient(access, { userAgent: 'test', fieldManager: 'test' }));
  void reader.adopt(client, () => undefined, stop.signal);
  const listed = (): Promise<unknown> => eventually('it is listed', async () => lists.length > 0);
  const exported = (): readonly string[] => [...(reader.target?.mirrored.keys() ?? [])].sort();
  const lastHeard = (): number => heardMs;
  return { reader, lines, lists, reachable, listed, exported, lastHeard };
}

/** What becomes of a client that is offered. */
function offer(reader: TargetReader, offered: KubeClient, signal = new AbortController().signal) {
  const problems: string[] = [];
  const adopted = reader.adopt(offered, (error) => problems.push(String(error)), signal);
  return { problems, adopted };
}

it('notes when the target is heard', async () => {
  const startMs = Date.now();
  const { listed, lastHeard } = await reading();
  await listed();
  await eventually('it was heard', async () => lastHeard() >= startMs);
  const before = lastHeard();
  putExported('web');
  await eventually('it was heard again', async () => lastHeard() > before);
});

describe('other credentials (E2)', () => {
  test.each([
    ['watch Services', { services: ['list'], endpointslices: ['list', 'watch'] }, /watch services/],
    ['list EndpointSlices', { services: ['list', 'watch'], endpointslices: ['watch'] }, /list endpointslices/],
    ['watch EndpointSlices', { services: ['list', 'watch'], endpointslices: ['list'] }, /watch endpointslices/],
  ])('that may not %s do not replace those that may', async (_, verbs, problem) => {
    allow(other, verbs);
    putExported('web');
    const { reader, exported, listed } = await reading();
    await listed();
    const { adopted, problems } = offer(reader, await clientOf(other.kubeconfigFor(HALF)));
    await eventually('the problem is reported', async () => problems.some((each) => problem.test(each)));
    putExported('later');
    await eventually('the old ones are still in use', async () => exported().includes('shop/later'));
    allow(other, { services: ['list', 'watch'], endpointslices: ['list', 'watch'] });
    expect(await adopted).toBe(true);
    expect(exported()).toEqual([]);
  });

  it('that may read fewer namespaces do not replace those that may read more', async () => {
    const barred = other.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ namespace: within }) => within === 'bank',
    });
    const { reader, exported, listed } = await reading({ ...SELECTION, targetNamespaces: ['shop', 'bank'] });
    await listed();
    const { adopted, problems } = offer(reader, await clientOf(other.kubeconfig));
    await eventually('the problem is reported', async () => problems.length > 0);
    putExported('later');
    await eventually('the old ones are still in use', async () => exported().includes('shop/later'));
    barred();
    expect(await adopted).toBe(true);
  });

  describe('that may read fewer namespaces, while the old ones have yet to read by changed selectors (L108)', () => {
    const targetNamespaces = ['shop', 'bank'];
    const match = ({ namespace: within }: { readonly namespace?: string }): boolean => within === 'bank';
    const failure = { kind: 'status', code: 403 } as const;

    /**
     * Changes the selectors while the new ones are refused the bank, and resolves once they could be in use.
     * @param slow makes the old ones slow to read the bank
     */
    async function changing(slow: () => void) {
      const barred = other.faults.refuse({ failure, match });
      const { reader, exported, listed } = await reading({ ...SELECTION, targetNamespaces });
      await listed();
      const { adopted, problems } = offer(reader, await clientOf(other.kubeconfig));
      await eventually('the problem is reported', async () => problems.length > 0);
      slow();
      reader.select({ ...OTHER, targetNamespaces });
      let isInUse = false;
      void adopted.then(() => (isInUse = true));
      const refusals = async (): Promise<number> =>
        (await other.audit()).filter(({ code, uri }) => code === 403 && uri.includes('pick')).length;
      await eventually('they are refused again and again', async () => (await refusals()) > 20);
      return { barred, exported, adopted, isInUse: () => isInUse };
    }

    it('wait until that is known', async () => {
      const failing = { kind: 'hang', effect: 'before' } as const;
      const { barred, exported, adopted, isInUse } = await changing(
        () => void cluster.faults.refuse({ failure: failing, match }),
      );
      expect(isInUse()).toBe(false);
      cluster.store.upsert({ ...service('later', { labels: { pick: 'me' } }) });
      await eventually('the old ones are still in use', async () => exported().includes('shop/later'));
      barred();
      expect(await adopted).toBe(true);
    });

    it('replace them once they are known to read no more', async () => {
      const { adopted } = await changing(() => {
        cluster.faults.latency(500, match);
        cluster.faults.refuse({ failure, match });
      });
      expect(await adopted).toBe(true);
    });
  });

  it('that may read fewer namespaces do not replace those that may read more once the target was down for both (L109)', async () => {
    const of = (agent: string) => (request: { readonly namespace?: string; readonly userAgent: string }) =>
      request.namespace === 'bank' && request.userAgent === agent;
    const barred = cluster.faults.refuse({ failure: { kind: 'status', code: 403 }, match: of('other') });
    const { reader, reachable, exported, listed } = await reading({ ...SELECTION, targetNamespaces: ['shop', 'bank'] });
    await listed();
    const { adopted, problems } = offer(reader, await clientOf(cluster.kubeconfig));
    await eventually('the problem is reported', async () => problems.length > 0);
    await cluster.kill();
    await eventually('the target cannot be read', async () => reachable.at(-1) === false && problems.length > 1);
    // The old ones take longer to come back.
    cluster.faults.refuse({ failure: { kind: 'hang', effect: 'before' }, match: of('test') });
    await cluster.start();
    let isInUse = false;
    void adopted.then(() => (isInUse = true));
    const refusals = async (): Promise<number> => (await cluster.audit()).filter(({ code }) => code === 403).length;
    const before = await refusals();
    await eventually('they are refused again and again', async () => (await refusals()) > before + 20);
    expect(isInUse).toBe(false);
    putExported('later');
    await eventually('the old ones are still in use', async () => exported().includes('shop/later'));
    barred();
    expect(await adopted).toBe(true);
  });

  it('replace those that work no more, with what they may read', async () => {
    other.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ namespace: within }) => within === 'bank',
    });
    const { reader, lines, lists, reachable, listed } = await reading({
      ...SELECTION,
      targetNamespaces: ['shop', 'bank'],
    });
    await listed();
    await eventually('the target can be read', async () => reachable.at(-1) === true);
    await cluster.kill();
    await eventually('the target cannot be read', async () => reachable.at(-1) === false);
    const before = lists.length;
    expect(await offer(reader, await clientOf(other.kubeconfig)).adopted).toBe(true);
    expect([lists.length > before, lines]).toEqual([true, ['info the target is read with new credentials']]);
  });

  it('that are superseded, or tried when the session ends, are given up', async () => {
    other.faults.refuse({ failure: { kind: 'status', code: 503 } });
    const { reader, listed } = await reading();
    await listed();
    const newer = new AbortController();
    const offered = await clientOf(other.kubeconfig);
    const superseded = offer(reader, offered, newer.signal);
    newer.abort();
    expect(await superseded.adopted).toBe(false);
    const last = offer(reader, offered);
    reader.stop();
    expect(await last.adopted).toBe(false);
  });

  it('that are being tried are tried with other selectors once the Link has them', async () => {
    const release = other.faults.refuse({ failure: { kind: 'status', code: 503 } });
    other.store.upsert({ ...service('picked', { labels: { pick: 'me' } }) });
    const { reader, exported, listed } = await reading();
    await listed();
    const { adopted } = offer(reader, await clientOf(other.kubeconfig));
    reader.select(OTHER);
    release();
    expect(await adopted).toBe(true);
    expect(exported()).toEqual(['shop/picked']);
  });
});

it('reports nothing of what the former selectors select', async () => {
  putExported('web');
  const { reader, reachable, lists, listed } = await reading();
  // Replaced before it has listed anything.
  expect(reader.isReadOtherwise(OTHER)).toBe(true);
  reader.select(OTHER);
  expect(reader.isReadOtherwise(OTHER)).toBe(false);
  await listed();
  await eventually('the target can be read', async () => reachable.length > 0);
  expect([lists.flat(), reachable]).toEqual([[], [true]]);
});

/** Lets user half do this with Services and EndpointSlices, and nothing else. */
function allow(of: SimulatedCluster, verbs: { readonly services: string[]; readonly endpointslices: string[] }): void {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = [
    { apiGroups: [''], resources: ['services'], verbs: verbs.services },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: verbs.endpointslices },
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'half' };
  const subjects = [{ kind: 'User', name: 'half', apiGroup: 'rbac.authorization.k8s.io' }];
  of.store.upsert({ apiVersion, kind: 'ClusterRole', metadata: { name: 'half' }, rules });
  of.store.upsert({ apiVersion, kind: 'ClusterRoleBinding', metadata: { name: 'half' }, roleRef, subjects });
}

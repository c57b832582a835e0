import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { Exports, type ExportsOptions } from '../../../operator/served/exports.ts';
import { type AspectListener, isConfirmed } from '../../../operator/target/aspect.ts';
import { Progress } from '../../../operator/mirrors/progress.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import { PROBE_KEY } from '../../../operator/source/owner.ts';
import type { RequestInfo } from '../../cluster/simulated/request.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import {
  EXPORTED,
  EXPORTED_FLAT,
  namespace,
  selectorOf,
  service,
  slice,
  statefulSlice,
} from '../../support/builders.ts';
import { RecordedReport, recordingLog } from '../link/recorded.ts';

let cluster: SimulatedCluster;
let client: KubeClient;
const stop = new AbortController();

beforeEach(async () => {
  cluster = await startSimulated({ name: 'west' });
  for (const name of ['shop', 'bank']) put(namespace(name));
  client = await connectTo(cluster);
});
afterEach(async () => {
  running?.stop();
  await client.close();
  await cluster.stop();
});

const connectTo = async ({ kubeconfigFile: kubeconfig }: SimulatedCluster): Promise<KubeClient> =>
  new KubeClient(await sourceAccess({ kubeconfig }), { userAgent: 'test', fieldManager: 'test' });

let running: Exports | undefined;
const put = (object: ObjectRef) => cluster.store.upsert({ ...object });
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `web-${index}`);
const putAll = (names: readonly string[], labels = EXPORTED) => names.forEach((name) => put(service(name, { labels })));
const keysOf = (names: readonly string[]) => names.map((name) => `shop/${name}`);

const NOTHING: OwnedObjects = { services: [], endpoints: [], slices: [] };

const SETTINGS: ExportsOptions['settings'] = {
  name: 'west',
  uid: 'u1',
  cluster: 'west',
  serviceExports: false,
  credentialsSecret: 'credentials-west',
  selector: selectorOf(EXPORTED),
};

/** Exports of west that are read, and mirrors that just record what they are asked for. */
function reading(
  mirrored: readonly string[] = [],
  settings = SETTINGS,
  lines: string[] = [],
  owned: ReadonlyMap<string, OwnedObjects> = new Map(),
  maxMirrors = 40,
  federated: readonly string[] = [],
  graceMs = 60_000,
  maxWrittenMib = 64,
) {
  const report = new RecordedReport();
  const metrics = createMetrics({ process: false });
  const progress = new Progress('west', metrics);
  const added: string[] = [];
  const lists: (readonly string[])[] = [];
  const withdrawn: string[] = [];
  /** What the federated Services were given: keys, and lists. */
  const members: string[] = [];
  /** The clients that ServiceExports were to be read with. */
  const clientsUsed: KubeClient[] = [];
  const mirrors: AspectListener = {
    seen: (key) => progress.changed(key),
    changed: (keys) => added.push(...keys),
    listed: () => {
      const keys = exports.target.mirrored.keys();
      lists.push([...keys].sort());
      if (!progress.hasBegun) progress.start(keys);
    },
    restarted: () => progress.restart(),
  };
  const env = {
    config: {
      endpointMirrorGraceMs: graceMs,
      enableHeadlessServices: true,
      maxMirrors,
      maxEndpointMirrors: 40,
      maxServicePods: 1000,
      maxWrittenMib,
    },
    tuning: { targetTimings: { backoff: { baseMs: 20, capMs: 100 } }, labelCopyMs: 0 },
    source: {
      keysOf: () => new Set(mirrored),
      membershipsOf: () => new Set(federated),
      ownedBy: ({ key }: { key: string }) => owned.get(key) ?? NOTHING,
    },
    claims: { withdraw: ({ key }: { key: string }) => withdrawn.push(key) },
    metrics,
    log: recordingLog(lines),
  } as unknown as Environment;
  const exports = new Exports({ settings, env, report, reachable: () => undefined, signal: stop.signal });
  vi.spyOn(exports.reading, 'use').mockImplementation((used) => void clientsUsed.push(used));
  for (const each of [exports.target.mirrored, exports.target.pods]) each.subscribe(mirrors);
  exports.target.members.subscribe({
    changed: (keys) => void members.push(...keys),
    listed: () => void members.push('listed'),
    restarted: () => void members.push('restarted'),
  });
  running = exports;
  void exports.adopt(client, () => undefined, stop.signal);
  const listed = (): Promise<unknown> =>
    eventually('they are listed', async () => lists.length > 0 && progress.hasBegun);
  return { exports, report, progress, added, members, clientsUsed, lists, withdrawn, listed };
}

describe('objects that the API does not allow (G3, L50)', () => {
  it('are reported at once, then once a minute with their number', async () => {
    const lines: string[] = [];
    for (const name of numbered(200))
      put({ ...slice(name), endpoints: [{ addresses: ['10.244.0.1'], hostname: 7 }] } as ObjectRef);
    const { exports, report, lists } = reading([], SETTINGS, lines);
    await eventually('Services and slices are listed', async () => lists.length === 2);
    exports.stop();
    expect(report.events).toHaveLength(2);
    expect(report.events[0]).toMatch(/^Warning MalformedObject ignored an object that the target sent: EndpointSlice /);
    expect(report.events[1]).toMatch(/, and 198 more$/);
    expect(lines.filter((line) => line.includes('does not allow'))).toHaveLength(2);
  });
});

describe('the exports of a target', () => {
  it('are keys to be reconciled, as they come and go; what is gone claims nothing (A7)', async () => {
    putAll(['web']);
    const { exports, added, withdrawn, listed } = reading();
    expect(exports.target.observe('shop/web')).toMatchObject({ target: undefined, decidable: false });
    await listed();
    expect(exports.target.observe('shop/web')).toMatchObject({ target: { mode: 'gateway' }, decidable: true });
    expect(withdrawn).toEqual([]);
    added.length = 0;
    cluster.store.delete('v1', 'Service', 'shop', 'web');
    await eventually('its claims are withdrawn', async () => withdrawn.length > 0);
    expect([withdrawn, added]).toEqual([['shop/web'], expect.arrayContaining(['shop/web'])]);
    expect(exports.target.observe('shop/web')).toMatchObject({ target: undefined, decidable: true });
  });

  it('that the policy of the Link does not admit are reported as they come, change and go, and not between (N1, G1)', async () => {
    putAll(['web']);
    const { exports, report, added, listed } = reading([], { ...SETTINGS, importPolicy: { names: ['web'] } });
    await listed();
    /** Waits until nothing more comes of what has happened. */
    const quiet = async (): Promise<void> => {
      const known = [report.statusChanges, added.length];
      await sleep(100);
      if (known[0] !== report.statusChanges || known[1] !== added.length) await quiet();
    };
    /** Changes a Service, and returns whether the status was to be written for it, and what it says then. */
    const after = async (name: string, change: () => void): Promise<readonly unknown[]> => {
      await quiet();
      const before = report.statusChanges;
      added.length = 0;
      change();
      await eventually('it was seen', async () => added.includes(`shop/${name}`));
      await quiet();
      return [report.statusChanges > before, exports.target.notAdmitted().map(({ key }) => key)];
    };
    const labels = { ...EXPORTED, tag: 'a' };
    expect(await after('ssh', () => putAll(['ssh']))).toEqual([true, ['shop/ssh']]);
    expect(await after('ssh', () => putAll(['ssh'], labels))).toEqual([false, ['shop/ssh']]);
    expect(await after('web', () => putAll(['web'], labels))).toEqual([false, ['shop/ssh']]);
    expect(await after('ssh', () => cluster.store.delete('v1', 'Service', 'shop', 'ssh'))).toEqual([true, []]);
  });

  it('are made known to everybody who derives from them', async () => {
    const { exports, added, lists, listed } = reading();
    const heard: string[] = [];
    const others: string[] = [];
    exports.target.mirrored.subscribe({ changed: (keys) => heard.push(...keys), listed: () => heard.push('listed') });
    exports.target.exports.subscribe({ changed: (keys) => others.push(...keys) });
    await listed();
    heard.length = added.length = lists.length = 0;
    putAll(['web']);
    await eventually('both know it', async () => added.includes('shop/web') && heard.includes('shop/web'));
    expect([heard.filter((each) => each !== 'listed'), others]).toEqual([added, []]);
    expect(heard.filter((each) => each === 'listed')).toHaveLength(lists.length);
  });

  it('claim their names until the target has confirmed that they are gone (A7, L66)', async () => {
    putAll(['web', 'gone']);
    const isFlat = ({ query }: { readonly query: URLSearchParams }) =>
      (query.get('labelSelector') ?? '').includes('remote-discovery');
    const settings = { ...SETTINGS, remoteDiscoverySelector: selectorOf(EXPORTED_FLAT) };
    const { exports, added, withdrawn, listed } = reading(keysOf(['web', 'gone']), settings);
    await listed();
    cluster.faults.silenceWatches(isFlat);
    added.length = 0;
    putAll(['web'], EXPORTED_FLAT);
    await eventually('it has left the watch, and the target has been asked', async () => added.length >= 2);
    cluster.store.delete('v1', 'Service', 'shop', 'gone');
    await eventually('the claims of the other are withdrawn', async () => withdrawn.length > 0);
    expect(withdrawn).toEqual(['shop/gone']);
    expect(exports.target.observe('shop/web')).toMatchObject({ target: undefined, isConfirmed: false });
    expect(exports.target.observe('shop/gone')).toMatchObject({ target: undefined, isConfirmed: true });
    exports.target.mirrored.forget('shop/gone');
    expect(exports.target.observe('shop/gone').isConfirmed).toBe(false);
    exports.target.mirrored.ask('shop/gone');
    await eventually('it is asked again', async () => exports.target.observe('shop/gone').isConfirmed);
  });

  it('are certainly gone once the target has said so, until they are seen again (J3, L170)', async () => {
    putAll(['web', 'gone']);
    const { exports, listed } = reading(keysOf(['web', 'gone']));
    await listed();
    const isGone = (): boolean => exports.target.observe('shop/gone').isCertainlyGone;
    const failure = { kind: 'status', code: 503 } as const;
    const asked = ({ selected }: RequestInfo): boolean => selected === 'gone';
    const answer = cluster.faults.refuse({ failure, match: asked });
    cluster.store.delete('v1', 'Service', 'shop', 'gone');
    await eventually('it is not seen', async () => exports.target.observe('shop/gone').target === undefined);
    expect(isGone()).toBe(false);
    answer();
    await eventually('the target has answered', async () => isGone());
    // An answer is good for one deletion, and the next may wait for long.
    exports.target.mirrored.forget('shop/gone');
    expect(isGone()).toBe(true);
    putAll(['gone']);
    await eventually('it is seen', async () => exports.target.observe('shop/gone').target !== undefined);
    cluster.faults.refuse({ failure, match: asked });
    cluster.store.delete('v1', 'Service', 'shop', 'gone');
    await eventually('it is not seen', async () => exports.target.observe('shop/gone').target === undefined);
    expect(isGone()).toBe(false);
  });

  it('report once that the target does not answer for a Service', async () => {
    putAll(['web']);
    const lines: string[] = [];
    const { withdrawn, listed } = reading(keysOf(['web']), SETTINGS, lines);
    await listed();
    const answer = cluster.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ selected }) => selected === 'web',
    });
    cluster.store.delete('v1', 'Service', 'shop', 'web');
    await eventually('it is reported', async () => lines.length > 0);
    answer();
    await eventually('its claims are withdrawn', async () => withdrawn.length > 0);
    expect(lines).toEqual([
      'warn the target does not answer whether it still exports the Service; nothing of it is deleted before',
    ]);
  });

  it('are held when a list takes too many, with an Event once, until that is confirmed (E6)', async () => {
    const mirrored = keysOf(numbered(12));
    const { exports, report, added, listed } = reading(mirrored);
    await listed();
    expect(exports.target.held.count).toBe(12);
    expect(exports.target.observe('shop/web-3').decidable).toBe(false);
    expect(report.events).toEqual([
      'Warning PruneHeld the target no longer lists 12 of 12 mirrored Services, pods, members of federated Services and exports, or the settings no longer ask for them; what they have here stays',
    ]);
    added.length = 0;
    exports.update({ ...SETTINGS, confirmPrune: '12' });
    expect([exports.target.held.count, added]).toEqual([12, []]);
    exports.update({ ...SETTINGS, confirmPrune: exports.target.held.confirmation! });
    expect([exports.target.held.count, added.length]).toEqual([0, 12]);
    expect(exports.target.observe('shop/web-3').decidable).toBe(true);
  });

  it('are not held anew by who leads next once they are confirmed, by the Lease (E6)', async () => {
    const first = reading(keysOf(numbered(12)));
    await first.listed();
    const { confirmation } = first.exports.target.held;
    first.exports.update({ ...SETTINGS, confirmPrune: confirmation! });
    const annotations = first.exports.leaseNotes(3, undefined) as Record<string, string>;
    const lease = { metadata: { name: 'a', annotations }, spec: { leaseTransitions: 3 } };
    // Eleven are left when it is stopped.
    for (const confirmPrune of [confirmation!, 'another']) {
      const next = reading(keysOf(numbered(12)).slice(1), { ...SETTINGS, confirmPrune });
      next.exports.leaseNotes(4, lease);
      await next.listed();
      expect(next.exports.target.held.count).toBe(confirmPrune === 'another' ? 11 : 0);
      next.exports.stop();
    }
  });

  it('need another confirmation once the Link asks for something else, on the Lease as well (E6, L295)', async () => {
    const first = reading(keysOf(numbered(12)));
    await first.listed();
    const confirmPrune = first.exports.target.held.confirmation!;
    first.exports.update({ ...SETTINGS, confirmPrune });
    const recorded = () => {
      const annotations = first.exports.leaseNotes(3, undefined) as Record<string, string>;
      return { metadata: { name: 'a', annotations }, spec: { leaseTransitions: 3 } };
    };
    const before = recorded();
    const other = { ...SETTINGS, targetNamespaces: ['shop'], confirmPrune };
    first.exports.update(other);
    await eventually('they are held', async () => first.exports.target.held.count === 12);
    expect(recorded().metadata.annotations['linkspan.dev/confirmed']).toBeUndefined();
    for (const lease of [before, recorded()]) {
      const next = reading(keysOf(numbered(12)), other);
      next.exports.leaseNotes(4, lease);
      await next.listed();
      expect(next.exports.target.held.count).toBe(12);
      next.exports.stop();
    }
  });

  it('are not confirmed by a Lease that is taken once the target exports them again (E6, L296)', async () => {
    const first = reading(keysOf(numbered(12)));
    await first.listed();
    const confirmPrune = first.exports.target.held.confirmation!;
    first.exports.update({ ...SETTINGS, confirmPrune });
    const annotations = first.exports.leaseNotes(3, undefined) as Record<string, string>;
    first.exports.stop();
    putAll(numbered(12));
    const next = reading(keysOf(numbered(12)), { ...SETTINGS, confirmPrune });
    await next.listed();
    next.exports.leaseNotes(4, { metadata: { name: 'a', annotations }, spec: { leaseTransitions: 3 } });
    expect(next.exports.target.held.confirmed().size).toBe(0);
  });

  it('are not held for ten, with which the probe Service does not count (E6)', async () => {
    const { exports, listed } = reading([...keysOf(numbered(10)), PROBE_KEY]);
    await listed();
    expect(exports.target.held.count).toBe(0);
  });

  it('are held no longer when the target has them again (E6)', async () => {
    const { exports, listed } = reading(keysOf(numbered(12)));
    await listed();
    putAll(['web-0']);
    await eventually('it is exported again', async () => exports.target.held.count === 11);
    expect(exports.target.observe('shop/web-0').decidable).toBe(true);
  });

  it('go once what was confirmed is all that is held (E6, L89)', async () => {
    const mirrored = keysOf(numbered(12));
    const { exports, listed } = reading(mirrored);
    await listed();
    const confirmPrune = exports.target.held.confirmation!;
    mirrored.push('shop/web-12');
    exports.namespaceRead('shop');
    exports.update({ ...SETTINGS, confirmPrune });
    expect(exports.target.held.count).toBe(13);
    mirrored.pop();
    exports.namespaceRead('shop');
    expect(exports.target.held.count).toBe(0);
    expect(exports.target.observe('shop/web-3').decidable).toBe(true);
  });

  it('in a namespace whose mirrors can be read later are counted then (E6)', async () => {
    const mirrored: string[] = [];
    const { exports, listed } = reading(mirrored);
    await listed();
    mirrored.push(...keysOf(numbered(12)));
    exports.namespaceRead('bank');
    expect(exports.target.held.count).toBe(0);
    exports.namespaceRead('shop');
    expect(exports.target.held.count).toBe(12);
  });
});

describe('the members of federated Services', () => {
  const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
  const { selector: _, ...rest } = SETTINGS;
  const OF_MEMBERS = { ...rest, federatedServiceSelector: selectorOf(MEMBER) };

  it('are told of as they come and go, and are no exports (I1)', async () => {
    putAll(['web'], MEMBER);
    const { exports, added, members } = reading([], OF_MEMBERS);
    expect(exports.target.observeMember('shop/web')).toMatchObject({ service: undefined, isKnown: false });
    await eventually('they are listed', async () => members.includes('listed'));
    expect(exports.target.observeMember('shop/web')).toMatchObject({
      service: { metadata: { name: 'web' } },
      isKnown: true,
    });
    expect([exports.readsNothing, exports.target.mirrored.keys().size, [...exports.target.members.keys()]]).toEqual([
      false,
      0,
      ['shop/web'],
    ]);
    members.length = 0;
    cluster.store.delete('v1', 'Service', 'shop', 'web');
    await eventually('it is gone', async () => members.includes('shop/web'));
    expect(exports.target.observeMember('shop/web')).toMatchObject({ service: undefined, isKnown: true });
    members.length = 0;
    expect(exports.target.isMemberReady('shop/web')).toBeUndefined();
    expect(isConfirmed(exports.target.members, 'shop/web')).toBe(false);
    await eventually('the target has answered', async () => members.includes('shop/web'));
    expect([isConfirmed(exports.target.members, 'shop/web'), added]).toEqual([true, []]);
    exports.target.members.forget('shop/web');
    expect(isConfirmed(exports.target.members, 'shop/web')).toBe(false);
    expect(exports.target.isMemberReady('shop/web')).toBe(false);
  });

  it('have ready endpoints or not, which only a gateway needs to know (I5)', async () => {
    putAll(['web'], MEMBER);
    put(slice('web', { labels: MEMBER }));
    const { exports, members } = reading([], OF_MEMBERS);
    await eventually('they are listed', async () => members.includes('listed'));
    expect(exports.target.observeMember('shop/web').anyReady).toBeUndefined();
    members.length = 0;
    exports.update({ ...OF_MEMBERS, gateway: { addresses: ['203.0.113.1'], port: 4143 } });
    expect([exports.target.observeMember('shop/web').isKnown, members]).toEqual([false, ['restarted']]);
    await eventually('it is ready', async () => exports.target.observeMember('shop/web').anyReady === true);
    put(slice('web', { labels: MEMBER, endpoints: [{ ready: false }] }));
    await eventually('it is not', async () => exports.target.observeMember('shop/web').anyReady === false);
  });

  it('are those of another selector at once when the Link has another (E5)', async () => {
    putAll(['web'], MEMBER);
    putAll(['db'], { team: 'a' });
    const { exports, members } = reading([], OF_MEMBERS);
    await eventually('they are listed', async () => members.includes('listed'));
    exports.update({ ...OF_MEMBERS, federatedServiceSelector: selectorOf({ team: 'a' }) });
    await eventually('the others are', async () => exports.target.observeMember('shop/db').service !== undefined);
    expect(exports.target.observeMember('shop/web')).toMatchObject({ service: undefined, isKnown: true });
  });

  it('are held if a list takes too many away, and released when that is confirmed (E6, I6)', async () => {
    const { exports, members, report } = reading([], OF_MEMBERS, [], undefined, 40, keysOf(numbered(12)));
    await eventually('they are listed', async () => members.includes('listed'));
    expect([exports.target.held.count, exports.target.observeMember('shop/web-3').isKnown]).toEqual([12, false]);
    expect(report.events.at(-1)).toMatch(/^Warning PruneHeld the target no longer lists 12 of 12 /);
    members.length = 0;
    exports.update({ ...OF_MEMBERS, confirmPrune: exports.target.held.confirmation! });
    expect([exports.target.held.count, members.length, exports.target.observeMember('shop/web-3').isKnown]).toEqual([
      0,
      12,
      true,
    ]);
  });

  it('count with what is written for the Link, those that are members first (E10)', async () => {
    const annotations = { note: 'x'.repeat(200_000) };
    for (const name of numbered(6)) put(service(name, { labels: MEMBER, annotations }));
    const { exports, members, report } = reading(
      [],
      { ...OF_MEMBERS },
      [],
      undefined,
      40,
      keysOf(['web-5']),
      60_000,
      1,
    );
    await eventually('they are listed', async () => members.includes('listed'));
    const joined = () =>
      numbered(6)
        .filter((name) => exports.target.observeMember(`shop/${name}`).isWithinBytes)
        .join(' ');
    expect(joined()).toBe('web-0 web-1 web-2 web-3 web-4 web-5');
    expect(joined()).toBe('web-0 web-1 web-2 web-3 web-4 web-5');
    for (const name of ['db', 'cache']) put(service(name, { labels: MEMBER, annotations }));
    await eventually('they are known', async () => exports.target.members.keys().size === 8);
    expect(exports.target.observeMember('shop/db').isWithinBytes).toBe(false);
    expect(exports.beyondLimits?.message).toContain('beyond 1 MiB (--max-written-mib)');
    members.length = 0;
    for (const name of ['web-0', 'web-1']) cluster.store.delete('v1', 'Service', 'shop', name);
    await eventually('it is tried again when there is room', async () => {
      joined();
      return members.includes('shop/db') && exports.target.observeMember('shop/db').isWithinBytes;
    });
    expect(report.events).toEqual([]);
  });

  it('are joined as far as the limit allows, those that are members first (E10)', async () => {
    putAll(['b', 'c', 'd'], MEMBER);
    const { exports, members } = reading([], OF_MEMBERS, [], undefined, 2, keysOf(['d']));
    await eventually('they are listed', async () => members.includes('listed'));
    const joined = (...names: readonly string[]) =>
      names.map((name) => exports.target.observeMember(`shop/${name}`).isAdmitted);
    expect(joined('b', 'c', 'd')).toEqual([true, false, true]);
    expect(exports.beyondLimits?.message).toMatch(/exports 3 members of federated Services, of which 2 are served/);
  });
});

describe('more than the limits allow (E10)', () => {
  it('are served as far as they are mirrored, then the oldest; the others once there is room', async () => {
    putAll(['b', 'c', 'd']);
    const mirrored = new Map([['shop/d', { ...NOTHING, services: [service('d-west')] }]]);
    const { exports, added, listed, report } = reading(keysOf(['d']), SETTINGS, [], mirrored, 2);
    await listed();
    const served = (...names: readonly string[]) =>
      names.map((name) => exports.target.observe(`shop/${name}`).isAdmitted);
    expect(served('b', 'c', 'd')).toEqual([true, false, true]);
    expect(exports.beyondLimits).toMatchObject({ status: 'False', reason: 'LimitExceeded' });
    expect(exports.beyondLimits?.message).toMatch(/exports 3 Services, of which 2 are served \(--max-mirrors\)/);
    const changes = report.statusChanges;
    added.length = 0;
    cluster.store.delete('v1', 'Service', 'shop', 'b');
    await eventually(
      'there is room',
      async () => served('c', 'd').every(Boolean) && exports.beyondLimits === undefined,
    );
    await eventually('it is reconciled', async () => added.includes('shop/c') && report.statusChanges > changes);
  });

  it('are pods, too, whatever Service they are behind', async () => {
    const hosts = (of: string) => Array.from({ length: 30 }, (_, index) => `${of}-${index}`);
    for (const name of ['one', 'two']) {
      put(service(name, { labels: EXPORTED, headless: true }));
      put(statefulSlice(name, hosts(name)));
    }
    const { exports, listed } = reading();
    await listed();
    await eventually('slices are known', async () => exports.target.observe('shop/two').slices?.length === 1);
    await eventually('there are too many', async () => {
      return hosts('two').filter((host) => exports.target.observe('shop/two').admitsPod(host)).length === 10;
    });
    expect(hosts('one').every((host) => exports.target.observe('shop/one').admitsPod(host))).toBe(true);
    expect(exports.beyondLimits?.message).toContain('60 pods of headless Services, of which 40');
    exports.update({ ...SETTINGS, enableHeadlessServices: false });
    expect(exports.beyondLimits).toBeUndefined();
  });
});

describe('the pods of a headless Service', () => {
  const names = (count: number, from = 0) => Array.from({ length: count - from }, (_, index) => `set-${index + from}`);
  const mirrorOf = (hostname: string) => ({
    metadata: {
      namespace: 'shop',
      name: `${hostname}-west`,
      labels: { 'mirror.linkerd.io/headless-mirror-svc-name': 'set-west' },
      annotations: { 'mirror.linkerd.io/remote-svc-fq-name': `${hostname}.set.shop.svc.cluster.local` },
    },
    spec: { ports: [{ name: 'http', port: 8080 }] },
  });
  const ownedPods = (hostnames: readonly string[]) =>
    new Map([['shop/set', { ...NOTHING, services: hostnames.map(mirrorOf) }]]);
  const list = (hostnames: readonly string[]) => put(statefulSlice('set', hostnames));
  /** The exported Service `set`, with so many pods listed and mirrored. */
  async function readingPods(count: number, mirrored = names(count)) {
    put(service('set', { labels: EXPORTED, headless: true }));
    list(names(count));
    const read = reading(['shop/set'], SETTINGS, [], ownedPods(mirrored));
    await read.listed();
    const { exports } = read;
    await eventually('its slices are known', async () => exports.target.observe('shop/set').slices?.length === 1);
    const departed = () => exports.target.observe('shop/set').departed;
    return { ...read, departed };
  }
  /** The target lists slices anew, as they are now. */
  const relisting = () => cluster.faults.expireWatches();

  it('that a list of slices misses are held as Services are, and come back (L46)', async () => {
    const { exports, departed, report } = await readingPods(30);
    expect(departed().size).toBe(0);
    cluster.faults.wipe(({ kind }) => kind === 'EndpointSlice');
    relisting();
    await eventually('they are held', async () => exports.target.held.count === 30);
    await eventually('slices were looked for', async () => exports.target.observe('shop/set').slices !== undefined);
    expect([...departed().values()]).toEqual(Array(30).fill(Infinity));
    expect(report.events.at(-1)).toMatch(/^Warning PruneHeld the target no longer lists 30 of 31 mirrored/);
    list(names(30));
    await eventually('they are back', async () => exports.target.held.count === 0);
    expect(departed().size).toBe(0);
  });

  it('are held by two lists as by one (L46)', async () => {
    const { exports } = await readingPods(30);
    cluster.faults.wipe(({ kind }) => kind === 'EndpointSlice');
    cluster.store.upsert({ ...statefulSlice('set', names(14)) });
    relisting();
    await eventually('they are held', async () => exports.target.held.count === 16);
    cluster.faults.wipe(({ kind }) => kind === 'EndpointSlice');
    relisting();
    await eventually('the others are, too', async () => exports.target.held.count === 30);
  });

  it('go when the user confirms it', async () => {
    const { exports, departed, added } = await readingPods(10, names(30));
    await eventually('they are held', async () => exports.target.held.count === 20);
    added.length = 0;
    exports.update({ ...SETTINGS, confirmPrune: exports.target.held.confirmation! });
    expect([exports.target.held.count, added]).toEqual([0, ['shop/set']]);
    expect([...departed().values()].every((ms) => ms <= 60_000)).toBe(true);
  });

  it('are held when headless Services are not to be mirrored pod by pod any more, which then goes on (E6)', async () => {
    const { exports, added, departed, report } = await readingPods(30);
    const off = { ...SETTINGS, enableHeadlessServices: false };
    exports.update(off);
    const held = () => {
      const { isHeldByPod, decidable } = exports.target.observe('shop/set');
      return [exports.target.held.count, isHeldByPod, decidable];
    };
    expect(held()).toEqual([30, true, true]);
    expect(report.events.at(-1)).toMatch(/or the settings no longer ask for them/);
    // What a pod does meanwhile, or a list, changes nothing.
    list(names(29));
    await eventually('it is gone', async () => departed().size === 1);
    relisting();
    await eventually('slices are listed', async () => exports.target.observe('shop/set').slices?.length === 1);
    expect([held(), [...departed().values()]]).toEqual([[30, true, true], [Infinity]]);
    exports.update(SETTINGS);
    expect(held()).toEqual([1, false, true]);
    list(names(30));
    await eventually('it is back', async () => exports.target.held.count === 0);
    exports.update(off);
    expect(exports.target.held.count).toBe(30);
    added.length = 0;
    exports.update({ ...off, confirmPrune: exports.target.held.confirmation! });
    expect([held(), added]).toEqual([[0, false, true], ['shop/set']]);
  });

  it('are held at a start, too, and few are not (E6)', async () => {
    put(service('set', { labels: EXPORTED, headless: true }));
    list(names(30));
    const off = { ...SETTINGS, enableHeadlessServices: false };
    const many = reading(['shop/set'], off, [], ownedPods(names(30)));
    await many.listed();
    expect([many.exports.target.held.count, many.exports.target.observe('shop/set').isHeldByPod]).toEqual([30, true]);
    many.exports.stop();
    const few = reading(['shop/set'], off, [], ownedPods(names(10)));
    await few.listed();
    expect([few.exports.target.held.count, few.exports.target.observe('shop/set').isHeldByPod]).toEqual([0, false]);
  });

  it('are held when their Service is selected as flat, and nothing is decided about it (E6)', async () => {
    const { exports } = await readingPods(30);
    const { selector: _, ...none } = SETTINGS;
    exports.update({ ...none, remoteDiscoverySelector: selectorOf(EXPORTED) });
    await eventually('they are held', async () => exports.target.held.count === 30);
    const { target, decidable, isHeldByPod } = exports.target.observe('shop/set');
    expect([target?.mode, decidable, isHeldByPod]).toEqual(['remote-discovery', false, false]);
  });

  it('are not held if their Service becomes flat by itself', async () => {
    put(service('set', { labels: EXPORTED, headless: true }));
    list(names(30));
    const both = { ...SETTINGS, remoteDiscoverySelector: selectorOf(EXPORTED_FLAT) };
    const { exports, listed } = reading(['shop/set'], both, [], ownedPods(names(30)));
    await listed();
    await eventually('its slices are known', async () => exports.target.observe('shop/set').slices?.length === 1);
    put(service('set', { labels: { ...EXPORTED_FLAT }, headless: true }));
    await eventually('it is flat', async () => exports.target.observe('shop/set').target?.mode === 'remote-discovery');
    relisting();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([exports.target.held.count, exports.target.observe('shop/set').decidable]).toEqual([0, true]);
  });

  it('are not held while nothing is known of its slices', async () => {
    const release = cluster.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ resource }) => resource === 'endpointslices',
    });
    put(service('set', { labels: EXPORTED, headless: true }));
    list(names(30));
    const { exports, listed } = reading(['shop/set'], SETTINGS, [], ownedPods(names(30)));
    await listed();
    expect([exports.target.held.count, exports.target.observe('shop/set').slices]).toEqual([0, undefined]);
    release();
    await eventually('its slices are known', async () => exports.target.observe('shop/set').slices?.length === 1);
    expect(exports.target.held.count).toBe(0);
  });

  it('that a watch reports as gone are not held, however many there are, also when slices are listed then', async () => {
    const { exports, departed } = await readingPods(30);
    list([]);
    await eventually('they have gone', async () => departed().size === 30);
    relisting();
    const lists = async () => (await cluster.audit()).filter(({ verb }) => verb === 'list').length;
    const before = await lists();
    await eventually('slices are listed', async () => (await lists()) >= before + 3);
    expect(exports.target.held.count).toBe(0);
    expect([...departed().values()].every((ms) => ms > 0 && ms <= 60_000)).toBe(true);
  });

  it('are no longer held when the Service goes: its mirrors go with it', async () => {
    const { exports, report } = await readingPods(10, names(30));
    await eventually('they are held', async () => exports.target.held.count === 20);
    const changes = report.statusChanges;
    cluster.store.delete('v1', 'Service', 'shop', 'set');
    await eventually('none is held', async () => exports.target.held.count === 0);
    expect(report.statusChanges).toBeGreaterThan(changes);
  });

  it('keep their endpoint mirrors for a while once they are gone, counted from when they went (D11)', async () => {
    const { departed, added } = await readingPods(3);
    added.length = 0;
    list(names(2));
    await eventually('it is gone', async () => added.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([...departed().keys()]).toEqual(['set-2']);
    expect(departed().get('set-2')).toBeLessThan(60_000 - 10);
    list(names(3));
    await eventually('it is back', async () => departed().size === 0);
    list(names(2));
    await eventually('it is gone again', async () => departed().size === 1);
    expect(departed().get('set-2')).toBeGreaterThan(60_000 - 5_000);
  });
});

describe('a pod that is gone for longer than the grace period', () => {
  const pods = ['set-0', 'set-1'];
  const mirrorOf = (hostname: string) => ({
    metadata: {
      ...{ namespace: 'shop', name: `${hostname}-west` },
      labels: { 'mirror.linkerd.io/headless-mirror-svc-name': 'set-west' },
      annotations: { 'mirror.linkerd.io/remote-svc-fq-name': `${hostname}.set.shop.svc.cluster.local` },
    },
    spec: { ports: [{ name: 'http', port: 8080 }] },
  });
  const key = 'shop/set';
  async function gone() {
    put(service('set', { labels: EXPORTED, headless: true }));
    put(statefulSlice('set', pods));
    const owned = new Map([[key, { ...NOTHING, services: pods.map(mirrorOf) }]]);
    const read = reading([key], SETTINGS, [], owned, 40, [], 0);
    await read.listed();
    const seen = () => {
      const { departed, arePodsUnconfirmed } = read.exports.target.observe(key);
      return [[...departed.keys()], arePodsUnconfirmed];
    };
    await eventually('its slices are known', async () => read.exports.target.observe(key).slices?.length === 1);
    put(statefulSlice('set', ['set-0']));
    await eventually('it is gone', async () => seen()[1] === true);
    return { ...read, seen };
  }

  it('keeps its endpoint mirror until the target, asked for the pods, has answered (D5)', async () => {
    const { exports, added, seen } = await gone();
    expect(seen()).toEqual([['set-1'], true]);
    added.length = 0;
    exports.target.pods.ask(key);
    await eventually('the target has answered', async () => added.includes(key));
    expect(seen()).toEqual([[], false]);
    exports.target.pods.forget(key);
    expect(seen()).toEqual([['set-1'], true]);
  });

  it('has the target asked again if pods have come or gone since (D5)', async () => {
    const { exports, seen } = await gone();
    exports.target.pods.ask(key);
    await eventually('the target has answered', async () => seen()[1] === false);
    put(statefulSlice('set', pods));
    await eventually('it is back', async () => exports.target.observe(key).slices?.[0]?.endpoints?.length === 2);
    put(statefulSlice('set', ['set-0']));
    await eventually('it is gone again', async () => seen()[1] === true);
  });
});

describe('other credentials (E2)', () => {
  let other: SimulatedCluster;
  let offered: KubeClient;
  beforeEach(async () => {
    other = await startSimulated({ name: 'west-2' });
    other.store.upsert({ ...namespace('shop') });
    offered = await connectTo(other);
  });
  afterEach(async () => {
    await offered.close();
    await other.stop();
  });
  const adopt = (exports: Exports): Promise<boolean> =>
    exports.adopt(offered, () => undefined, new AbortController().signal);

  test.each([
    ['lower', 0],
    ['higher', 100],
  ])('that lead to another cluster, whose versions are %s, list everything anew (L45)', async (_, ahead) => {
    putAll(['both', 'old']);
    for (let count = 0; count < 50; count += 1) put(namespace(`n-${count}`));
    const { exports, lists, withdrawn, clientsUsed, listed } = reading(keysOf(['both', 'old']));
    await listed();
    for (const name of ['both', 'new']) other.store.upsert({ ...service(name, { labels: EXPORTED }) });
    for (let count = 0; count < ahead; count += 1) other.store.upsert({ ...namespace(`n-${count}`) });
    const adopted = adopt(exports);
    expect(clientsUsed).toEqual([client]);
    expect(await adopted).toBe(true);
    expect(clientsUsed).toEqual([client, offered]);
    expect([...exports.target.mirrored.keys()].sort()).toEqual(['shop/both', 'shop/new']);
    expect(lists.at(-1)).toEqual(['shop/both', 'shop/new']);
    expect(exports.target.observe('shop/old')).toMatchObject({ target: undefined, decidable: true });
    cluster.store.delete('v1', 'Service', 'shop', 'both');
    other.store.upsert({ ...service('later', { labels: EXPORTED }) });
    await eventually('the other cluster is followed', async () => exports.target.mirrored.keys().has('shop/later'));
    expect([exports.target.mirrored.keys().has('shop/both'), withdrawn]).toEqual([true, []]);
  });

  it('that lead to an empty cluster go through the guard (E6)', async () => {
    const names = numbered(12);
    putAll(names);
    const { exports, listed } = reading(keysOf(names));
    await listed();
    expect(exports.target.held.count).toBe(0);
    await adopt(exports);
    expect([exports.target.held.count, exports.target.observe('shop/web-3').decidable]).toEqual([12, false]);
  });
});

describe('other selectors of a Link', () => {
  const OTHER = { ...SETTINGS, selector: selectorOf({ pick: 'me' }) };

  it('are read instead, and what is exported begins anew (E5, A2)', async () => {
    putAll(['web']);
    put(service('picked', { labels: { pick: 'me' } }));
    const { exports, progress, lists, listed } = reading();
    await listed();
    exports.update(OTHER);
    expect(progress.hasBegun).toBe(false);
    await listed();
    expect(lists.at(-1)).toEqual(['shop/picked']);
    expect([...exports.target.mirrored.keys()]).toEqual(['shop/picked']);
  });

  it('count what went one by one under the former ones, too (E6)', async () => {
    const names = numbered(12);
    putAll(names);
    const { exports, withdrawn, listed } = reading(keysOf(names));
    await listed();
    for (const name of names) cluster.store.delete('v1', 'Service', 'shop', name);
    await eventually('all have gone', async () => withdrawn.length === 12);
    expect(exports.target.held.count).toBe(0);
    exports.update(OTHER);
    await listed();
    expect(exports.target.held.count).toBe(12);
  });

  it('are other namespaces too; a change of anything else reads nothing anew', async () => {
    putAll(['web']);
    put(service('safe', { namespace: 'bank', labels: EXPORTED }));
    const { exports, lists, progress, listed } = reading([], { ...SETTINGS, targetNamespaces: ['shop', 'bank'] });
    await eventually('both are listed', async () => lists.at(-1)?.length === 2);
    exports.update({ ...SETTINGS, targetNamespaces: ['shop', 'bank'] });
    expect(progress.hasBegun).toBe(true);
    exports.update({ ...SETTINGS, targetNamespaces: ['bank'] });
    await listed();
    expect(lists.at(-1)).toEqual(['bank/safe']);
  });
});

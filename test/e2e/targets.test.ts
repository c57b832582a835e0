/** Targets that are down, silent, restored or emptied: rules E4, E6 and H3 of behaviour.md. */
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backings } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { RequestInfo } from '../cluster/simulated/request.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, link, namespace, service, slice, statefulSlice } from '../support/builders.ts';
import {
  exportAllReady,
  exportHeadless,
  exportReady,
  exportService,
  findMirror,
  identitiesOf,
  untilGone,
  untilReady,
} from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { FAST, type TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

/** Longer than any deadline here: that a watch is made anew must not hide what a lesson is about. */
const PATIENT_MS = 150_000;
/** For the lessons about silence. */
const IMPATIENT_MS = 2_000;
/** For tests that await more than one slow thing. */
const LONG_MS = 180_000;

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(2, '0')}`);

const untilHeld = (clusters: TwoClusters, count: number) =>
  eventually(
    `${count} deletions are held back`,
    async () => {
      const held = await clusters.condition('PruneHeld');
      return held?.status === 'True' && held.message.includes(`confirm-prune="${count}-`) && held;
    },
    60_000,
  );

/** What confirms what a condition says is held. */
const confirmationIn = ({ message }: { readonly message: string }): string =>
  /confirm-prune="([^"]+)"/.exec(message)?.[1] ?? '';

const untilNothingHeld = (clusters: TwoClusters) =>
  eventually('nothing is held', async () => (await clusters.condition('PruneHeld'))?.status === 'False', 60_000);

/** Stands where an API server was: takes each connection and closes it at once. */
class ClosedDoor {
  knocks = 0;
  readonly #server: Server = createServer((socket) => {
    this.knocks += 1;
    socket.destroy();
  });

  async open(url: string): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(Number(new URL(url).port), '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

onEachBacking('a target', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  const startOperator = (idleTimeoutMs = PATIENT_MS): TestOperator =>
    clusters.operator({
      tuning: { targetTimings: { ...FAST.targetTimings, idleTimeoutMs }, requestTimeoutMs: 3_000 },
    });

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    operator = startOperator();
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  test('L22 E6 exports that are all gone when they are listed again are held, and live on when they come back', async () => {
    const names = numbered('restored', 12);
    await exportAllReady(clusters, names);
    const before = await identitiesOf(clusters, names);
    await operator.stop();
    await Promise.all(names.map((name) => clusters.west.delete(service(name))));
    operator = startOperator();
    await untilHeld(clusters, 12);
    expect((await clusters.condition('Ready'))?.status).toBe('False');
    await exportAllReady(clusters, ['single']);
    expect(await identitiesOf(clusters, names)).toEqual(before);

    await Promise.all(names.map((name) => exportService(clusters, name)));
    await untilNothingHeld(clusters);
    await clusters.ready();
    expect(await identitiesOf(clusters, names)).toEqual(before);
  });

  test('L46 E6 endpoint mirrors whose slices are missing from a list are held, and keep their ClusterIPs', async () => {
    const pods = numbered('sliced', 12);
    await exportHeadless(clusters, 'sliced', pods);
    const before = await identitiesOf(clusters, pods);
    await operator.stop();
    await clusters.west.delete(slice('sliced'));
    operator = startOperator();
    await untilHeld(clusters, 12);
    await exportAllReady(clusters, ['after-slices']);
    expect(await identitiesOf(clusters, pods)).toEqual(before);

    await clusters.west.apply(statefulSlice('sliced', pods));
    await untilNothingHeld(clusters);
    expect(await identitiesOf(clusters, pods)).toEqual(before);
    // What goes before the eyes of the operator is not held.
    await clusters.west.apply(statefulSlice('sliced', []));
    for (const pod of pods) await untilGone(clusters, pod);
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
    await clusters.west.delete(service('sliced'));
    await untilGone(clusters, 'sliced');
  });

  test('E10 a target that exports more than the limits allow keeps what is mirrored, and its Link reports it', async () => {
    await exportAllReady(clusters, ['within']);
    const before = await identitiesOf(clusters, ['within']);
    await operator.stop();
    operator = clusters.operator({ flags: { maxMirrors: '1', enableNamespaceCreation: true, maxNamespaces: '1' } });
    await exportService(clusters, 'beyond');
    const limited = await eventually('the Link reports it', async () => {
      const found = await clusters.condition('TargetWithinLimits');
      return found?.status === 'False' && found;
    });
    expect(limited.message).toContain('--max-mirrors');
    await eventually('the Service is refused', async () => {
      return (await clusters.mirrorCondition('beyond'))?.reason === 'LimitExceeded';
    });
    expect(await findMirror(clusters, 'beyond')).toBeUndefined();
    expect(await identitiesOf(clusters, ['within'])).toEqual(before);
    const others = (
      await clusters.west.list<ObjectRef>({ apiVersion: 'v1', kind: 'Service', namespace: 'shop' })
    ).filter(({ metadata }) => metadata.name !== 'beyond');
    await Promise.all(others.map(({ metadata }) => clusters.west.delete(service(metadata.name))));
    await untilReady(clusters, 'beyond');
    // The list of the next operator would hold what is still there.
    for (const { metadata } of others) await untilGone(clusters, metadata.name);
    await eventually('nothing is too much', async () => {
      return (await clusters.condition('TargetWithinLimits'))?.status === 'True';
    });

    await operator.stop();
    operator = clusters.operator({ flags: { enableNamespaceCreation: true, maxNamespaces: '1' } });
    for (const within of ['extra-a', 'extra-b']) {
      await clusters.west.apply(namespace(within));
      await exportService(clusters, 'web', { namespace: within });
    }
    const refused = await eventually('one of both is refused', async () => {
      const found = await Promise.all(['extra-a', 'extra-b'].map((of) => clusters.mirrorCondition('web', of)));
      return found.every((each) => each !== undefined) && found;
    });
    expect(refused.map((each) => each?.reason).sort()).toEqual(['LimitExceeded', 'Mirrored']);
    const [first, second] = refused[0]?.reason === 'Mirrored' ? ['extra-a', 'extra-b'] : ['extra-b', 'extra-a'];
    await clusters.west.delete(service('web', { namespace: first }));
    await clusters.east.delete(namespace(first));
    await eventually('the other one has room', async () => {
      return (await clusters.mirrorCondition('web', second))?.reason === 'Mirrored';
    });
    await clusters.west.delete(service('web', { namespace: second }));
    await operator.stop();
    operator = startOperator();
    await clusters.ready();
  });

  test('L22 E6 Services that are deleted one by one, however many, take their mirrors with them', async () => {
    const names = numbered('single', 12);
    await exportAllReady(clusters, names);
    for (const name of names) await clusters.west.delete(service(name));
    for (const name of names) await untilGone(clusters, name);
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
  });

  test('L30 H3 E4 a target that goes silent is noticed, its mirrors stay, and what it says afterwards is heard', async () => {
    await operator.stop();
    operator = startOperator(IMPATIENT_MS);
    await exportAllReady(clusters, ['quiet']);
    const before = await identitiesOf(clusters, ['quiet']);
    clusters.westCluster.pause();
    const condition = await eventually(
      'the silence is noticed',
      async () => {
        const found = await clusters.condition('TargetReachable');
        return found?.status === 'False' && found;
      },
      60_000,
    );
    expect(condition.message).not.toBe('');
    expect(await identitiesOf(clusters, ['quiet'])).toEqual(before);
    expect(await clusters.addresses('quiet-west')).toEqual([GATEWAY]);
    clusters.westCluster.resume();
    await exportAllReady(clusters, ['loud']);
    await clusters.ready();
    expect(await identitiesOf(clusters, ['quiet'])).toEqual(before);
    await operator.stop();
    operator = startOperator();
  });
});

onEachBacking('a target that is down', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
  });
  afterAll(() => clusters.stop());

  test(
    'L19 E4: a target that is down for very long when the operator starts is picked up when it comes',
    async () => {
      await clusters.link();
      operator = clusters.operator();
      await exportReady(clusters, 'lasting');
      await exportReady(clusters, 'ending');
      await eventually('the operator is at rest', () => operator.settled());
      await operator.stop();
      const before = await inventory(clusters);

      await clusters.westCluster.kill();
      const door = new ClosedDoor();
      await door.open(clusters.westCluster.server);
      operator = clusters.operator({
        tuning: { targetTimings: { ...FAST.targetTimings, backoff: { baseMs: 5, capMs: 20 } } },
      });
      const unreachable = await eventually('the target is reported unreachable', async () => {
        const condition = await clusters.condition('TargetReachable');
        return condition?.status === 'False' ? condition : undefined;
      });
      expect(unreachable.message).toMatch(/since \d{4}-\d\d-\d\dT/);
      // As many tries as there are in hours with the real backoff.
      await eventually('the target was tried over and over', async () => door.knocks > 500, 60_000);
      expect(await inventory(clusters)).toEqual(before);
      expect(operator.lines.filter(({ message }) => message.startsWith('the target cannot be read'))).toHaveLength(1);

      await door.close();
      await clusters.westCluster.start();
      await eventually('the target is back', () => clusters.west.get(service('lasting')));
      await clusters.west.delete(service('ending'));
      await exportReady(clusters, 'coming');
      await untilGone(clusters, 'ending');
      await eventually('it is reported reachable', async () => {
        return (await clusters.condition('TargetReachable'))?.status === 'True';
      });
      expect((await inventory(clusters))['Service shop/lasting-west']).toEqual(before['Service shop/lasting-west']);
    },
    LONG_MS,
  );
});

describe.runIf(backings().includes('simulated'))('a target that misbehaves [simulated]', () => {
  let clusters: TwoClusters;
  let east: SimulatedCluster;
  let west: SimulatedCluster;
  let operator: TestOperator;
  let empty: ReturnType<SimulatedCluster['store']['snapshot']>;
  /** @param capMs the longest wait between two tries of a write that fails */
  const startOperator = (capMs: number, idleTimeoutMs = PATIENT_MS): TestOperator =>
    clusters.operator({
      tuning: {
        targetTimings: { ...FAST.targetTimings, pageSize: 5, idleTimeoutMs },
        retryBackoff: { baseMs: 5, capMs },
      },
    });

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    east = clusters.eastCluster as SimulatedCluster;
    west = clusters.westCluster as SimulatedCluster;
    empty = west.store.snapshot();
    await clusters.link();
    operator = startOperator(50);
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  test('L22 E6 a target restored from an empty backup costs no mirror until the user confirms just that', async () => {
    const names = numbered('backup', 12);
    await exportAllReady(clusters, names);
    const before = await identitiesOf(clusters, names);
    west.faults.restoreFrom(empty);
    const all = confirmationIn(await untilHeld(clusters, 12));
    await exportAllReady(clusters, ['newcomer']);
    expect(await identitiesOf(clusters, names)).toEqual(before);

    const [back, gone] = [names.slice(0, 4), names.slice(4)];
    await Promise.all(back.map((name) => exportService(clusters, name)));
    const some = confirmationIn(await untilHeld(clusters, 8));
    const confirm = (what: string | null) =>
      clusters.east.patch(link('west'), { metadata: { annotations: { 'linkspan.dev/confirm-prune': what } } });
    await confirm(all);
    await exportAllReady(clusters, ['latecomer']);
    expect(await identitiesOf(clusters, names)).toEqual(before);
    await confirm(some);
    await Promise.all(gone.map((name) => untilGone(clusters, name)));
    await untilNothingHeld(clusters);
    expect(await identitiesOf(clusters, back)).toEqual(before.slice(0, 4));
    await confirm(null);
  });

  test('L22 E6 Services that went one by one are not held when a list comes before their mirrors are gone', async () => {
    const names = numbered('queued', 20);
    await exportAllReady(clusters, names);
    const tried = new Set<string | undefined>();
    const acceptDeletions = east.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ verb, resource, name }) => {
        const isMeant = verb === 'delete' && resource === 'services';
        if (isMeant) tried.add(name);
        return isMeant;
      },
    });
    for (const name of names) await clusters.west.delete(service(name));
    await eventually('all of them are about to go', () => Promise.resolve(tried.size === names.length));

    const isWatch = ({ verb, resource }: RequestInfo): boolean => verb === 'watch' && resource === 'services';
    const acceptWatches = west.faults.refuse({ failure: { kind: 'status', code: 503 }, match: isWatch });
    west.faults.dropWatches(isWatch);
    await exportService(clusters, 'listed');
    west.faults.compact();
    acceptWatches();
    await untilReady(clusters, 'listed');
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
    acceptDeletions();
    await Promise.all(names.map((name) => untilGone(clusters, name)));
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
  });

  test('L29 H3 a list that expires between two pages loses no mirror, and misses nothing that happened meanwhile', async () => {
    const names = numbered('paged', 12);
    await exportAllReady(clusters, names);
    const before = await identitiesOf(clusters, names);
    let pages = 0;
    const nextPages = west.faults.latency(0, ({ resource, verb, query }) => {
      if (resource !== 'services' || verb !== 'list' || !query.has('continue')) return false;
      pages += 1;
      if (pages === 1) {
        // The first page has been read: what it said is over before the second is asked for, and so is its token.
        west.store.delete('v1', 'Service', 'shop', names[0]!);
        west.store.upsert(service('paged-new', { labels: EXPORTED }) as never);
        west.store.upsert(slice('paged-new') as never);
        west.faults.compact();
      }
      return false;
    });
    // Time in which half a list, taken for a whole one, would do its harm.
    const slowly = west.faults.latency(
      300,
      ({ resource, verb }) => resource === 'services' && verb === 'list' && pages > 0,
    );
    west.faults.expireWatches();
    await untilReady(clusters, 'paged-new');
    await untilGone(clusters, names[0]!);
    nextPages();
    slowly();
    expect(pages).toBeGreaterThan(1);
    expect(await identitiesOf(clusters, names.slice(1))).toEqual(before.slice(1));
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
  });

  test('L30 H3 watches that go silent without closing are made anew', async () => {
    await operator.stop();
    operator = startOperator(50, IMPATIENT_MS);
    await exportAllReady(clusters, ['before-silence']);
    const before = await findMirror(clusters, 'before-silence');
    // Those that are open now hear nothing any more.
    west.faults.silenceWatches()();
    await exportAllReady(clusters, ['after-silence']);
    await clusters.west.delete(service('after-silence'));
    await untilGone(clusters, 'after-silence');
    expect(await findMirror(clusters, 'before-silence')).toMatchObject({ metadata: { uid: before!.metadata.uid } });
  });
});

/**
 * Lessons L22 to L30: defects that a rewrite is expected to repeat unless it tests for them (L21 is in
 * lessons-leases.test.ts). One clusters a backing, and one for the faults that only the simulated server has; each lesson
 * uses Services of its own, and where it needs another Link, one whose selector is its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backings } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { RequestInfo } from '../cluster/simulated/request.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import {
  EXPORTED,
  GATEWAY,
  link,
  LINKS_NAMESPACE,
  namespace,
  service,
  slice,
  statefulSlice,
} from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import { FAST, LASTING_LEASE, type TestOperator } from '../support/operator.ts';
import type { LinkObject, ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const WEST_CREDENTIALS = { clusterCredentialsSecret: 'cluster-credentials-west' };

/** Longer than any deadline here: that a watch is made anew must not hide what a lesson is about. */
const PATIENT_MS = 150_000;
/** For the lessons about silence. */
const IMPATIENT_MS = 2_000;

const identityOf = ({ metadata, spec }: ServiceObject): object => ({ uid: metadata.uid, clusterIP: spec.clusterIP });

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(2, '0')}`);

/** What the lessons do to a clusters, and see in it. */
const stepsIn = (clusters: () => TwoClusters) => {
  const mirror = async (name: string): Promise<ServiceObject | undefined> =>
    clusters().get<ServiceObject>('Service', `${name}-west`);
  const steps = {
    mirror,
    /** Exports a Service with a ready endpoint. */
    exportReady: async (name: string): Promise<void> => {
      await clusters().west.apply(service(name, { labels: EXPORTED }));
      await clusters().west.apply(slice(name));
    },
    untilReady: async (name: string): Promise<void> => {
      await eventually(
        `${name}-west is ready`,
        async () => (await clusters().addresses(`${name}-west`))?.join() === GATEWAY,
        60_000,
      );
    },
    untilGone: async (name: string): Promise<void> => {
      await eventually(`${name}-west is gone`, async () => (await mirror(name)) === undefined, 60_000);
    },
    mirrored: async (names: readonly string[]): Promise<void> => {
      await Promise.all(names.map(steps.exportReady));
      await Promise.all(names.map(steps.untilReady));
    },
    identities: (names: readonly string[]): Promise<readonly (object | undefined)[]> =>
      Promise.all(
        names.map(async (name) => {
          const found = await mirror(name);
          return found && identityOf(found);
        }),
      ),
    untilHeld: (count: number) =>
      eventually(
        `${count} deletions are held back`,
        async () => {
          const held = await clusters().condition('PruneHeld');
          return held?.status === 'True' && held.message.includes(`confirm-prune="${count}"`) && held;
        },
        60_000,
      ),
    untilNothingHeld: () =>
      eventually('nothing is held', async () => (await clusters().condition('PruneHeld'))?.status === 'False', 60_000),
  };
  return steps;
};

onEachBacking('lessons L22, L23, L25 to L28, L30', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  const { mirror, mirrored, exportReady, untilReady, untilGone, identities, untilHeld, untilNothingHeld } = stepsIn(
    () => clusters,
  );
  const answers = { addresses: ['2001:db8::10', '203.0.113.77', '203.0.113.20'] };

  const startOperator = (idleTimeoutMs = PATIENT_MS): TestOperator =>
    clusters.operator({
      flags: LASTING_LEASE,
      tuning: {
        resolve: async () => answers.addresses,
        targetTimings: { ...FAST.targetTimings, idleTimeoutMs },
        requestTimeoutMs: 3_000,
      },
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
    await mirrored(names);
    const before = await identities(names);
    await operator.stop();
    await Promise.all(names.map((name) => clusters.west.delete(service(name))));
    operator = startOperator();
    await untilHeld(12);
    expect((await clusters.condition('Ready'))?.status).toBe('False');
    await mirrored(['single']);
    expect(await identities(names)).toEqual(before);

    await Promise.all(names.map(exportReady));
    await untilNothingHeld();
    await clusters.ready();
    expect(await identities(names)).toEqual(before);
  });

  test('L22 E6 Services that are deleted one by one, however many, take their mirrors with them', async () => {
    const names = numbered('single', 12);
    await mirrored(names);
    for (const name of names) await clusters.west.delete(service(name));
    for (const name of names) await untilGone(name);
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
  });

  test('L25 C2 of a gateway behind a host name, only the addresses that this cluster can reach are used, sorted', async () => {
    const labels = { lesson: 'L25' };
    const selector = { matchLabels: labels };
    await clusters.east.apply(
      link('named', { ...WEST_CREDENTIALS, gatewayAddress: 'gateway.example.com', probeSpec: {}, selector }),
    );
    await clusters.west.apply(service('dual', { labels }));
    await clusters.west.apply(slice('dual', { labels }));
    const addresses = await eventually('the mirror has addresses', async () => {
      const found = await clusters.addresses('dual-named');
      return found !== undefined && found.length > 0 && found;
    });
    expect(addresses).toEqual(['203.0.113.20', '203.0.113.77']);
    await eventually('and that is well', async () => (await clusters.condition('Ready', 'named'))?.status === 'True');
    expect(await clusters.condition('GatewayResolved', 'named')).toMatchObject({ status: 'True' });
  });

  test('L26 D5 a pod that is not ready for a while keeps its endpoint mirror, and is listed only while ready', async () => {
    const pods = ['db-0', 'db-1', 'db-2'];
    const listed = () => clusters.addresses('db-west');
    await clusters.west.apply(service('db', { headless: true, labels: EXPORTED }));
    await clusters.west.apply(statefulSlice('db', pods));
    await eventually('all pods are listed', async () => (await listed())?.length === 3);
    const before = await identities(pods);

    for (const restarting of pods) {
      await clusters.west.apply(statefulSlice('db', pods, { notReady: [restarting] }));
      const ip = (await mirror(restarting))!.spec.clusterIP;
      await eventually(`${restarting} is not listed`, async () => {
        const now = await listed();
        return now?.length === 2 && !now.includes(ip);
      });
      expect(await identities(pods)).toEqual(before);
      await clusters.west.apply(statefulSlice('db', pods));
      await eventually(`${restarting} is listed`, async () => (await listed())?.includes(ip));
    }
    expect(await identities(pods)).toEqual(before);
  });

  test('L27 C3 what is edited by hand is put right: a mirror, its Endpoints, the probe Service', async () => {
    await mirrored(['edited']);
    const before = (await mirror('edited'))!;
    await clusters.east.patch(before, {
      metadata: { labels: { added: 'by-hand' }, annotations: { 'mirror.linkerd.io/remote-svc-fq-name': 'else.where' } },
      spec: { ports: [{ name: 'http', port: 81, protocol: 'TCP', targetPort: 8080 }] },
    });
    await eventually('the mirror is as it was', async () => {
      const { metadata, spec } = (await mirror('edited'))!;
      return (
        spec.ports[0]?.port === 80 &&
        metadata.labels?.['added'] === undefined &&
        metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name'] === 'edited.shop.svc.cluster.local'
      );
    });
    expect(identityOf((await mirror('edited'))!)).toEqual(identityOf(before));

    const endpoints = (await clusters.get('Endpoints', 'edited-west'))!;
    await clusters.east.patch(endpoints, { subsets: [{ addresses: [{ ip: '203.0.113.66' }], ports: [{ port: 1 }] }] });
    await untilReady('edited');
    await clusters.east.delete(endpoints);
    await untilReady('edited');
    expect((await clusters.get('Endpoints', 'edited-west'))!.metadata.uid).not.toBe(endpoints.metadata.uid);
  });

  test.each([
    ['Service', 'gone-west', 'shop'],
    ['Endpoints', 'gone-west', 'shop'],
    ['Service', 'probe-west', LINKS_NAMESPACE],
    ['Endpoints', 'probe-west', LINKS_NAMESPACE],
  ])('L27 C3 %s %s deleted by hand is there again at once', async (kind, name, within) => {
    await mirrored(['gone']);
    const before = await eventually<KubeObject>('it is there', () => clusters.get(kind, name, within));
    await clusters.east.delete(before);
    await eventually('it is there again', async () => {
      const now = await clusters.get(kind, name, within);
      return now !== undefined && now.metadata.uid !== before.metadata.uid;
    });
    await untilReady('gone');
  });

  test('L28 E7 a Link with a probe that makes no sense says so, is left alone, and harms no other', async () => {
    const wrong = {
      zero: ['period', { period: '0s' }],
      letters: ['period', { period: 'abc' }],
      never: ['failureThreshold', { failureThreshold: '0' }],
    } as const;
    for (const [name, [field, probe]] of Object.entries(wrong)) {
      const selector = { matchLabels: EXPORTED };
      const probeSpec = { path: '/ready', port: '4191', period: '100ms', ...probe };
      await clusters.east.apply(link(name, { ...WEST_CREDENTIALS, selector, probeSpec }));
      const condition = await eventually(`Link ${name} is judged`, async () => {
        const found = await clusters.condition('Accepted', name);
        return found?.status === 'False' && found;
      });
      expect(condition).toMatchObject({ reason: 'InvalidLink' });
      expect(condition.message).toContain(`spec.probeSpec.${field}`);
      expect(condition.message).toContain(Object.values(probe)[0]);
    }
    await mirrored(['beside']);
    await clusters.ready();
    for (const name of Object.keys(wrong)) {
      expect(await clusters.get('Service', `beside-${name}`)).toBeUndefined();
      expect(await clusters.get('Service', `probe-${name}`, LINKS_NAMESPACE)).toBeUndefined();
    }
    await clusters.east.patch(link('letters'), { spec: { probeSpec: { period: '1s' } } });
    await eventually('a Link put right is served', () => clusters.get('Service', 'beside-letters'));
    for (const name of Object.keys(wrong)) await clusters.east.delete(link(name));
    await eventually(
      'and gone with its Link',
      async () => (await clusters.get('Service', 'beside-letters')) === undefined,
    );
  });

  test('L30 H3 E4 a target that goes silent is noticed, its mirrors stay, and what it says afterwards is heard', async () => {
    await operator.stop();
    operator = startOperator(IMPATIENT_MS);
    await mirrored(['quiet']);
    const before = await identities(['quiet']);
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
    expect(await identities(['quiet'])).toEqual(before);
    expect(await clusters.addresses('quiet-west')).toEqual([GATEWAY]);
    clusters.westCluster.resume();
    await mirrored(['loud']);
    await clusters.ready();
    expect(await identities(['quiet'])).toEqual(before);
    await operator.stop();
    operator = startOperator();
  });

  test('L23 G2 a target with 4,000 exported Services leaves a status that fits into etcd, written in few batches', async () => {
    const count = 4_000;
    await clusters.west.apply(namespace('crowd'));
    await clusters.eastCluster.clearAudit();
    // Their namespace is missing here: each one is a failure with a message, the longest there is to say.
    const names = numbered('crowded-service-with-a-long-name', count);
    await concurrently(names, 32, (name) =>
      clusters.west.create(service(name, { namespace: 'crowd', labels: EXPORTED, selector: null })),
    );
    const found = await eventually(
      'all are counted',
      async () => {
        const now = await clusters.get<LinkObject>('Link', 'west', LINKS_NAMESPACE);
        return (now?.status?.mirrors?.failed ?? 0) >= count && now;
      },
      120_000,
    );
    expect(JSON.stringify(found).length).toBeLessThan(1.5 * 1024 * 1024);
    const entries = found?.status?.mirrorServices ?? [];
    expect(entries).toHaveLength(500);
    expect(entries.every(({ conditions }) => conditions[0]?.status === 'False')).toBe(true);
    const { total, ready, failed } = found.status!.mirrors!;
    expect(total).toBe(ready + failed);
    const statusWrites = (await clusters.writes()).filter((write) => write.includes('links/status'));
    expect(statusWrites.length).toBeLessThan(count / 10);
  }, 240_000);
});

describe.runIf(backings().includes('simulated'))('lessons L22, L24, L29, L30 [simulated]', () => {
  let clusters: TwoClusters;
  let east: SimulatedCluster;
  let west: SimulatedCluster;
  let operator: TestOperator;
  let empty: ReturnType<SimulatedCluster['store']['snapshot']>;
  const { mirror, mirrored, exportReady, untilReady, untilGone, identities, untilHeld, untilNothingHeld } = stepsIn(
    () => clusters,
  );

  /** @param capMs the longest wait between two tries of a write that fails */
  const startOperator = (capMs: number, idleTimeoutMs = PATIENT_MS): TestOperator =>
    clusters.operator({
      flags: LASTING_LEASE,
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

  test('L22 E6 a target restored from an empty backup costs no mirror until the user confirms how many', async () => {
    const names = numbered('backup', 12);
    await mirrored(names);
    const before = await identities(names);
    west.faults.restoreFrom(empty);
    await untilHeld(12);
    await mirrored(['newcomer']);
    expect(await identities(names)).toEqual(before);

    const [back, gone] = [names.slice(0, 4), names.slice(4)];
    await Promise.all(back.map(exportReady));
    await untilHeld(8);
    const confirm = (count: string | null) =>
      clusters.east.patch(link('west'), { metadata: { annotations: { 'linkspan.dev/confirm-prune': count } } });
    await confirm('12');
    await mirrored(['latecomer']);
    expect(await identities(names)).toEqual(before);
    await confirm('8');
    await Promise.all(gone.map(untilGone));
    await untilNothingHeld();
    expect(await identities(back)).toEqual(before.slice(0, 4));
    await confirm(null);
  });

  test('L22 E6 Services that went one by one are not held when a list comes before their mirrors are gone', async () => {
    const names = numbered('queued', 20);
    await mirrored(names);
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
    await exportReady('listed');
    west.faults.compact();
    acceptWatches();
    await untilReady('listed');
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
    acceptDeletions();
    await Promise.all(names.map(untilGone));
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
  });

  test.each([500, 503, 403, 422])(
    'L24 H4 a write refused with %i over and over is said in status, holds up no other, and is made once accepted',
    async (code) => {
      const refusals = 40;
      let refused = 0;
      east.faults.refuse({
        failure: { kind: 'status', code, message: 'admission webhook "policy.example.com" denied the request' },
        match: ({ verb, resource, name }) => {
          const meant = verb === 'patch' && resource === 'services' && name === `denied-${code}-west`;
          if (meant) refused += 1;
          return meant;
        },
        times: refusals,
      });
      await exportReady(`denied-${code}`);
      const condition = await eventually('it is said', async () => {
        const found = await clusters.mirrorCondition(`denied-${code}`);
        return found?.status === 'False' && found;
      });
      expect(condition.message).toContain('policy.example.com');
      await mirrored([`beside-${code}`]);
      await untilReady(`denied-${code}`);
      expect(refused).toBeGreaterThanOrEqual(refusals);
      await eventually('and said', async () => (await clusters.mirrorCondition(`denied-${code}`))?.status === 'True');
    },
  );

  test('L24 H4 a refused write is made at once when the target Service changes, however long the next try is off', async () => {
    await operator.stop();
    operator = startOperator(300_000);
    const accept = east.faults.refuse({
      failure: { kind: 'status', code: 403, message: 'admission webhook "policy.example.com" denied the request' },
      match: ({ verb, resource, name }) => verb === 'patch' && resource === 'services' && name === 'policy-west',
    });
    await exportReady('policy');
    await eventually('it is said', async () => (await clusters.mirrorCondition('policy'))?.status === 'False');
    accept();
    await clusters.west.patch(service('policy'), { metadata: { labels: { team: 'shop' } } });
    await untilReady('policy');
    await operator.stop();
    operator = startOperator(50);
  });

  test('L29 H3 a list that expires between two pages loses no mirror, and misses nothing that happened meanwhile', async () => {
    const names = numbered('paged', 12);
    await mirrored(names);
    const before = await identities(names);
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
      1_500,
      ({ resource, verb }) => resource === 'services' && verb === 'list' && pages > 0,
    );
    west.faults.expireWatches();
    await untilReady('paged-new');
    await untilGone(names[0]!);
    nextPages();
    slowly();
    expect(pages).toBeGreaterThan(1);
    expect(await identities(names.slice(1))).toEqual(before.slice(1));
    expect((await clusters.condition('PruneHeld'))?.status).toBe('False');
  });

  test('L30 H3 watches that go silent without closing are made anew', async () => {
    await operator.stop();
    operator = startOperator(50, IMPATIENT_MS);
    await mirrored(['before-silence']);
    const before = await mirror('before-silence');
    // Those that are open now hear nothing any more.
    west.faults.silenceWatches()();
    await mirrored(['after-silence']);
    await clusters.west.delete(service('after-silence'));
    await untilGone('after-silence');
    expect(await mirror('before-silence')).toMatchObject({ metadata: { uid: before!.metadata.uid } });
  });
});

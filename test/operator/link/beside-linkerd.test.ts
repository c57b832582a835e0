/**
 * I7: federated Services beside Linkerd's own controllers and its local mirror, whichever comes first, and whoever holds
 * which Lease. The sessions are played by the test, the local member is the operator's.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALWAYS_GONE } from '../../../operator/target/aspect.ts';
import type { TargetParty } from '../../../operator/federation/observed.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { Federations } from '../../../operator/federation/federations.ts';
import { LocalMember } from '../../../operator/federation/local-member.ts';
import type { Service } from '../../../operator/kube/objects.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { LINKS_NAMESPACE, service, slice } from '../../support/builders.ts';
import type { OpenCluster } from '../../simulation/linkerd-lease.ts';
import { LinkerdFederation } from '../../simulation/linkerd-federation.ts';
import { randomOf } from '../../simulation/world/random.ts';
import { member, target, throughGateway } from '../federation/observed.ts';
import { Stage } from './stage.ts';

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const LOCAL = 'multicluster.linkerd.io/local-discovery';
const LEASE = 'local-service-mirror-write';
const CLUSTERS = ['a', 'b', 'c'] as const;
type Cluster = (typeof CLUSTERS)[number];

interface Live extends ObjectRef {
  readonly metadata: ObjectRef['metadata'] & {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}

/** No two are of one age: each of Linkerd's controllers would take its own for the oldest, and they fight. */
const bornAt = (link: string): string => `2026-01-0${'abc'.indexOf(link) + 1}T00:00:00Z`;
const linkObject = (name: string) => ({
  apiVersion: 'multicluster.linkerd.io/v1alpha3',
  kind: 'Link',
  metadata: { name, namespace: LINKS_NAMESPACE, creationTimestamp: bornAt(name) },
});

const isMember = (service: Pick<KubeObject, 'metadata'> | Service | undefined): boolean =>
  service?.metadata.labels?.['mirror.linkerd.io/federated'] === 'member';

describe("beside Linkerd's controllers (I7)", () => {
  let stage: Stage;
  let env: Environment;
  let local: LocalMember;
  let federations: Federations;
  let stop: AbortController | undefined;
  let running: Promise<void>;
  /** The Services `web` of each target cluster. */
  let there: Map<Cluster, Service>;
  let reasons: Map<string, string | undefined>;
  let gateways: boolean;
  let linkerds: Readonly<Record<Cluster | 'local', LinkerdFederation>>;

  beforeEach(async () => {
    stage = await Stage.start({
      flags: { leaseDuration: '3s', renewDeadline: '2s' },
      tuning: { retryBackoff: { baseMs: 5, capMs: 20 }, conflictRetryMs: 10 },
    });
    there = new Map(CLUSTERS.map((cluster) => [cluster, member(cluster)]));
    reasons = new Map();
    gateways = false;
    const { store } = stage.east;
    const here: OpenCluster = {
      get: (apiVersion, kind, within, name) =>
        kind === 'Link' ? linkObject(name) : store.get(apiVersion, kind, within, name),
      list: (...of) => store.list(...of),
      put: (object) => void store.upsert(object as never),
      remove: (...of) => store.delete(...of),
    };
    const of = (link: Cluster | undefined): LinkerdFederation =>
      new LinkerdFederation({
        ...{ here, link, namespace: LINKS_NAMESPACE, nowMs: () => performance.now() },
        there: link === undefined ? here : { list: () => servicesOf(link) },
      });
    linkerds = { a: of('a'), b: of('b'), c: of('c'), local: of(undefined) };
  });
  afterEach(async () => {
    await end();
    await stage.stop();
  });

  const servicesOf = (cluster: Cluster) => {
    const found = there.get(cluster);
    return found === undefined ? [] : [{ apiVersion: 'v1', kind: 'Service', ...found } as KubeObject];
  };
  const holder = (name: string): string => {
    const lease = stage.east.store.get('coordination.k8s.io/v1', 'Lease', LINKS_NAMESPACE, name);
    return (lease as { readonly spec?: { readonly holderIdentity?: string } } | undefined)?.spec?.holderIdentity ?? '';
  };
  const isTheirs = (cluster: string): boolean => holder(`service-mirror-write-${cluster}`).startsWith('linkerd');
  const party = (cluster: Cluster): TargetParty => {
    const knowledge = isTheirs(cluster) ? 'anothers' : 'known';
    const seniority = { createdAt: bornAt(cluster), name: cluster };
    const service = isMember(there.get(cluster)) ? there.get(cluster) : undefined;
    const options = { service, knowledge, seniority } as const;
    return gateways ? throughGateway(cluster, options) : target(cluster, options);
  };
  const start = async (): Promise<void> => {
    env = await stage.environment();
    local = new LocalMember({ env, events: { record: () => undefined } });
    federations = new Federations({
      env,
      local,
      mayHaveLink: () => true,
      isLinked: () => true,
      seniorityOf: () => undefined,
      selecting: () => [],
    });
    for (const cluster of CLUSTERS) {
      federations.join({
        cluster,
        keys: () => ['shop/web'],
        observe: (key) => (key === 'shop/web' ? party(cluster) : { ...party(cluster), service: undefined }),
        members: ALWAYS_GONE,
        mayWrite: () => true,
        report: (key, status) => key === 'shop/web' && reasons.set(cluster, status?.reason),
      });
    }
    stop = new AbortController();
    running = federations.run(stop.signal);
    local.start(federations);
    await eventually('the local member is known', async () => local.observe('shop/web').knowledge === 'known');
  };
  const end = async (): Promise<void> => {
    if (stop === undefined) return;
    stop.abort();
    stop = undefined;
    await running;
    await local.stop();
  };
  const live = (): Live | undefined =>
    stage.east.store.get('v1', 'Service', 'shop', 'web-federated') as Live | undefined;
  const entries = (): readonly [string | undefined, string | undefined] => {
    const { [REMOTE]: remote, [LOCAL]: here } = live()?.metadata.annotations ?? {};
    return [remote, here];
  };
  const shows = (remote: string | undefined, here: string | undefined) =>
    eventually(`${remote} and ${here} are shown`, async () => entries().join() === [remote, here].join());
  /** Whether the operator has heard of all that there is in its cluster. */
  const isSeen = (): boolean => {
    const web = stage.east.store.get('v1', 'Service', 'shop', 'web') as Live | undefined;
    const seen = local.observe('shop/web').service?.metadata.resourceVersion;
    return (
      seen === (isMember(web) ? web?.metadata.resourceVersion : undefined) &&
      env.source.federation('shop/web').live?.metadata.resourceVersion === live()?.metadata.resourceVersion &&
      local.observe('shop/web').isHeld === (holder(LEASE) === 'linkspan-0')
    );
  };
  /** Everybody has looked at everything, and nobody has found anything to do. */
  const isAtRest = async (): Promise<void> => {
    await eventually('nobody writes', async () => {
      const before = live()?.metadata.resourceVersion;
      if (!isSeen()) return false;
      for (const each of Object.values(linkerds)) each.act();
      federations.addAll();
      await federations.idle();
      return live()?.metadata.resourceVersion === before;
    });
  };
  const act = (...who: readonly (Cluster | 'local')[]): readonly boolean[] => who.map((each) => linkerds[each].act());

  it('what they have written stays when we come, and what they release is ours', async () => {
    stage.put(service('web', { labels: { ...MEMBER, owner: 'here' } }));
    expect(act('b', 'a', 'local')).toEqual([true, true, true]);
    expect(entries()).toEqual(['web@b,web@a', 'web']);
    const { uid } = live()!.metadata;
    await start();
    await shows('web@a,web@b,web@c', 'web');
    await isAtRest();
    expect(live()!.metadata.labels).toEqual({ owner: 'here', 'mirror.linkerd.io/mirrored-service': 'true' });
    expect(holder(LEASE)).toBe('linkerd-local-mirror');

    linkerds.local.stop();
    await eventually('its Lease is ours', async () => holder(LEASE) === 'linkspan-0');
    stage.put(service('web'));
    await shows('web@a,web@b,web@c', undefined);
    expect(act('local')).toEqual([false]);
    there.delete('b');
    linkerds.b.stop();
    stage.lease('b', 'linkspan-0');
    federations.addAll();
    await shows('web@a,web@c', undefined);
    await isAtRest();
    expect(live()!.metadata.uid).toBe(uid);
  });

  it('what we have written stays when they come, and what we give up is theirs', async () => {
    stage.put(service('web', { labels: { ...MEMBER, owner: 'here' } }));
    for (const cluster of CLUSTERS) stage.lease(cluster, 'linkspan-0');
    await start();
    await shows('web@a,web@b,web@c', 'web');
    const { uid } = live()!.metadata;
    expect(act('a', 'b', 'c', 'local')).toEqual([false, false, false, false]);
    await isAtRest();

    stage.lease('b', '');
    expect(act('b')).toEqual([true]);
    there.set('b', member('b', {}, { labels: {} }));
    expect(act('b')).toEqual([true]);
    await isAtRest();
    expect(entries()).toEqual(['web@a,web@c', 'web']);
    there.set('b', member('b'));
    act('b');
    await isAtRest();
    expect(entries()[0]?.split(',').sort()).toEqual(['web@a', 'web@b', 'web@c']);

    await end();
    expect(holder(LEASE)).toBe('');
    expect(act('local')).toEqual([true]);
    stage.put(service('web'));
    act('local');
    expect(entries()[1]).toBeUndefined();
    expect(live()!.metadata.uid).toBe(uid);
  });

  it('the local entry is theirs as soon as they have its Lease, and ours again when they give it up', async () => {
    stage.put(service('web', { labels: MEMBER }));
    await start();
    await shows('web@a,web@b,web@c', 'web');
    // As if we had been cut off for so long that it expired.
    stage.lease('', 'linkerd-local-mirror', undefined, LEASE);
    await eventually('we know of it', async () => !local.observe('shop/web').isHeld);
    stage.put(service('web'));
    await eventually('it is a member no longer', async () => local.observe('shop/web').service === undefined);
    there.delete('c');
    federations.addAll();
    await shows('web@a,web@b', 'web');
    act('local');
    await shows('web@a,web@b', undefined);
    await isAtRest();
    stage.put(service('web', { labels: MEMBER }));
    linkerds.local.stop();
    await shows('web@a,web@b', 'web');
  });

  it('a Service in gateway shape is safe from their local mirror while we hold its Lease, and is not made otherwise', async () => {
    gateways = true;
    for (const cluster of CLUSTERS) stage.lease(cluster, 'linkspan-0');
    stage.put(service('web'));
    stage.put(slice('web', { labels: {} }));
    await start();
    await eventually('it is there', async () => live() !== undefined);
    expect([act('local'), entries()]).toEqual([[false], [undefined, undefined]]);
    await isAtRest();
    expect(live()).toBeDefined();

    await end();
    expect(act('local')).toEqual([true]);
    expect(live()).toBeUndefined();

    await start();
    await eventually('all wait', async () => CLUSTERS.every((each) => reasons.get(each) === 'WaitingForLease'));
    await isAtRest();
    expect(live()).toBeUndefined();
    linkerds.local.stop();
    await eventually('it is made', async () => live() !== undefined);
    expect(act('local')).toEqual([false]);
    await eventually('all are in', async () => CLUSTERS.every((each) => reasons.get(each) === 'Mirrored'));
  });

  /** What is wrong with the federated Service while nobody has anything to do. */
  const wrong = (): readonly string[] => {
    const broken: string[] = [];
    const must = (holds: boolean, what: string): void => {
      if (!holds) broken.push(what);
    };
    const [remote, here] = entries();
    const listed = new Set((remote ?? '').split(',').filter((each) => each !== ''));
    const numbers = new Set((live() as { spec?: Service['spec'] } | undefined)?.spec?.ports?.map(({ port }) => port));
    for (const cluster of CLUSTERS) {
      const service = there.get(cluster);
      const wants = isMember(service);
      const own = new Set(service?.spec?.ports?.map(({ port }) => port));
      const isIn = listed.delete(`web@${cluster}`);
      if (isTheirs(cluster)) must(!wants || isIn, `Linkerd has lost ${cluster}`);
      else
        must(isIn === (wants && [...numbers].every((port) => own.has(port))), `${cluster} is ${isIn ? '' : 'not '}in`);
    }
    must(listed.size === 0, `nobody is ${[...listed].join()}`);
    const web = stage.east.store.get('v1', 'Service', 'shop', 'web') as Live | undefined;
    const wants = isMember(web);
    // What vanished before their local mirror was there stays (N5).
    const isOver = web === undefined && holder(LEASE) !== 'linkspan-0';
    must(isOver || here === (wants ? 'web' : undefined), `the local Service is ${here === undefined ? 'not ' : ''}in`);
    if (wants) must(live()?.metadata.labels.owner === 'here', 'labels are not those of the local Service');
    must(live() === undefined || remote !== undefined || here !== undefined, 'it has no member');
    return broken;
  };

  it.each([1, 2, 3])('whatever users do, and whoever holds which Lease, history %i', async (seed) => {
    const random = randomOf(seed);
    const one = <T>(...all: readonly [T, ...T[]]): T => all[Math.floor(random() * all.length)] ?? all[0];
    const ports = () => one([80], [80, 81]).map((port) => ({ name: `p${port}`, port, protocol: 'TCP' }) as const);
    const membership = () => one<Partial<typeof MEMBER>>(MEMBER, MEMBER, {});
    const acts: readonly (() => unknown)[] = [
      () => stage.put(service('web', { labels: { owner: 'here', ...membership() }, ports: ports() })),
      () => stage.east.store.delete('v1', 'Service', 'shop', 'web'),
      ...CLUSTERS.flatMap((cluster) => [
        () => there.set(cluster, member(cluster, { ports: ports() }, { labels: { owner: cluster, ...membership() } })),
        () => {
          if (isTheirs(cluster)) stage.lease(cluster, '');
          else stage.lease(cluster, one('', 'linkspan-0'));
        },
        () => {
          linkerds[cluster].stop();
          stage.lease(cluster, 'linkspan-0');
        },
      ]),
      () => linkerds.local.stop(),
      () => linkerds.local.stop(),
      () => stage.lease('', 'linkerd-local-mirror', undefined, LEASE),
      () => stage.east.store.delete('v1', 'Service', 'shop', 'web-federated'),
      async () => {
        await end();
        act(...one<readonly (Cluster | 'local')[]>([], ['local'], ['a', 'b']));
        await start();
      },
    ];
    await start();
    for (let step = 0; step < 40; step += 1) {
      await one(acts[0]!, ...acts.slice(1))();
      if (random() < 0.3) continue;
      federations.addAll();
      await eventually('somebody holds the Lease', async () => holder(LEASE) !== '');
      await isAtRest();
      expect(wrong(), `step ${step}`).toEqual([]);
    }
  });
});

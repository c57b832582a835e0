/**
 * Lessons L21 and L37: who may write for a Link, when Leases are lost, released and left to expire. Whatever happens,
 * no mirror is written by anyone who does not hold the Link's Lease, and none is ever made anew.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LeadershipLostError } from '../../operator/main.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { EXPORTED, service, slice } from '../support/builders.ts';
import { LINKERD_AGENT, LinkerdController } from '../support/linkerd-controller.ts';
import { startOperatorProcess } from '../support/operator-process.ts';
import { LINKS_NAMESPACE, type ServiceObject, World } from '../support/world.ts';

const GATEWAY = '203.0.113.10';
const OPERATOR_AGENT = 'linkspan-operator';
const MINUTE_MS = 60_000;

interface Lease extends KubeObject {
  readonly spec: { readonly holderIdentity?: string };
}

const exportReady = async (world: World, name: string): Promise<void> => {
  await world.west.apply(service(name, { labels: EXPORTED }));
  await world.west.apply(slice(name));
};

const untilReady = (world: World, name: string) =>
  eventually(
    `${name}-west is ready`,
    async () => (await world.addresses(`${name}-west`))?.join() === GATEWAY,
    MINUTE_MS,
  );

const holderOf = async (world: World, lease: string): Promise<string | undefined> =>
  (await world.get<Lease>('Lease', lease, LINKS_NAMESPACE))?.spec.holderIdentity;

const identity = async (world: World, name: string): Promise<object> => {
  const { metadata, spec } = (await world.get<ServiceObject>('Service', `${name}-west`))!;
  return { uid: metadata.uid, clusterIP: spec.clusterIP };
};

onEachBacking('lesson L21', (backing) => {
  const users = ['linkspan-0', 'linkspan-1'].map((name) => ({
    name,
    groups: ['system:masters'],
    token: `token-of-${name}`,
  }));
  let world: World;
  let directory: string;
  beforeAll(async () => {
    world = await World.start({ backing, east: { users } });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-leases-'));
    await world.link();
  });
  afterAll(async () => {
    await world.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** An operator that the audit log knows by its identity. */
  const operatorAs = async (name: string) => {
    const kubeconfigFile = join(directory, name);
    await writeFile(kubeconfigFile, world.eastCluster.kubeconfigFor(`token-of-${name}`));
    return world.operator({ kubeconfigFile, flags: { identity: name } });
  };

  test('L21 H1 a leader that cannot renew stops before another can lead, and the other goes on from there', async () => {
    const first = await operatorAs('linkspan-0');
    await exportReady(world, 'before');
    await untilReady(world, 'before');
    await world.ready();
    const before = await identity(world, 'before');
    const second = await operatorAs('linkspan-1');
    await eventually('the second stands by', async () =>
      second.lines.some(({ message, fields }) => message === 'standing by' && fields['holder'] === 'linkspan-0'),
    );

    world.eastCluster.pause();
    expect(await first.ended()).toBeInstanceOf(LeadershipLostError);
    await exportReady(world, 'meanwhile');
    world.eastCluster.resume();
    await untilReady(world, 'meanwhile');
    await world.ready();
    expect(await holderOf(world, 'linkspan-operator')).toBe('linkspan-1');
    expect(await holderOf(world, 'service-mirror-write-west')).toBe('linkspan-1');
    expect(await identity(world, 'before')).toEqual(before);
    const writers = (await world.eastCluster.audit())
      .filter(({ verb, name }) => verb === 'patch' && name === 'meanwhile-west')
      .map(({ user }) => user);
    expect(new Set(writers)).toEqual(new Set(['linkspan-1']));
  });
});

onEachBacking('lesson L37', (backing) => {
  let world: World;
  let web: object;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    world = await World.start({ backing });
    await world.link();
    await exportReady(world, 'web');
    const linkerd = startLinkerd();
    await untilReady(world, 'web');
    await linkerd.stop();
    web = await identity(world, 'web');
  });
  beforeEach(() => world.eastCluster.clearAudit());
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
    expect(await identity(world, 'web')).toEqual(web);
    expect(await trespasses(world)).toEqual([]);
  });
  afterAll(() => world.stop());

  const startLinkerd = (): LinkerdController => {
    const controller = new LinkerdController(world.eastCluster, world.westCluster);
    ends.push(() => controller.stop());
    return controller;
  };

  const startLinkspan = () => {
    const operator = world.operator();
    ends.push(() => operator.stop());
    return operator;
  };

  const untilHeldBy = (holder: string) =>
    eventually(
      `${holder} holds the Lease`,
      async () => (await holderOf(world, 'service-mirror-write-west')) === holder,
      MINUTE_MS,
    );

  /** Exports another Service, and waits until somebody has mirrored it. */
  const followed = async (name: string): Promise<void> => {
    await exportReady(world, name);
    await untilReady(world, name);
  };

  /** Whoever created the mirror, by field manager. */
  const writerOf = async (name: string): Promise<string | undefined> =>
    (await world.get('Service', `${name}-west`))?.metadata.managedFields?.[0]?.manager;

  test('L37 H1 started at once, one of the two writes and the other waits', async () => {
    const linkerd = startLinkerd();
    startLinkspan();
    await eventually('somebody holds the Lease', async () => {
      const holder = await holderOf(world, 'service-mirror-write-west');
      return holder === 'linkspan-0' || holder === linkerd.identity;
    });
    await followed('at-once');
    const holder = await holderOf(world, 'service-mirror-write-west');
    expect(await writerOf('at-once')).toBe(holder === linkerd.identity ? 'controller' : 'linkspan');
  });

  test("L37 H1 Linkspan names Linkerd's controller, writes nothing while that holds the Link, and follows it", async () => {
    const linkerd = startLinkerd();
    await untilHeldBy(linkerd.identity);
    startLinkspan();
    const ready = await eventually('the holder is named', async () => {
      const found = await world.condition('Ready');
      return found?.reason === 'HeldByAnother' && found;
    });
    expect(ready).toMatchObject({ status: 'False' });
    expect(ready.message).toContain(linkerd.identity);
    await followed('by-linkerd');
    // Longer than the Lease lasts without being renewed.
    const until = linkerd.passes + 40;
    await eventually('it renewed and mirrored all the while', async () => linkerd.passes >= until, MINUTE_MS);
    expect(await writerOf('by-linkerd')).toBe('controller');
    expect((await world.writes()).filter((write) => !write.includes('links/status'))).toEqual([]);

    await linkerd.stop();
    await world.ready();
    await untilHeldBy('linkspan-0');
    await followed('by-linkspan');
    expect(await writerOf('by-linkspan')).toBe('linkspan');
  });

  test("L37 H1 when Linkspan is stopped, Linkerd's controller goes on from where it was, and back", async () => {
    const linkspan = startLinkspan();
    await untilHeldBy('linkspan-0');
    const linkerd = startLinkerd();
    await followed('handed');
    expect(await writerOf('handed')).toBe('linkspan');
    const handed = await identity(world, 'handed');

    await linkspan.stop();
    expect(await holderOf(world, 'service-mirror-write-west'), 'released, not left to expire').not.toBe('linkspan-0');
    await untilHeldBy(linkerd.identity);
    await world.west.patch(service('handed'), { metadata: { labels: { team: 'shop' } } });
    await eventually("Linkerd's controller follows the target", async () => {
      const found = await world.get('Service', 'handed-west');
      return found?.metadata.labels?.['team'] === 'shop';
    });
    startLinkspan();
    await linkerd.stop();
    await world.ready();
    await world.west.patch(service('handed'), { metadata: { labels: { team: null } } });
    await eventually('Linkspan follows the target', async () => {
      const found = await world.get('Service', 'handed-west');
      return found?.metadata.labels?.['team'] === undefined;
    });
    expect(await identity(world, 'handed')).toEqual(handed);
  });

  test("L37 H1 when Linkerd's controller is killed, Linkspan takes over; when it comes back, it waits", async () => {
    const killed = startLinkerd();
    await untilHeldBy(killed.identity);
    startLinkspan();
    await killed.kill();
    await untilHeldBy('linkspan-0');
    const back = startLinkerd();
    await followed('after-its-death');
    expect(await writerOf('after-its-death')).toBe('linkspan');
    expect(back.leading).toBe(false);
    await world.ready();
  });

  test("L37 H1 when Linkspan is killed, Linkerd's controller takes over; when it comes back, it waits", async () => {
    const flags = ['--identity=linkspan-9', '--lease-duration=3s', '--renew-deadline=2s', '--retry-period=100ms'];
    const killed = startOperatorProcess(world, flags);
    ends.push(() => killed.kill());
    await untilHeldBy('linkspan-9');
    const linkerd = startLinkerd();
    await killed.kill();
    await untilHeldBy(linkerd.identity);
    startLinkspan();
    await followed('after-our-death');
    expect(await writerOf('after-our-death')).toBe('controller');
    await eventually('it is named', async () => (await world.condition('Ready'))?.reason === 'HeldByAnother');
  });
});

/** Writes to mirrors by one who was not the last to write the Link's Lease, by the audit log. */
const trespasses = async (world: World): Promise<readonly string[]> => {
  let holder: string | undefined;
  const found: string[] = [];
  for (const { verb, resource, namespace, name, code, userAgent } of await world.eastCluster.audit()) {
    if (!['create', 'update', 'patch', 'delete'].includes(verb) || code >= 300) continue;
    const agent = [OPERATOR_AGENT, LINKERD_AGENT].find((each) => userAgent.startsWith(each));
    if (agent === undefined) continue;
    if (resource === 'leases' && name === 'service-mirror-write-west') holder = agent;
    const isMirror = (resource === 'services' || resource === 'endpoints') && namespace === 'shop';
    if (isMirror && agent !== holder) found.push(`${agent}: ${verb} ${resource} ${name ?? ''}`);
  }
  return found;
};

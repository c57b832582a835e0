/**
 * Who may write for a Link, when Leases are lost, released and left to expire: rule H1 of behaviour.md. Whatever happens,
 * no mirror is written by anyone who does not hold the Link's Lease, and none is ever made anew.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LeadershipLostError } from '../../operator/main.ts';
import { LEADERS } from '../cluster/guests.ts';
import type { TestUser } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { LINKS_NAMESPACE, service } from '../support/builders.ts';
import { exportService, findMirror, identityOf, untilReady } from '../support/exports.ts';
import { LINKERD_AGENT, LinkerdController } from '../support/linkerd-controller.ts';
import { startOperatorProcess } from '../support/operator-process.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const OPERATOR_AGENT = 'linkspan-operator';
const MINUTE_MS = 60_000;
/** Flags for a Lease that is lost soon after the API server stops, and not while a busy machine is slow to renew it. */
const STEADY_LEASE = { leaseDuration: '5s', renewDeadline: '4s', retryPeriod: '200ms' };

interface Lease extends KubeObject {
  readonly spec: { readonly holderIdentity?: string };
}

const holderOf = async (clusters: TwoClusters, lease: string): Promise<string | undefined> =>
  (await clusters.get<Lease>('Lease', lease, LINKS_NAMESPACE))?.spec.holderIdentity;

const identityIn = async (clusters: TwoClusters, name: string): Promise<object> =>
  identityOf((await findMirror(clusters, name))!);

onEachBacking('a leader of two replicas', (backing) => {
  let clusters: TwoClusters;
  let directory: string;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-leases-'));
    await clusters.link();
  });
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** An operator that the audit log knows by its identity. */
  const operatorAs = async ({ name, token }: TestUser, flags = {}) => {
    const kubeconfigFile = join(directory, name);
    await writeFile(kubeconfigFile, clusters.eastCluster.kubeconfigFor(token));
    return clusters.operator({ kubeconfigFile, flags: { identity: name, ...flags } });
  };

  test('L21 H1 a leader that cannot renew stops before another can lead, and the other goes on from there', async () => {
    const first = await operatorAs(LEADERS[0], STEADY_LEASE);
    await exportService(clusters, 'before');
    await untilReady(clusters, 'before');
    await clusters.ready();
    const before = await identityIn(clusters, 'before');
    const second = await operatorAs(LEADERS[1]);
    await eventually('the second stands by', async () =>
      second.lines.some(({ message, fields }) => message === 'standing by' && fields['holder'] === 'linkspan-0'),
    );

    clusters.eastCluster.pause();
    expect(await first.ended()).toBeInstanceOf(LeadershipLostError);
    await exportService(clusters, 'meanwhile');
    clusters.eastCluster.resume();
    await untilReady(clusters, 'meanwhile');
    await clusters.ready();
    expect(await holderOf(clusters, 'linkspan-operator')).toBe('linkspan-1');
    expect(await holderOf(clusters, 'service-mirror-write-west')).toBe('linkspan-1');
    expect(await identityIn(clusters, 'before')).toEqual(before);
    const writers = (await clusters.eastCluster.audit())
      .filter(({ verb, name }) => verb === 'patch' && name === 'meanwhile-west')
      .map(({ user }) => user);
    expect(new Set(writers)).toEqual(new Set(['linkspan-1']));
  });
});

onEachBacking("Linkspan beside Linkerd's controller", (backing) => {
  let clusters: TwoClusters;
  let web: object;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    await exportService(clusters, 'web');
    const linkerd = startLinkerd();
    await untilReady(clusters, 'web');
    await linkerd.stop();
    web = await identityIn(clusters, 'web');
  });
  beforeEach(() => clusters.eastCluster.clearAudit());
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
    expect(await identityIn(clusters, 'web')).toEqual(web);
    expect(await trespasses(clusters)).toEqual([]);
  });
  afterAll(() => clusters.stop());

  const startLinkerd = (): LinkerdController => {
    const controller = new LinkerdController(clusters.eastCluster, clusters.westCluster);
    ends.push(() => controller.stop());
    return controller;
  };

  const startLinkspan = () => {
    const operator = clusters.operator();
    ends.push(() => operator.stop());
    return operator;
  };

  const untilHeldBy = (holder: string) =>
    eventually(
      `${holder} holds the Lease`,
      async () => (await holderOf(clusters, 'service-mirror-write-west')) === holder,
      MINUTE_MS,
    );

  /** Exports another Service, and waits until somebody has mirrored it. */
  const followed = async (name: string): Promise<void> => {
    await exportService(clusters, name);
    await untilReady(clusters, name);
  };

  /** Whoever created the mirror, by field manager. */
  const writerOf = async (name: string): Promise<string | undefined> =>
    (await clusters.get('Service', `${name}-west`))?.metadata.managedFields?.[0]?.manager;

  test('L37 H1 started at once, one of the two writes and the other waits', async () => {
    const linkerd = startLinkerd();
    startLinkspan();
    await eventually('somebody holds the Lease', async () => {
      const holder = await holderOf(clusters, 'service-mirror-write-west');
      return holder === 'linkspan-0' || holder === linkerd.identity;
    });
    await followed('at-once');
    const holder = await holderOf(clusters, 'service-mirror-write-west');
    expect(await writerOf('at-once')).toBe(holder === linkerd.identity ? 'controller' : 'linkspan');
  });

  test("L37 H1 Linkspan names Linkerd's controller, writes nothing while that holds the Link, and follows it", async () => {
    const linkerd = startLinkerd();
    await untilHeldBy(linkerd.identity);
    startLinkspan();
    const ready = await eventually('the holder is named', async () => {
      const found = await clusters.condition('Ready');
      return found?.reason === 'HeldByAnother' && found;
    });
    expect(ready).toMatchObject({ status: 'False' });
    expect(ready.message).toContain(linkerd.identity);
    await followed('by-linkerd');
    // Longer than the Lease lasts without being renewed.
    const until = linkerd.passes + 40;
    await eventually('it renewed and mirrored all the while', async () => linkerd.passes >= until, MINUTE_MS);
    expect(await writerOf('by-linkerd')).toBe('controller');
    expect((await clusters.writes()).filter((write) => !write.includes('links/status'))).toEqual([]);

    await linkerd.stop();
    await clusters.ready();
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
    const handed = await identityIn(clusters, 'handed');

    await linkspan.stop();
    expect(await holderOf(clusters, 'service-mirror-write-west'), 'released, not left to expire').not.toBe(
      'linkspan-0',
    );
    await untilHeldBy(linkerd.identity);
    await clusters.west.patch(service('handed'), { metadata: { labels: { team: 'shop' } } });
    await eventually("Linkerd's controller follows the target", async () => {
      const found = await clusters.get('Service', 'handed-west');
      return found?.metadata.labels?.['team'] === 'shop';
    });
    startLinkspan();
    await linkerd.stop();
    await clusters.ready();
    await clusters.west.patch(service('handed'), { metadata: { labels: { team: null } } });
    await eventually('Linkspan follows the target', async () => {
      const found = await clusters.get('Service', 'handed-west');
      return found?.metadata.labels?.['team'] === undefined;
    });
    expect(await identityIn(clusters, 'handed')).toEqual(handed);
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
    await clusters.ready();
  });

  test("L37 H1 when Linkspan is killed, Linkerd's controller takes over; when it comes back, it waits", async () => {
    const flags = ['--identity=linkspan-9', '--lease-duration=3s', '--renew-deadline=2s', '--retry-period=100ms'];
    const killed = startOperatorProcess(clusters, flags);
    ends.push(() => killed.kill());
    await untilHeldBy('linkspan-9');
    const linkerd = startLinkerd();
    await killed.kill();
    await untilHeldBy(linkerd.identity);
    startLinkspan();
    await followed('after-our-death');
    expect(await writerOf('after-our-death')).toBe('controller');
    await eventually('it is named', async () => (await clusters.condition('Ready'))?.reason === 'HeldByAnother');
  });
});

/** Writes to mirrors by one who was not the last to write the Link's Lease, by the audit log. */
const trespasses = async (clusters: TwoClusters): Promise<readonly string[]> => {
  let holder: string | undefined;
  const found: string[] = [];
  for (const { verb, resource, namespace, name, code, userAgent } of await clusters.eastCluster.audit()) {
    if (!['create', 'update', 'patch', 'delete'].includes(verb) || code >= 300) continue;
    const agent = [OPERATOR_AGENT, LINKERD_AGENT].find((each) => userAgent.startsWith(each));
    if (agent === undefined) continue;
    if (resource === 'leases' && name === 'service-mirror-write-west') holder = agent;
    const isMirror = (resource === 'services' || resource === 'endpoints') && namespace === 'shop';
    if (isMirror && agent !== holder) found.push(`${agent}: ${verb} ${resource} ${name ?? ''}`);
  }
  return found;
};

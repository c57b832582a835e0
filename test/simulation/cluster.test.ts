/** What becomes of requests when an API server of a history goes down. */
import { describe, expect, it } from 'vitest';
import { sleep } from '../../operator/kube/backoff.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { SERVICES } from '../../operator/kube/objects.ts';
import { namespace, service } from '../support/builders.ts';
import { HistoryCluster } from './cluster.ts';
import { Internet } from './world/internet.ts';
import { World } from './world/world.ts';

/** Longer than a request takes that nothing delays. */
const ARRIVED_MS = 20;
const LATENCY_MS = 400;

/**
 * Asks for the creation of a Service, and has something happen while that is under way.
 * @returns what the client got, and whether there is such a Service in the end
 */
async function create(happen: (cluster: HistoryCluster, internet: Internet) => Promise<void>) {
  const world = new World(1);
  return world.run(async () => {
    const internet = new Internet(world);
    const cluster = new HistoryCluster({ name: 'away', internet, objects: [namespace('shop')] });
    const network = internet.networkOf(world.users);
    const client = new KubeClient(cluster.accessFor(cluster.admit()), {
      ...{ userAgent: 'test', fieldManager: 'test', network },
    });
    cluster.backUp();
    const got = client.create(SERVICES, service('web')).then(
      () => 'an answer',
      (error: unknown) => String(error),
    );
    await happen(cluster, internet);
    const answer = await got;
    await sleep(LATENCY_MS);
    const isThere = cluster.get('v1', 'Service', 'shop', 'web') !== undefined;
    await client.close();
    cluster.stop();
    return { answer, isThere };
  });
}

const BROKEN = { answer: expect.stringContaining('other side closed') as string, isThere: false };

describe('a write', () => {
  it('is carried out and answered by a server that stays', async () => {
    const created = await create(async ({ faults }) => void faults.latency(LATENCY_MS));
    expect(created).toEqual({ answer: 'an answer', isThere: true });
  });

  it('that waits in a server is never carried out once that goes down, also if it is restored', async () => {
    const waiting = await create(async (cluster) => {
      cluster.faults.latency(LATENCY_MS);
      await sleep(ARRIVED_MS);
      cluster.goDown();
      cluster.restore(1);
      cluster.start();
    });
    expect(waiting).toEqual(BROKEN);
  });

  it('that is on its way to a server is not carried out by the one that listens there afterwards', async () => {
    const onItsWay = await create(async (cluster, internet) => {
      internet.weather(cluster.at, 'slow');
      await sleep(1);
      cluster.goDown();
      cluster.start();
    });
    expect(onItsWay).toEqual(BROKEN);
  });

  it('is carried out where a server is asked to listen that does', async () => {
    const listening = await create(async (cluster) => {
      cluster.start();
      await sleep(ARRIVED_MS);
    });
    expect(listening).toEqual({ answer: 'an answer', isThere: true });
  });
});

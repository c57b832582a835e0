/** A Link's session over its life: what must not restart it, what it must outlast, and what must end it. */
import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, link, LINKS_NAMESPACE, service, slice } from '../support/builders.ts';
import { exportReady } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { LASTING_LEASE, type TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

/** For tests that await more than one slow thing. */
const LONG_MS = 180_000;

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

onEachBacking('a Link', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
  });
  afterEach(() => operator.stop());
  afterAll(() => clusters.stop());

  test('L2 E5 G2: writes of its own status restart nothing, and come to an end', async () => {
    await clusters.link();
    operator = clusters.operator({ flags: LASTING_LEASE });
    await exportReady(clusters, 'web');
    await clusters.ready();
    await eventually('the operator is at rest', () => operator.settled());
    await clusters.westCluster.clearAudit();
    await clusters.eastCluster.clearAudit();
    for (const [does, status] of [
      ['die', 'False'],
      ['revive', 'True'],
    ] as const) {
      await clusters.gateway[does]();
      await eventually(`GatewayAlive is ${status}`, async () => {
        return (await clusters.condition('GatewayAlive'))?.status === status;
      });
    }
    await clusters.ready();
    await exportReady(clusters, 'after-status');
    const read = (await clusters.westCluster.audit()).filter(({ userAgent }) => userAgent === 'linkspan');
    expect(read.filter(({ verb }) => verb === 'list' || verb === 'watch')).toEqual([]);
    expect((await clusters.writes()).filter((write) => write.includes(' links/status '))).not.toEqual([]);

    await eventually(
      'all is reported',
      async () => (await clusters.mirrorCondition('after-status'))?.status === 'True',
    );
    await clusters.eastCluster.clearAudit();
    const { probes } = clusters.gateway;
    await eventually('time has passed, in probes', async () => clusters.gateway.probes > probes + 20);
    expect(await clusters.writes()).toEqual([]);
  });

  test(
    'L19 E4: a target that is down for very long when the operator starts is picked up when it comes',
    async () => {
      await clusters.link();
      operator = clusters.operator({ flags: LASTING_LEASE });
      await exportReady(clusters, 'lasting');
      await exportReady(clusters, 'ending');
      await eventually('the operator is at rest', () => operator.settled());
      await operator.stop();
      const before = await inventory(clusters);

      await clusters.westCluster.kill();
      const door = new ClosedDoor();
      await door.open(clusters.westCluster.server);
      operator = clusters.operator({
        flags: LASTING_LEASE,
        tuning: { targetTimings: { backoff: { baseMs: 5, capMs: 20 } } },
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
      await eventually('ending-west is gone', async () => (await clusters.get('Service', 'ending-west')) === undefined);
      await eventually('it is reported reachable', async () => {
        return (await clusters.condition('TargetReachable'))?.status === 'True';
      });
      expect((await inventory(clusters))['Service shop/lasting-west']).toEqual(before['Service shop/lasting-west']);
    },
    LONG_MS,
  );

  test(
    'L20 E5: deleted and made again with another gateway while work is queued, it leaves nothing of the first',
    async () => {
      const names = Array.from({ length: 60 }, (_, at) => `queued-${at}`);
      for (const name of names) {
        await clusters.west.apply(service(name, { labels: EXPORTED }));
        await clusters.west.apply(slice(name));
      }
      await clusters.link();
      // One at a time, so that the rest waits in the queue.
      operator = clusters.operator({ flags: { ...LASTING_LEASE, concurrency: '1' } });
      const written = async () => {
        const found = await Promise.all(names.map((name) => clusters.addresses(`${name}-west`)));
        return found.flat().filter((address) => address === GATEWAY).length;
      };
      await eventually('some are mirrored', async () => (await written()) > 0);
      await clusters.east.delete(link('west'));
      const remade = { gatewayAddress: '203.0.113.77' };
      await clusters.east.apply(link('west', remade));
      const shows = async (): Promise<boolean> => {
        const found = await Promise.all(names.map((name) => clusters.addresses(`${name}-west`)));
        return found.every((addresses) => addresses?.join() === '203.0.113.77');
      };
      await eventually('every mirror has the new gateway', shows, 60_000);
      await eventually('the operator is at rest', () => operator.settled());
      await clusters.ready();
      const probe = await clusters.addresses('probe-west', LINKS_NAMESPACE);
      expect(probe).toEqual(['203.0.113.77']);
      expect(await shows()).toBe(true);
    },
    LONG_MS,
  );
});

/** A restart of the operator over many headless mirrors: what is right is left exactly as it is. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually } from '../cluster/workload/index.ts';
import { EXPORTED, service, statefulSlice } from '../support/builders.ts';
import { exportReady } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { LASTING_LEASE, World } from '../support/world.ts';

const SETS = 100;
const PODS = 5;

onEachBacking('a restart', (backing) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start({ backing });
    await world.link();
  });
  afterAll(() => world.stop());

  test('L7 D5 C5: over 500 endpoint mirrors deletes none, changes no ClusterIP and writes nothing', async () => {
    const first = world.operator({ flags: LASTING_LEASE });
    for (let set = 0; set < SETS; set += 1) {
      const name = `set-${set}`;
      const pods = Array.from({ length: PODS }, (_, pod) => `${name}-${pod}`);
      await world.west.apply(service(name, { headless: true, labels: EXPORTED }));
      // One pod of each is not ready: its endpoint mirror stays all the same.
      await world.west.apply(statefulSlice(name, pods, { notReady: [pods[0]!] }));
    }
    // Each Service and each pod has a Service and Endpoints here.
    const total = 2 * SETS * (1 + PODS);
    await eventually(
      'everything is mirrored',
      async () => Object.keys(await inventory(world)).length === total,
      90_000,
    );
    await eventually('the operator is at rest', async () => first.manager?.settled, 60_000);
    await first.stop();
    const before = await inventory(world);
    await world.eastCluster.clearAudit();

    // The target's Services are known long before their endpoints are, and the mirrors after everything else here.
    if (backing === 'simulated') {
      (world.westCluster as SimulatedCluster).faults.latency(2_000, ({ resource }) => resource === 'endpointslices');
      (world.eastCluster as SimulatedCluster).faults.latency(500, (request) => {
        return request.verb === 'list' && request.resource === 'services';
      });
    }
    const second = world.operator({ flags: LASTING_LEASE });
    await exportReady(world, 'barrier');
    await eventually('the operator is at rest', async () => second.manager?.settled, 60_000);
    const writes = (await world.writes()).filter((write) => !/ links\/status |\/barrier-west /.test(write));
    expect(writes).toEqual([]);
    expect(await inventory(world)).toMatchObject(before);
  }, 180_000);
});

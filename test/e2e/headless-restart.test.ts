/** A restart of the operator over many headless mirrors: what is right is left exactly as it is. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import type { SimulatedCluster } from '../cluster/simulated/start.ts';
import { eventually } from '../cluster/workload/index.ts';
import { EXPORTED, service, statefulSlice } from '../support/builders.ts';
import { exportReady } from '../support/exports.ts';
import { inventory } from '../support/inventory.ts';
import { LASTING_LEASE } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const SETS = 100;
const PODS = 5;

onEachBacking('a restart', (backing) => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
  });
  afterAll(() => clusters.stop());

  test('L7 D5 C5: over 500 endpoint mirrors deletes none, changes no ClusterIP and writes nothing', async () => {
    const first = clusters.operator({ flags: LASTING_LEASE });
    for (let set = 0; set < SETS; set += 1) {
      const name = `set-${set}`;
      const pods = Array.from({ length: PODS }, (_, pod) => `${name}-${pod}`);
      await clusters.west.apply(service(name, { headless: true, labels: EXPORTED }));
      // One pod of each is not ready: its endpoint mirror stays all the same.
      await clusters.west.apply(statefulSlice(name, pods, { notReady: [pods[0]!] }));
    }
    // Each Service and each pod has a Service and Endpoints here.
    const total = 2 * SETS * (1 + PODS);
    await eventually(
      'everything is mirrored',
      async () => Object.keys(await inventory(clusters)).length === total,
      90_000,
    );
    await eventually('the operator is at rest', () => first.settled(), 60_000);
    await first.stop();
    const before = await inventory(clusters);
    await clusters.eastCluster.clearAudit();

    // The target's Services are known long before their endpoints are, and the mirrors after everything else here.
    if (backing === 'simulated') {
      (clusters.westCluster as SimulatedCluster).faults.latency(2_000, ({ resource }) => resource === 'endpointslices');
      (clusters.eastCluster as SimulatedCluster).faults.latency(500, (request) => {
        return request.verb === 'list' && request.resource === 'services';
      });
    }
    const second = clusters.operator({ flags: LASTING_LEASE });
    await exportReady(clusters, 'barrier');
    await eventually('the operator is at rest', () => second.settled(), 60_000);
    const writes = (await clusters.writes()).filter((write) => !/ links\/status |\/barrier-west /.test(write));
    expect(writes).toEqual([]);
    expect(await inventory(clusters)).toMatchObject(before);
  }, 180_000);
});

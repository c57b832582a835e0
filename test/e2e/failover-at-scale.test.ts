/**
 * Many federated Services and ServiceFailovers on one gateway: it dies and comes back, the operator restarts, and the
 * target is away meanwhile. Every version of every route is looked at. Rules I6, J1, J2 and C5 of behaviour.md; how long
 * it takes is measured by `npm run bench`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FailoverStatus } from '../../crds/failover/types.gen.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type KubeObject } from '../cluster/workload/index.ts';
import { addFailovers, addMembers, GATEWAY_FEDERATION, installFailover } from '../support/failovers.ts';
import { watchMemberSlices, watchRoutes } from '../support/failover-state.ts';
import type { TestOperator } from '../support/operator.ts';
import type { StateWatch } from '../support/state-watch.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const COUNT = 40;
const NAMES = Array.from({ length: COUNT }, (_, index) => `web-${index}`);
const DEADLINE_MS = 30_000;
/** Keys that the operator reconciles at once. */
const CONCURRENCY = 8;

onEachBacking('failover of many Services', (backing) => {
  let clusters: TwoClusters;
  let operator: TestOperator;
  let routes: StateWatch;
  let slices: StateWatch;
  /** Versions of routes that led nowhere, or lacked their standby. */
  const wrong: string[] = [];
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await installFailover(clusters.eastCluster);
    routes = await watchRoutes(clusters.east, 'west', (found) => wrong.push(found));
    slices = await watchMemberSlices(clusters.east, 'west');
    await clusters.link(GATEWAY_FEDERATION);
    await addMembers(clusters.east, clusters.west, NAMES);
    operator = clusters.operator({ flags: { concurrency: String(CONCURRENCY) } });
    await clusters.ready();
    await slices.until('in', COUNT, DEADLINE_MS);
    await addFailovers(clusters.east, 'west', NAMES);
  });
  afterAll(async () => {
    await Promise.all([routes.stop(), slices.stop()]);
    await clusters.stop();
  });

  const reported = (active: string): Promise<unknown> =>
    eventually(
      `all statuses name ${active}`,
      async () => {
        const found = await clusters.east.list<KubeObject & { readonly status?: FailoverStatus }>({
          apiVersion: 'linkspan.dev/v1alpha1',
          kind: 'ServiceFailover',
          namespace: 'shop',
        });
        return found.every(({ metadata, status }) => status?.active === active.replace('*', metadata.name));
      },
      DEADLINE_MS,
    );
  const allReconciled = (): Promise<unknown> =>
    eventually(
      'all have been reconciled',
      async () => {
        const count = (controller: string) => operator.metric('controller_runtime_reconcile_total', { controller });
        return (await count('failover')) >= COUNT && (await count('federation')) >= COUNT;
      },
      DEADLINE_MS,
    );
  const atRest = async (): Promise<void> => {
    await clusters.ready();
    await allReconciled();
    await eventually('the operator is at rest', () => operator.settled(), DEADLINE_MS);
  };
  const restart = async (): Promise<void> => {
    await operator.stop();
    await clusters.eastCluster.clearAudit();
    operator = clusters.operator({ flags: { concurrency: String(CONCURRENCY) } });
  };
  const inMirror = (): Promise<unknown> =>
    Promise.all([routes.until('mirror', COUNT, DEADLINE_MS), slices.until('in', COUNT, DEADLINE_MS)]);

  test('J1 J2 J3 I5: a dead gateway leaves all federated Services and turns all routes, each whole in every version', async () => {
    await inMirror();
    await reported('*-west');
    await clusters.eastCluster.clearAudit();
    await clusters.gateway.die();
    await Promise.all([routes.until('local', COUNT, DEADLINE_MS), slices.until('out', COUNT, DEADLINE_MS)]);
    await reported('*');
    const ofStatus = (write: string): boolean => / servicefailovers.status /.test(write);
    // The audit log has a write once it is answered, which is after others have seen it.
    const writes = await eventually('all statuses are in the audit log', async () => {
      const all = await clusters.writes();
      return all.filter(ofStatus).length >= COUNT ? all : undefined;
    });
    const written = writes.filter((write) => / httproutes /.test(write));
    // In place, and once each.
    expect(written).toHaveLength(COUNT);
    expect(writes.filter(ofStatus)).toHaveLength(COUNT);
    expect(writes.filter((write) => / endpointslices /.test(write))).toHaveLength(COUNT);
    expect(written.filter((write) => !/^patch .* 200$/.test(write))).toEqual([]);
    // No route waits for the statuses of others, but for what is under way at once.
    const untilLast = writes.slice(
      0,
      writes.findLastIndex((write) => / httproutes /.test(write)),
    );
    expect(untilLast.filter(ofStatus).length).toBeLessThan(2 * CONCURRENCY);

    await clusters.gateway.revive();
    await inMirror();
    await reported('*-west');
    expect(routes.versions).toBeGreaterThanOrEqual(3 * COUNT);
    expect(wrong).toEqual([]);
  });

  test('C5: a restart writes nothing', async () => {
    await atRest();
    await restart();
    await atRest();
    expect(await clusters.writes()).toEqual([]);
  });

  test('I6 J3: with the target down over a restart, members and routes stay', async () => {
    await operator.stop();
    await clusters.westCluster.kill();
    await restart();
    const probes = clusters.gateway.probes;
    await eventually(
      'the target is reported unreachable, and its gateway is probed',
      async () =>
        (await clusters.condition('TargetReachable'))?.status === 'False' && clusters.gateway.probes > probes + 3,
      DEADLINE_MS,
    );
    await allReconciled();
    expect((await clusters.writes()).filter((write) => !/ links\/status /.test(write))).toEqual([]);
    await clusters.westCluster.start();
    await atRest();
    expect((await clusters.writes()).filter((write) => !/ links\/status /.test(write))).toEqual([]);
    expect([routes.count('mirror'), slices.count('in')]).toEqual([COUNT, COUNT]);
    expect(wrong).toEqual([]);
  });
});

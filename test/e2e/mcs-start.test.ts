/** How often ServiceImports are reconciled while the clusters that export them are listed, at a start and at a restart. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/workload/index.ts';
import { service } from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import { GATEWAY_FEDERATION } from '../support/failovers.ts';
import { installMcs, podSlices, serviceExport } from '../support/mcs.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const COUNT = 50;
const AT_ONCE = 16;
const DEADLINE_MS = 60_000;
/** So long that no pause of a busy machine is taken for the end of what comes at a start. */
const PATIENT = { tuning: { importGatherMs: 3_000, importSettleMs: DEADLINE_MS, requestTimeoutMs: DEADLINE_MS } };

describe(`${COUNT} exports of two clusters each [simulated]`, () => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'simulated' });
    for (const cluster of [clusters.eastCluster, clusters.westCluster]) await installMcs(cluster);
    await clusters.link({ ...GATEWAY_FEDERATION, probeSpec: undefined });
    await concurrently(
      Array.from({ length: COUNT }, (_, index) => `web-${index}`),
      AT_ONCE,
      async (name) => {
        for (const at of [clusters.west, clusters.east]) {
          await at.create(service(name));
          for (const slice of podSlices(name, [{ ip: '10.244.0.1' }])) await at.create(slice);
          await at.create(serviceExport(name));
        }
      },
    );
  });
  afterAll(() => clusters.stop());

  /** Starts an operator, and returns how often it has reconciled each ServiceImport until it is at rest. */
  const reconcilesOfEach = async (): Promise<number> => {
    const operator = clusters.operator(PATIENT);
    await clusters.ready();
    const imported = () => operator.metric('linkspan_service_imports', { ready: 'true' });
    await eventually('all are imported', async () => (await imported()) === COUNT, DEADLINE_MS);
    await eventually('it is at rest', () => operator.settled(), DEADLINE_MS);
    const reconciles = await operator.metric('controller_runtime_reconcile_total', { controller: 'imports' });
    await operator.stop();
    return reconciles / COUNT;
  };

  test(
    'are reconciled once for all that is listed, and once for each thing that is written',
    { timeout: 3 * DEADLINE_MS },
    async () => {
      // A Service, its slices, the ServiceImport, and the statuses; seldom does a watch show a write before it is answered.
      expect(await reconcilesOfEach()).toBeLessThan(6);
      expect(await reconcilesOfEach()).toBeLessThan(3);
    },
  );
});

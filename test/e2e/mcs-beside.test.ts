/**
 * ServiceImports beside mirrors and federated Services, of one Service and of many: rules K1, A1, I1 and C5 of behaviour.md.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Backing } from '../cluster/index.ts';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type ObjectRef } from '../cluster/workload/index.ts';
import { EXPORTED, GATEWAY, namespace, objectRef, service } from '../support/builders.ts';
import { concurrently } from '../support/concurrently.ts';
import { GATEWAY_FEDERATION } from '../support/failovers.ts';
import { discoveryCredentials } from '../support/full-mesh.ts';
import { installMcs, McsView, podSlices, serviceExport, serviceImportRef } from '../support/mcs.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
const ALL = { ...EXPORTED, ...MEMBER };

/** Two clusters with the MCS API in both, and a Link by which members and exports are reached through gateways. */
const start = async (backing: Backing, spec: object = {}): Promise<TwoClusters> => {
  const clusters = await TwoClusters.start({ backing });
  for (const cluster of [clusters.eastCluster, clusters.westCluster]) await installMcs(cluster);
  await clusters.east.apply(namespace('linkerd'));
  await clusters.east.apply(discoveryCredentials('west'));
  await clusters.link({ ...GATEWAY_FEDERATION, ...spec });
  return clusters;
};

onEachBacking('a Service that is mirrored, federated and exported', (backing) => {
  let clusters: TwoClusters;
  let east: McsView;
  beforeAll(async () => {
    clusters = await start(backing);
    east = new McsView(clusters.east);
    clusters.operator();
    await clusters.ready();
  });
  afterAll(() => clusters.stop());

  /** Makes the Service in both clusters, with all marks in both. */
  const everywhere = async (name: string): Promise<void> => {
    for (const at of [clusters.west, clusters.east]) {
      await at.apply(service(name, { labels: ALL }));
      for (const slice of podSlices(name, [{ ip: '10.244.0.1' }], { labels: ALL })) await at.apply(slice);
      await at.apply(serviceExport(name));
    }
  };
  /** The addresses that each of the three leads to, `!` before those that are not ready. */
  const addresses = async (name: string) => {
    const slices = await clusters.east.list<ObjectRef & SliceBody>({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace: 'shop',
    });
    const behind = (of: string) =>
      slices
        .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === of)
        .flatMap(({ endpoints }) =>
          (endpoints ?? []).flatMap((each) =>
            each.addresses.map((address) => (each.conditions?.ready === false ? `!${address}` : address)),
          ),
        )
        .sort()
        .join();
    return {
      mirror: (await clusters.addresses(`${name}-west`))?.join(),
      federated: behind(`${name}-federated`),
      imported: behind(`${name}-clusterset`),
      local: behind(name),
    };
  };
  const IN_ALL = {
    mirror: GATEWAY,
    federated: ['10.244.0.1', GATEWAY].join(),
    imported: ['10.244.0.1', GATEWAY].join(),
    local: '10.244.0.1',
  };
  const untilAddresses = (name: string, wanted: object): Promise<unknown> =>
    eventually(`${name} leads to all that it should`, async () => {
      const found = JSON.stringify(await addresses(name));
      if (found === JSON.stringify(wanted)) return true;
      throw new Error(found);
    });
  /** Versions of what one of the three consists of. */
  const versions = async (refs: readonly ObjectRef[]): Promise<readonly (string | undefined)[]> =>
    Promise.all(refs.map(async (ref) => (await clusters.east.get(ref))?.metadata.resourceVersion));
  const mirrorOf = (name: string) => [service(`${name}-west`), objectRef('v1', 'Endpoints', `${name}-west`, 'shop')];
  const federatedOf = (name: string) => [service(`${name}-federated`)];
  const importOf = (name: string) => [service(`${name}-clusterset`), serviceImportRef(name)];

  test('K1 all three are there, each of its own', async () => {
    await everywhere('three');
    await untilAddresses('three', IN_ALL);
    await eventually('it is of both', async () => (await east.clusters('three')) === 'local,west');
    const services = await Promise.all(
      ['-west', '-federated', '-clusterset'].map((suffix) => clusters.get('Service', `three${suffix}`)),
    );
    expect(services.map((each) => each?.metadata.labels?.['mirror.linkerd.io/mirrored-service'])).toEqual([
      'true',
      'true',
      undefined,
    ]);
    // What stands for others is not taken for a Service of this cluster.
    for (const suffix of ['-west', '-federated', '-clusterset']) {
      expect(await east.serviceImport(`three${suffix}`)).toBeUndefined();
      expect(await clusters.get('Service', `three${suffix}-federated`)).toBeUndefined();
    }
  });

  test('C1 I5 K3 a gateway that dies takes its addresses out of all three, until it is back', async () => {
    await everywhere('routed');
    await untilAddresses('routed', IN_ALL);
    await clusters.gateway.die();
    const without = [`!${GATEWAY}`, '10.244.0.1'].join();
    await untilAddresses('routed', { ...IN_ALL, mirror: `!${GATEWAY}`, federated: without, imported: without });
    await clusters.gateway.revive();
    await untilAddresses('routed', IN_ALL);
    await clusters.ready();
  });

  test('K1 each ends alone', async () => {
    await everywhere('ending');
    await untilAddresses('ending', IN_ALL);
    await eventually('it is of both', async () => (await east.clusters('ending')) === 'local,west');
    const others = [...mirrorOf('ending'), ...federatedOf('ending')];
    const beforeImport = await versions(others);
    for (const at of [clusters.west, clusters.east]) await at.delete(serviceExport('ending'));
    await untilAddresses('ending', { ...IN_ALL, imported: '' });
    await east.untilGone('ending');
    expect(await versions(others)).toEqual(beforeImport);

    for (const at of [clusters.west, clusters.east]) await at.apply(serviceExport('ending'));
    await untilAddresses('ending', IN_ALL);
    await eventually('it is of both', async () => (await east.clusters('ending')) === 'local,west');
    const imported = await versions(importOf('ending'));
    const unlabelled = { metadata: { labels: { 'mirror.linkerd.io/exported': null } } };
    await clusters.west.patch(service('ending'), unlabelled);
    await untilAddresses('ending', { ...IN_ALL, mirror: undefined });
    for (const at of [clusters.west, clusters.east])
      await at.patch(service('ending'), { metadata: { labels: { 'mirror.linkerd.io/federated': null } } });
    await untilAddresses('ending', {
      mirror: undefined,
      federated: '',
      imported: IN_ALL.imported,
      local: IN_ALL.local,
    });
    expect(await versions(importOf('ending'))).toEqual(imported);
  });
});

interface SliceBody {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
}

const COUNT = 500;
const AT_ONCE = 32;
const DEADLINE_MS = 120_000;
/** A busy machine delays lists and answers. */
const PATIENT = { tuning: { importSettleMs: DEADLINE_MS, requestTimeoutMs: DEADLINE_MS } };

describe('many ServiceImports [simulated]', () => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    // A busy machine delays probes.
    clusters = await start('simulated', { probeSpec: undefined });
    await concurrently(
      Array.from({ length: COUNT }, (_, index) => `web-${index}`),
      AT_ONCE,
      async (name) => {
        await clusters.west.create(service(name));
        for (const slice of podSlices(name, [{ ip: '10.244.0.1' }])) await clusters.west.create(slice);
        await clusters.west.create(serviceExport(name));
      },
    );
  });
  afterAll(() => clusters.stop());

  test(
    'C5 K2 a restart writes nothing, with the target there and with it down',
    { timeout: 4 * DEADLINE_MS },
    async () => {
      let operator = clusters.operator(PATIENT);
      const imported = () => operator.metric('linkspan_service_imports', { ready: 'true' });
      const atRest = async (): Promise<void> => {
        await clusters.ready();
        await eventually(`${COUNT} are imported`, async () => (await imported()) === COUNT, DEADLINE_MS);
        await eventually('it is at rest', () => operator.settled(), DEADLINE_MS);
      };
      const restart = async (): Promise<void> => {
        await operator.stop();
        await clusters.eastCluster.clearAudit();
        operator = clusters.operator(PATIENT);
      };
      await atRest();
      const east = new McsView(clusters.east);
      for (const name of ['web-0', `web-${COUNT - 1}`])
        await eventually(
          `${name} leads to west`,
          async () => (await east.addresses(name)).join() === `west ${GATEWAY}`,
        );
      await restart();
      await atRest();
      expect(await clusters.writes()).toEqual([]);

      await operator.stop();
      await clusters.westCluster.kill();
      await restart();
      const reconciled = () => operator.metric('controller_runtime_reconcile_total');
      await eventually(
        'all have been looked at, and the target is reported unreachable',
        async () => (await reconciled()) >= COUNT && (await clusters.condition('TargetReachable'))?.status === 'False',
        DEADLINE_MS,
      );
      await eventually('it is at rest', async () => (await operator.metric('workqueue_depth')) === 0, DEADLINE_MS);
      await clusters.westCluster.start();
      await atRest();
      expect((await clusters.writes()).filter((write) => !/ links\/status /.test(write))).toEqual([]);
    },
  );
});

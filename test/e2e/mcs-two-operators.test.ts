/** Two operators in one cluster, each with Links of its own, or none: a ServiceImport has one of them (K7 of behaviour.md). */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { LINKS_NAMESPACE, namespace, objectRef, service } from '../support/builders.ts';
import { GATEWAY_FEDERATION } from '../support/failovers.ts';
import { installMcs, McsView, podSlices, serviceExport, serviceImportRef } from '../support/mcs.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const SECOND = 'second';
/** Time in which an operator that deletes what another makes does so many times. */
const QUIET_MS = 1_500;

onEachBacking('two operators of one cluster', (backing) => {
  let clusters: TwoClusters;
  let east: McsView;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    for (const cluster of [clusters.eastCluster, clusters.westCluster]) await installMcs(cluster);
    await clusters.east.apply(namespace(SECOND));
    await clusters.link(GATEWAY_FEDERATION);
    east = new McsView(clusters.east);
  });
  afterAll(() => clusters.stop());

  const start = (within: string) =>
    clusters.operator({
      flags: { namespace: within, identity: `${within}-0` },
      tuning: { importSettleMs: 0 },
    });
  const exported = async (at: 'east' | 'west', name: string): Promise<void> => {
    await clusters[at].apply(service(name));
    for (const slice of podSlices(name, [{ ip: '10.244.0.1' }])) await clusters[at].apply(slice);
    await clusters[at].apply(serviceExport(name));
  };
  const untilOf = (name: string, ids: string): Promise<unknown> =>
    eventually(`${name} is of ${ids}`, async () => (await east.clusters(name)) === ids);
  const refs = (name: string): readonly ObjectRef[] => [serviceImportRef(name), service(`${name}-clusterset`)];
  const seen = async (name: string) => {
    const found = await Promise.all(refs(name).map((ref) => clusters.east.get(ref)));
    const versions = found.map((each) => [each?.metadata.uid, each?.metadata.resourceVersion]);
    return { versions, slices: (await east.slices(name)).map(({ metadata }) => metadata.resourceVersion) };
  };
  const operatorsOf = async (name: string) =>
    Promise.all(
      refs(name).map(async (ref) => (await clusters.east.get(ref))?.metadata.annotations?.['linkspan.dev/operator']),
    );

  test('K7 what one imports, one without Links leaves as it is', async () => {
    const first = start(LINKS_NAMESPACE);
    await clusters.ready();
    await exported('west', 'web');
    await untilOf('web', 'west');
    await eventually('it is at rest', async () => first.settled());
    expect(await operatorsOf('web')).toEqual([LINKS_NAMESPACE, LINKS_NAMESPACE]);
    // A verdict on the gateway may still come.
    const before = await eventually('nothing is written any more', async () => {
      const found = await seen('web');
      await sleep(QUIET_MS);
      return isDeepStrictEqual(await seen('web'), found) ? found : undefined;
    });
    const second = start(SECOND);
    await eventually('the second is up', async () => second.admin !== undefined);
    await sleep(QUIET_MS);
    expect(await seen('web')).toEqual(before);

    // With the mark of neither, it belongs to the one that has a part in it.
    await first.stop();
    const unmarked = { metadata: { annotations: { 'linkspan.dev/operator': null } } };
    for (const ref of refs('web')) await clusters.east.patch(ref, unmarked);
    await sleep(QUIET_MS);
    expect(await operatorsOf('web')).toEqual([undefined, undefined]);
    start(LINKS_NAMESPACE);
    await eventually(
      'it is marked',
      async () => (await operatorsOf('web')).join() === `${LINKS_NAMESPACE},${LINKS_NAMESPACE}`,
    );
    expect((await seen('web')).versions.map(([uid]) => uid)).toEqual(before.versions.map(([uid]) => uid));

    // What the cluster exports itself both know: it is of the one that knows of others too, and the other says so.
    await exported('east', 'web');
    await untilOf('web', 'local,west');
    await exported('east', 'own');
    await untilOf('own', 'local');
    await exported('west', 'own');
    await untilOf('own', 'local,west');
    await eventually('the second one says so', async () => {
      const events = await clusters.east.list<KubeObject & { readonly reason: string; readonly message: string }>({
        ...objectRef('v1', 'Event', ''),
        namespace: 'shop',
      });
      return events.some(
        ({ reason, message }) =>
          reason === 'ServedByAnother' &&
          message.startsWith(
            `the operator in namespace ${LINKS_NAMESPACE} serves ServiceImport shop/web, and the one in ${SECOND}`,
          ),
      );
    });
    await clusters.west.delete(serviceExport('web'));
    await clusters.east.delete(serviceExport('web'));
    await east.untilGone('web');
  });
});

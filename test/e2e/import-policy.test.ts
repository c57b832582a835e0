/** What a target may offer to a Link: rules N1, N3 and N4 of behaviour.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { EXPORTED, link, LINKS_NAMESPACE, service, slice } from '../support/builders.ts';
import { exportAllReady } from '../support/exports.ts';
import { installMcs, serviceExport, uninstallMcs } from '../support/mcs.ts';
import type { LinkObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const MEMBER = { 'mirror.linkerd.io/federated': 'member' };
const POLICY = { namespaces: ['shop'], names: ['web*', 'api'], ports: ['80-8080'] };
const LINK = { federation: 'gateway', federatedServiceSelector: { matchLabels: MEMBER }, importPolicy: POLICY };

onEachBacking('the import policy of a Link', (backing) => {
  let clusters: TwoClusters;

  const offer = async (name: string, port = 80): Promise<void> => {
    const labels = { ...EXPORTED, ...MEMBER };
    const ports = [{ name: 'http', port }];
    await clusters.west.apply(service(name, { labels, ports }));
    await clusters.west.apply(slice(name, { labels }));
    await clusters.west.apply(serviceExport(name));
  };
  const isThere = async (name: string): Promise<boolean> => (await clusters.get('Service', name)) !== undefined;
  const madeOf = async (name: string): Promise<readonly boolean[]> =>
    Promise.all([`${name}-west`, `${name}-federated`, `${name}-clusterset`].map(isThere));
  const counts = async () => (await clusters.get<LinkObject>('Link', 'west', LINKS_NAMESPACE))?.status?.mirrors;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    for (const cluster of [clusters.eastCluster, clusters.westCluster]) await installMcs(cluster);
    await clusters.link(LINK);
    clusters.operator();
    await clusters.ready();
  });
  afterAll(async () => {
    await clusters.stopOperators();
    for (const cluster of [clusters.east, clusters.west]) await uninstallMcs(cluster);
    await clusters.stop();
  });

  test('N1 what it does not admit is not mirrored, joined or imported, and is counted and named', async () => {
    await offer('web');
    await offer('ssh', 22);
    await offer('admin');
    await eventually('what is admitted is made', async () => (await madeOf('web')).every((each) => each));
    await eventually('the others are counted', async () => (await counts())?.notAdmitted === 2);
    expect(await Promise.all([madeOf('ssh'), madeOf('admin')])).toEqual([
      [false, false, false],
      [false, false, false],
    ]);
    expect(await clusters.mirrorCondition('admin')).toMatchObject({
      status: 'False',
      reason: 'NotAdmitted',
      message: 'the Link takes no Service with name admin (spec.importPolicy)',
    });
    expect(await clusters.condition('Ready')).toMatchObject({
      status: 'True',
      message: '2 Services are not admitted by spec.importPolicy',
    });
  });

  test('N4 a Service that is made to leave it is taken away, and comes back when it is within it again', async () => {
    await offer('api');
    await eventually('it is made', async () => (await madeOf('api')).every((each) => each));
    await offer('api', 22);
    await eventually('nothing of it is left', async () => (await madeOf('api')).every((each) => !each));
    await offer('api', 8080);
    await eventually('it is made again', async () => (await madeOf('api')).every((each) => each));
  });

  test('N1 a policy that admits more takes effect at once, and so does none', async () => {
    const ports = [...POLICY.ports, '22'];
    await clusters.link({ ...LINK, importPolicy: { ...POLICY, names: ['*'], ports } });
    await eventually('all are made', async () =>
      (await Promise.all(['web', 'api', 'ssh', 'admin'].map(madeOf))).flat().every((each) => each),
    );
    await eventually('none is counted', async () => (await counts())?.notAdmitted === 0);
    await clusters.east.apply(link('west', { ...LINK, importPolicy: undefined }));
    await eventually('nothing is counted', async () => {
      const found = await counts();
      return found !== undefined && !('notAdmitted' in found);
    });
    expect((await Promise.all(['web', 'api', 'ssh', 'admin'].map(madeOf))).flat().every((each) => each)).toBe(true);
  });

  test('N3 a policy that takes many away is a mass deletion, which is held', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
    await exportAllReady(clusters, names);
    await clusters.link({ ...LINK, importPolicy: POLICY });
    const held = await eventually('it is held', async () => {
      const found = await clusters.condition('PruneHeld');
      return found?.status === 'True' ? found : undefined;
    });
    expect(held.reason).toBe('MassDeletion');
    expect(await Promise.all(names.map((name) => isThere(`${name}-west`)))).toEqual(names.map(() => true));
  });
});

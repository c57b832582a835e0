/** What CoreDNS answers for a federated Service, in both shapes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolve } from '../cluster/real/dns.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { namespace } from '../support/builders.ts';
import { addMembers, GATEWAY_FEDERATION } from '../support/failovers.ts';
import { discoveryCredentials } from '../support/full-mesh.ts';
import type { ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const NAME = 'web-federated.shop.svc.cluster.local';

onReal('the name of a federated Service', () => {
  let clusters: TwoClusters;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'real', east: { dns: true } });
    await clusters.east.apply(namespace('linkerd'));
    await clusters.east.apply(discoveryCredentials('west'));
    await clusters.link(GATEWAY_FEDERATION);
    await addMembers(clusters.east, clusters.west, ['web']);
    clusters.operator();
    await clusters.ready();
  }, 120_000);
  afterAll(() => clusters.stop());

  /** The addresses that the name has, once it has any. */
  const addresses = (): Promise<readonly string[]> =>
    eventually('the name resolves', async () => {
      const found = await resolve(clusters.eastCluster.dns, NAME, 'A');
      return found.length > 0 && found;
    });
  const federated = (): Promise<ServiceObject | undefined> => clusters.get<ServiceObject>('Service', 'web-federated');
  const isFlat = async (): Promise<boolean> =>
    'multicluster.linkerd.io/remote-discovery' in ((await federated())?.metadata.annotations ?? {});

  test('is its ClusterIP, through gateways and on a flat network (I4, I5)', { timeout: 60_000 }, async () => {
    const before = await addresses();
    expect(await isFlat()).toBe(false);
    expect(before).toEqual([(await federated())?.spec.clusterIP]);
    await clusters.link({ ...GATEWAY_FEDERATION, federation: 'flat' });
    await eventually('it is flat', isFlat);
    expect(await addresses()).toEqual(before);
  });
});

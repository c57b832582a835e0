/** One ClusterIP Service through every room, from the Link to the API server, on every backing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEachBacking } from '../cluster/on-each-backing.ts';
import { eventually } from '../cluster/workload/index.ts';
import { service } from '../support/builders.ts';
import { exportService } from '../support/exports.ts';
import type { ServiceObject } from '../support/objects.ts';
import { TwoClusters } from '../support/two-clusters.ts';

onEachBacking('the line from a Link to a mirror', (backing) => {
  let clusters: TwoClusters;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    await clusters.link();
    clusters.operator();
  });
  afterAll(() => clusters.stop());

  test('an exported Service is mirrored, follows the gateway, and goes with its export', async () => {
    await exportService(clusters, 'web');
    await eventually('the mirror is ready', async () => (await clusters.addresses('web-west'))?.[0] === '203.0.113.10');
    // Its Endpoints are written before it.
    const mirror = await eventually('the mirror exists', () => clusters.get<ServiceObject>('Service', 'web-west'));
    expect(mirror.metadata.labels).toMatchObject({
      'mirror.linkerd.io/mirrored-service': 'true',
      'mirror.linkerd.io/cluster-name': 'west',
    });
    expect(mirror.spec.ports).toEqual([{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }]);
    await clusters.ready();

    await clusters.gateway.die();
    await eventually(
      'the mirror is not ready',
      async () => (await clusters.addresses('web-west'))?.[0] === '!203.0.113.10',
    );
    await clusters.gateway.revive();
    await eventually(
      'the mirror is ready again',
      async () => (await clusters.addresses('web-west'))?.[0] === '203.0.113.10',
    );

    await clusters.west.patch(service('web'), { metadata: { labels: { 'mirror.linkerd.io/exported': null } } });
    await eventually('the mirror is gone', async () => (await clusters.get('Service', 'web-west')) === undefined);
    await eventually('its Endpoints are gone', async () => (await clusters.get('Endpoints', 'web-west')) === undefined);
  });
});

/**
 * What the examples render is accepted by a real API server that refuses unknown fields, and applied again it changes
 * nothing.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failoverCrd, linkCrd, mcsCrds } from '../../../crds/index.ts';
import { borrowCluster, type TestCluster } from '../../cluster/index.ts';
import { onReal } from '../../cluster/on-each-backing.ts';
import { type Api, api, installCrd, objectPath, type ObjectRef } from '../../cluster/workload/index.ts';
import { namespace } from '../../support/builders.ts';
import { meshCrds } from '../../support/mesh-crds.ts';
import { applyTwice } from '../../support/strict.ts';
import { EXAMPLE_NAMES, synthesize } from './synthesize.ts';

onReal('what the examples render', () => {
  let cluster: TestCluster;
  let client: Api;
  beforeAll(async () => {
    cluster = await borrowCluster('real', 'east');
    client = api(cluster);
    const ours = [linkCrd, failoverCrd] as unknown as readonly ObjectRef[];
    for (const crd of [...ours, ...meshCrds, ...mcsCrds]) await installCrd(cluster, crd);
    for (const name of ['test', 'greetings', 'podinfo', 'welcome']) await client.apply(namespace(name));
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  test.each(EXAMPLE_NAMES)('is accepted to the last field, and stays as it is: %s', async (name) => {
    for (const { file, objects } of await synthesize(name)) {
      expect(objects.length, file).toBeGreaterThan(1);
      for (const object of objects) await applyTwice(client, object);
      // The next file may be of another cluster.
      for (const object of objects) await client.request('DELETE', objectPath(object));
    }
  });
});

import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';

import { failoverCrd } from '../../../crds/failover/definition.ts';
import { FAILOVER_SPEC_SCHEMA } from '../../../crds/failover/schema.ts';
import { readFailover } from '../../../crds/failover/settings.ts';
import { borrowCluster, type TestCluster } from '../../cluster/index.ts';
import { onReal } from '../../cluster/on-each-backing.ts';
import { api, type Api, installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { namespace } from '../../support/builders.ts';
import { schemasIn } from '../schemas-in.ts';
import { INVALID, type Invalid, VALID } from './specs.ts';

describe('the CustomResourceDefinition of the ServiceFailover (J1)', () => {
  const [version] = failoverCrd.spec.versions;

  it('is namespaced, has a status, and shows where requests go', () => {
    expect(failoverCrd).toMatchObject({
      metadata: { name: 'servicefailovers.linkspan.dev' },
      spec: { group: 'linkspan.dev', scope: 'Namespaced', names: { plural: 'servicefailovers' } },
    });
    expect(version.subresources).toEqual({ status: {} });
    expect(version.additionalPrinterColumns.map(({ name, jsonPath }) => [name, jsonPath])).toEqual([
      ['Service', '.spec.service'],
      ['Active', '.status.active'],
      ['Ready', '.status.conditions[?(@.type=="Ready")].status'],
      ['Reason', '.status.conditions[?(@.type=="Ready")].reason'],
      ['Age', '.metadata.creationTimestamp'],
    ]);
  });

  it('describes every field, and defaults none: GitOps tools find live what is in Git', () => {
    const all = schemasIn(FAILOVER_SPEC_SCHEMA);
    expect(all.filter(([, { description }]) => description === undefined)).toEqual([]);
    expect(all.filter(([, schema]) => 'default' in schema)).toEqual([]);
  });
});

onReal('the API server', () => {
  let cluster: TestCluster;
  let client: Api;
  beforeAll(async () => {
    cluster = await borrowCluster('real', 'east');
    client = api(cluster);
    await installCrd(cluster, failoverCrd);
    await client.apply(namespace('shop'));
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  const failover = (name: string, spec: unknown): ObjectRef =>
    ({
      apiVersion: 'linkspan.dev/v1alpha1',
      kind: 'ServiceFailover',
      metadata: { name, namespace: 'shop' },
      spec,
    }) as ObjectRef;

  test.each(Object.entries(VALID))('accepts what the operator accepts: %s', async (_, spec) => {
    await client.apply(failover('web', spec));
    expect(readFailover(failover('web', spec)).ok).toBe(true);
  });

  test.each(Object.entries(INVALID))(
    'refuses what the operator refuses: %s',
    async (_, { spec, name = 'web' }: Invalid) => {
      await expect(client.apply(failover(name, spec))).rejects.toThrow(/invalid/i);
      expect(readFailover(failover(name, spec)).ok).toBe(false);
    },
  );
});

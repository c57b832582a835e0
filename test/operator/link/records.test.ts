import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { hasNoLink } from '../../../operator/link/listed.ts';
import { forgetLease, Records, servedClusters, wasUnlinked } from '../../../operator/link/records.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { link, LINKS_NAMESPACE } from '../../support/builders.ts';
import { Leases } from './leases.ts';
import { Stage } from './stage.ts';

describe('Leases as records of what mirrors were written for', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.start();
  });
  afterEach(() => stage.stop());
  const { signal } = new AbortController();

  it('give the cluster of each Link, whoever holds them', async () => {
    stage.lease('a', '', 'west');
    stage.lease('b', 'linkerd-0', 'north');
    stage.lease('linkerds-own', 'linkerd-0');
    stage.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'linkspan-operator', namespace: LINKS_NAMESPACE },
    });
    expect(await servedClusters(stage.client, LINKS_NAMESPACE, signal)).toEqual(
      new Map([
        ['a', 'west'],
        ['b', 'north'],
      ]),
    );
  });

  test.each([
    ['that nobody holds is deleted', '', false],
    ['that we hold is deleted', 'linkspan-0', false],
    ['that another holds stays', 'linkerd-0', true],
    ['that a replica holds which has ceased is deleted', 'linkspan-ceased', false],
  ])('one of a Link that has its cluster no more %s (E9)', async (_, holder, stays) => {
    stage.lease('a', holder, 'west');
    await forgetLease('a', stage, signal);
    expect('a' in stage.leases()).toBe(stays);
  });

  test.each([
    ['that nobody holds forgets', '', true],
    ['that a replica holds which has ceased forgets', 'linkspan-ceased', true],
    ['that another holds keeps', 'linkerd-0', false],
  ])('one of a suspended Link %s what was confirmed, and no more (E6, H9, L191)', async (_, holder, isForgotten) => {
    const [kept, confirmed] = [{ 'linkspan.dev/target-cluster': 'west' }, { 'linkspan.dev/confirmed': 'x' }];
    stage.lease('a', holder, 'west');
    const lease = stage.east.store.get('coordination.k8s.io/v1', 'Lease', LINKS_NAMESPACE, 'service-mirror-write-a')!;
    stage.put({ ...lease, metadata: { ...lease.metadata, annotations: { ...kept, ...confirmed } } } as ObjectRef);
    await new Records(new Map(), stage).revokeConfirmation('a', signal);
    await new Records(new Map(), stage).revokeConfirmation('nobody', signal);
    const { metadata } = await stage.client.read<Lease>(LEASES, LINKS_NAMESPACE, 'service-mirror-write-a', signal);
    expect(metadata.annotations).toEqual(isForgotten ? kept : { ...kept, ...confirmed });
  });

  it('and Links tell whether a cluster has no Link for certain: not if there is none at all (K5, L166)', async () => {
    const search = (...clusters: readonly string[]) =>
      Promise.all(clusters.map((cluster) => hasNoLink(cluster, stage, signal)));
    expect(await search('west')).toEqual([false]);
    stage.put(link('north'));
    stage.put(link('south', { gatewayPort: 'none' }));
    stage.lease('a', 'linkerd-0', 'west');
    expect(await search('north', 'south', 'west', 'east')).toEqual([false, false, false, true]);
    stage.east.faults.refuse({
      failure: { kind: 'status', code: 500 },
      match: ({ resource }) => resource === 'leases',
    });
    await expect(search('east')).rejects.toThrow('500');
  });

  it('one that is gone is no error, and one that cannot be read is', async () => {
    await forgetLease('a', stage, signal);
    stage.east.faults.refuse({ failure: { kind: 'status', code: 500 } });
    await expect(forgetLease('a', stage, signal)).rejects.toThrow('500');
  });
});

test('the clusters that Links were served for are what their write Leases record, and no other Lease (E5)', async () => {
  const leases = new Leases();
  const of = (cluster: string) => ({ 'linkspan.dev/target-cluster': cluster });
  leases.put('service-mirror-write-a', '', of('west'));
  leases.put('service-mirror-write-b', 'linkspan-0', of('east'));
  leases.put('service-mirror-write-c', 'linkerd-0');
  leases.put('leader', 'linkspan-0', of('north'));
  const served = await servedClusters(leases.client, 'links', new AbortController().signal);
  expect(Object.fromEntries(served)).toEqual({ a: 'west', b: 'east' });
});

describe('what Leases record', () => {
  const WEST = { 'linkspan.dev/target-cluster': 'west' };
  const { signal } = new AbortController();
  let leases: Leases;
  /** Records of these Links, whose Leases nobody holds. */
  const recordsOf = (served: Readonly<Record<string, string>>, mayWrite = true): Records => {
    leases = new Leases();
    for (const name of Object.keys(served)) leases.put(`service-mirror-write-${name}`, '', WEST);
    const config = { namespace: 'links', identity: 'linkspan-0' };
    const env = {
      client: leases.client,
      config,
      mayWrite: () => mayWrite,
      hasCeased: () => false,
    } as unknown as ConstructorParameters<typeof Records>[1];
    return new Records(new Map(Object.entries(served)), env);
  };
  const forgotten = async (records: Records): Promise<readonly string[]> => {
    const links: string[] = [];
    for await (const link of records.forgetOthers('west', 'a', (link) => link !== 'd', signal)) links.push(link);
    return links;
  };

  it('is of one Link only, once the others of its cluster are forgotten that may go (E9)', async () => {
    const records = recordsOf({ a: 'west', b: 'west', c: 'north', d: 'west' });
    expect(await forgotten(records)).toEqual(['b']);
    expect(Object.keys(leases.holders)).toEqual(['a', 'c', 'd'].map((name) => `service-mirror-write-${name}`));
    expect([...records.served.keys()]).toEqual(['a', 'c', 'd']);
  });

  it('stays if it became the record of another cluster while its Lease was deleted', async () => {
    const records = recordsOf({ a: 'west', b: 'west' });
    const forgetting = forgotten(records);
    records.set('b', 'north');
    await forgetting;
    expect(records.served.get('b')).toBe('north');
  });

  it('stays while another replica may lead (H2)', async () => {
    const records = recordsOf({ a: 'west', b: 'west' }, false);
    await expect(forgotten(records)).rejects.toThrow('until the Lease is renewed');
    expect([Object.keys(leases.holders).length, records.served.size]).toEqual([2, 2]);
  });

  it('is taken up if nothing was known of it: the source cluster was restored (E5)', () => {
    const records = recordsOf({ a: 'west' });
    const restored = new Map([
      ['a', 'east'],
      ['b', 'north'],
    ]);
    expect(records.recall(restored)).toEqual(['north']);
    expect(Object.fromEntries(records.served)).toEqual({ a: 'west', b: 'north' });
    records.delete('b');
    expect(records.recall(restored)).toEqual(['north']);
  });
});

test.each([
  ['was last renewed before', '2026-01-01T00:00:00.000000Z', true],
  ['was never held', undefined, true],
  ['was renewed since, for a later Link of the name', '2026-01-01T00:10:00.000000Z', false],
  ['was renewed since, by the session of that Link (L151)', '2026-01-01T00:10:00.000000Z', true, '00:05:02'],
  ['was renewed since, while all Links were gone (L151)', '2026-01-01T00:10:00.000000Z', true, '00:02:00'],
  ['was renewed since, for a Link that went later', '2026-01-01T00:10:00.000000Z', false, '00:09:00'],
])('a Lease that says that a person removed its Link, and %s (E5)', (_, renewTime, is, gone?: string) => {
  const metadata = {
    name: 'service-mirror-write-a',
    annotations: { 'linkspan.dev/unlinked': '2026-01-01T00:05:00.000Z' },
  };
  const goneMs = gone === undefined ? undefined : Date.parse(`2026-01-01T${gone}Z`);
  expect(wasUnlinked({ metadata, spec: renewTime === undefined ? {} : { renewTime } }, goneMs)).toBe(is);
  expect(wasUnlinked({ metadata: { name: 'service-mirror-write-a' }, spec: {} })).toBe(false);
});

import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { Environment } from '../../../operator/link/environment.ts';
import { forgetLease, Removal, type RemovalResult, servedClusters } from '../../../operator/link/leftovers.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { LINKS_NAMESPACE, service } from '../../support/builders.ts';
import { Leases } from './leases.ts';
import { RecordedReport } from './recorded.ts';
import { Stage, type StageOptions } from './stage.ts';

const PROBE = { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'west' };

describe('the removal of what a Link left (E5)', () => {
  let stage: Stage;
  let env: Environment;
  let removal: Removal;
  let result: Promise<RemovalResult>;
  afterEach(async () => {
    await removal.stop();
    await stage.stop();
  });

  /** Starts a removal of what there is of cluster west. */
  const start = async (prepare: () => void, options: StageOptions = {}): Promise<void> => {
    stage = await Stage.start(options);
    prepare();
    env = await stage.environment();
    removal = new Removal('old', 'west', env, new RecordedReport());
    result = removal.run();
  };
  const refuseDeletions = () =>
    stage.east.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ verb, resource }) => verb === 'delete' && resource === 'services',
    });

  it('takes mirrors, their endpoints, the probe Service and the Lease, and nothing else', async () => {
    await start(() => {
      for (const name of ['a', 'b']) stage.mirror(name);
      stage.mirror('a', 'north');
      stage.put(service('own-west'));
      stage.put(service('probe-old', { namespace: LINKS_NAMESPACE, labels: PROBE }));
      stage.lease('old', '', 'west');
      stage.lease('other', '', 'north');
    });
    expect(await result).toBe('complete');
    expect(stage.services()).toEqual(['a-north', 'own-west']);
    expect(stage.services(LINKS_NAMESPACE)).toEqual([]);
    expect(stage.east.store.list('v1', 'Endpoints').map(({ metadata }) => metadata.name)).toEqual(['a-north']);
    expect(Object.keys(stage.leases())).toEqual(['other']);
    expect(stage.lines).toContain('info the mirrors that the Link left are removed');
  });

  it('is over at once where nothing is left, and takes the Lease', async () => {
    await start(() => stage.lease('old', '', 'west'));
    expect(await result).toBe('complete');
    expect(stage.leases()).toEqual({});
  });

  it('touches nothing where mirrors may not be written (A3, E8)', async () => {
    await start(() => stage.mirror('a', 'west', 'kube-system'));
    expect(await result).toBe('complete');
    expect(stage.services('kube-system')).toEqual(['a-west']);
  });

  it('waits while another holds the Lease, and names it (H1)', async () => {
    await start(() => {
      stage.mirror('a');
      stage.lease('old', 'linkerd-0', 'west');
    });
    await eventually('it waits', async () => removal.findings().heldBy === 'linkerd-0');
    expect(stage.services()).toEqual(['a-west']);
    stage.lease('old', '', 'west');
    expect(await result).toBe('complete');
    expect(stage.has()).toBe(true);
  });

  it('goes on until what is refused is accepted, and the Lease stays until then (H4)', async () => {
    await start(() => {
      stage.mirror('a');
      refuseDeletions();
    });
    const deletions = async () =>
      (await stage.east.audit()).filter(({ verb, resource }) => verb === 'delete' && resource === 'services').length;
    await eventually('it has tried several times', async () => (await deletions()) > 5);
    expect(stage.leases()).toMatchObject({ old: { holder: 'linkspan-0', cluster: 'west' } });
    stage.east.faults.clear();
    expect(await result).toBe('complete');
    expect([stage.has(), stage.leases()]).toEqual([true, {}]);
  });

  it('leaves what it has not deleted when it is stopped, and the Lease as the record of it', async () => {
    await start(() => {
      stage.mirror('a');
      refuseDeletions();
    });
    await eventually('it works', async () => stage.leases()['old']?.holder === 'linkspan-0');
    await removal.stop();
    expect(await result).toBe('stopped');
    expect(stage.services()).toEqual(['a-west']);
    expect(stage.leases()).toEqual({ old: { holder: '', cluster: 'west' } });
    stage.east.faults.clear();
    // The cluster can be served: nothing listens for its mirrors any more.
    env.source.subscribe('west', () => undefined)();
  });

  it('leaves the Lease as a record where a namespace that cannot be read may hold more', async () => {
    const isBank = ({ namespace = '' }: { readonly namespace?: string }): boolean => namespace === 'bank';
    await start(
      () => {
        stage.mirror('a');
        stage.lease('old', '', 'west');
        stage.east.faults.refuse({ failure: { kind: 'status', code: 403 }, match: isBank });
      },
      { flags: { mirrorNamespaces: ['shop', 'bank'] } },
    );
    expect(await result).toBe('incomplete');
    expect([stage.has(), stage.leases()]).toEqual([true, { old: { holder: '', cluster: 'west' } }]);
  });

  it('is what the Link reports that has moved on and waits for it', async () => {
    await start(() => stage.mirror('a'));
    expect(removal.findings().synced).toMatchObject({
      status: 'False',
      reason: 'RemovingMirrors',
      message: expect.stringContaining('cluster west') as string,
    });
    expect(await result).toBe('complete');
  });
});

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
  ])('one of a Link that has its cluster no more %s (E9)', async (_, holder, stays) => {
    stage.lease('a', holder, 'west');
    await forgetLease('a', stage, signal);
    expect('a' in stage.leases()).toBe(stays);
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

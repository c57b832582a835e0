import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Keeping } from '../../../operator/link/keeping.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { LINKS_NAMESPACE, service } from '../../support/builders.ts';
import { RecordedReport } from './recorded.ts';
import { Stage } from './stage.ts';

const PROBE = { 'mirror.linkerd.io/mirrored-gateway': 'true', 'mirror.linkerd.io/cluster-name': 'west' };

describe('what an invalid Link keeps of a cluster that no Link has (E9, L59)', () => {
  let stage: Stage;
  let keeping: Keeping;
  const probe = (name: string) => stage.put(service(name, { namespace: LINKS_NAMESPACE, labels: PROBE }));
  const probesAreGone = () => eventually('no probe Service', async () => stage.services(LINKS_NAMESPACE).length === 0);

  beforeEach(async () => {
    stage = await Stage.start();
    stage.mirror('a');
    probe('probe-old');
    keeping = new Keeping('invalid', 'west', await stage.environment(), new RecordedReport());
  });
  afterEach(async () => {
    await keeping.stop();
    await stage.stop();
  });

  it('is all but the probe Service, and is recorded on its Lease', async () => {
    const before = stage.addresses('a-west');
    keeping.start();
    await probesAreGone();
    expect([stage.services(), stage.addresses('a-west')]).toEqual([['a-west'], before]);
    expect(stage.leases()).toEqual({ invalid: { holder: 'linkspan-0', cluster: 'west' } });
    probe('probe-again');
    await probesAreGone();
    await keeping.stop();
    expect(stage.leases()).toEqual({ invalid: { holder: '', cluster: 'west' } });
    expect(stage.services()).toEqual(['a-west']);
  });

  it('waits while another holds the Lease, and names it (H1)', async () => {
    stage.lease('invalid', 'linkerd-0');
    keeping.start();
    await eventually('it waits', async () => keeping.findings().heldBy === 'linkerd-0');
    expect(stage.services(LINKS_NAMESPACE)).toEqual(['probe-old']);
    stage.lease('invalid', '');
    await probesAreGone();
    expect(keeping.findings().heldBy).toBeUndefined();
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aborted, RevokedError } from '../../../../operator/kube/abort.ts';
import { LEASES } from '../../../../operator/kube/objects.ts';
import type { Environment } from '../../../../operator/link/environment.ts';
import { WriteLease } from '../../../../operator/link/lease/write-lease.ts';
import { eventually } from '../../../cluster/workload/eventually.ts';
import { RecordedReport } from '../recorded.ts';
import { Stage } from '../stage.ts';

const OURS = { holder: 'linkspan-0', cluster: 'west' };

describe('the Lease under which mirrors of a Link are written (H1)', () => {
  let stage: Stage;
  let env: Environment;
  let report: RecordedReport;
  let lease: WriteLease;
  beforeEach(async () => {
    // Renewed every second.
    stage = await Stage.start({ flags: { leaseDuration: '3s', renewDeadline: '2s' } });
    env = await stage.environment();
    report = new RecordedReport();
    lease = new WriteLease('west', 'west', env, report);
  });
  afterEach(async () => {
    await lease.release();
    await stage.stop();
  });

  /** Work that goes on until it is aborted, and then until it is let go; by run. */
  const works: { readonly until: AbortSignal; readonly end: () => void }[] = [];
  beforeEach(() => void (works.length = 0));
  const work = (until: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    works.push({ until, end: resolve });
    return promise;
  };
  /** Work that ends when it is aborted. */
  const obedient = (until: AbortSignal): Promise<void> =>
    new Promise((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
  /** More requests than giving up a Lease takes. */
  const timeForIt = async (): Promise<void> => {
    for (let times = 0; times < 10; times += 1) await stage.client.list(LEASES, {}, new AbortController().signal);
  };
  const isHeld = (): Promise<boolean> => Promise.resolve(lease.isHeld);

  it('is taken before anything is written, and records the cluster', async () => {
    lease.run(obedient);
    await eventually('it is held', isHeld);
    expect(stage.leases()).toEqual({ west: OURS });
    expect(lease.heldBy).toBeUndefined();
    expect(report.statusChanges).toBeGreaterThan(0);
  });

  it('is waited for while another holds it, which is reported, and taken over when it is free', async () => {
    stage.lease('west', 'linkerd-0');
    lease.run(work);
    await eventually('it is held by another', async () => lease.heldBy !== undefined);
    expect([lease.heldBy, lease.isHeld, works.length]).toEqual(['linkerd-0', false, 0]);
    expect(report.events).toEqual(['Warning HeldByAnother linkerd-0 writes for this Link and holds its Lease']);
    stage.lease('west', '');
    await eventually('it is held', isHeld);
    expect([lease.heldBy, works.length]).toEqual([undefined, 1]);
    works[0]?.end();
  });

  it('that is lost ends the work, and the next begins when it has ended', async () => {
    lease.run(work);
    await eventually('it is held', isHeld);
    stage.lease('west', 'linkerd-0');
    await eventually('it is lost', async () => !lease.isHeld);
    expect(works[0]?.until.aborted).toBe(true);
    stage.lease('west', '');
    await eventually('it is held again', isHeld);
    expect(works).toHaveLength(1);
    works[0]?.end();
    await eventually('the work goes on', async () => works.length === 2);
    expect(works[1]?.until.aborted).toBe(false);
    works[1]?.end();
  });

  it('is released when the work has come to rest, and not before (H2)', async () => {
    lease.run(work);
    await eventually('it is held', isHeld);
    const released = lease.release();
    await eventually('the work is to end', async () => works[0]?.until.aborted);
    await timeForIt();
    expect(stage.leases()).toEqual({ west: OURS });
    works[0]?.end();
    await released;
    expect(lease.isHeld).toBe(false);
    expect(stage.leases()).toEqual({ west: { holder: '', cluster: 'west' } });
  });

  it('is deleted when the work has come to rest, and not before', async () => {
    lease.run(work);
    await eventually('it is held', isHeld);
    const removed = lease.remove(() => true);
    await eventually('the work is to end', async () => works[0]?.until.aborted);
    await timeForIt();
    expect(stage.leases()).toEqual({ west: OURS });
    works[0]?.end();
    await removed;
    expect(lease.isHeld).toBe(false);
    expect(stage.leases()).toEqual({});
  });

  it('that may not be written is reported with a remedy, until it is held (H5)', async () => {
    const failure = { kind: 'status', code: 403 } as const;
    const allow = stage.east.faults.refuse({ failure, match: ({ resource }) => resource === 'leases' });
    lease.run(obedient);
    await eventually('it is reported', async () => lease.problem !== undefined);
    expect(lease.problem).toMatch(/403.*Apply the roles that the operator is deployed with$/);
    expect(report.events).toEqual([`Warning LeaseUnavailable ${lease.problem}`]);
    allow();
    await eventually('it is held', isHeld);
    expect(lease.problem).toBeUndefined();
  });

  it('L129 that may not be written is no longer reported as held by who has released it (H5)', async () => {
    stage.lease('west', 'linkerd-0');
    lease.run(obedient);
    await eventually("it is another's", async () => lease.heldBy === 'linkerd-0');
    const failure = { kind: 'status', code: 403 } as const;
    const match = ({ resource, verb }: { readonly resource: string; readonly verb: string }): boolean =>
      resource === 'leases' && verb !== 'get';
    stage.east.faults.refuse({ failure, match });
    stage.lease('west', '');
    await eventually('it is reported', async () => lease.problem !== undefined);
    expect(lease.heldBy).toBeUndefined();
    expect(report.events.at(-1)).toBe(`Warning LeaseUnavailable ${lease.problem}`);
    stage.lease('west', 'linkerd-0');
    await eventually("it is another's again", async () => lease.heldBy === 'linkerd-0');
  });

  it('may be written under while the operator leads, too (H2)', async () => {
    let leads = true;
    lease = new WriteLease('west', 'west', { ...env, mayWrite: () => leads }, report);
    expect(lease.mayWrite).toBe(false);
    lease.run(obedient);
    await eventually('it is held', isHeld);
    expect(lease.mayWrite).toBe(true);
    leads = false;
    expect(lease.mayWrite).toBe(false);
  });

  it('ends work that must have no effect any more: it is lost, or the operator leads no longer (H1, L76)', async () => {
    let leads = true;
    lease = new WriteLease('west', 'west', { ...env, mayWrite: () => leads }, report);
    const reasons: unknown[] = [];
    lease.run(async (until) => void reasons.push(await aborted(until)));
    await eventually('it is held', isHeld);
    stage.lease('west', 'linkerd-0');
    await eventually('it is lost', async () => reasons.length === 1);
    stage.lease('west', '');
    await eventually('it is held again', isHeld);
    leads = false;
    await lease.release();
    expect(reasons.map((each) => each instanceof RevokedError)).toEqual([true, true]);
  });

  it('lets work end that is given up (H1, L69)', async () => {
    const reasons: unknown[] = [];
    lease.run(async (until) => void reasons.push(await aborted(until)));
    await eventually('it is held', isHeld);
    await lease.release();
    expect(reasons.map((each) => each instanceof RevokedError)).toEqual([false]);
  });

  it('that another holds is neither released nor deleted', async () => {
    stage.lease('west', 'linkerd-0');
    lease.run(work);
    await eventually('it is held by another', async () => lease.heldBy !== undefined);
    await lease.remove(() => true);
    expect(stage.leases()).toMatchObject({ west: { holder: 'linkerd-0' } });
  });
});

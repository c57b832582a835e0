import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Candidate, LeadershipLostError } from '../../operator/candidate.ts';
import { Interruptions } from '../../operator/runtime/interruptions.ts';
import { LINKS_NAMESPACE } from '../support/builders.ts';
import { eventually } from '../cluster/workload/eventually.ts';
import { Stage } from './link/stage.ts';

describe('a replica that may lead (H1, H5)', () => {
  let stage: Stage;
  let candidate: Candidate;
  let stop: AbortController;
  let running: Promise<unknown>;
  let leading: AbortSignal | undefined;
  const failures: Error[] = [];

  const start = async (flags: Readonly<Record<string, string>> = {}): Promise<void> => {
    stage = await Stage.start({ flags: { leaseDuration: '2s', renewDeadline: '1500ms', ...flags } });
    const { config, client, log } = stage;
    candidate = new Candidate({ config, client, log, interruptions: new Interruptions() });
  };
  const run = (): void => {
    running = candidate.run(stop.signal, lead, (failure) => failures.push(failure)).catch((error: unknown) => error);
  };
  const lead = (until: AbortSignal): Promise<void> => {
    leading = until;
    return new Promise((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
  };
  const leaseOf = (holder: string, seconds?: number): void =>
    stage.lease('x', holder, undefined, 'linkspan-operator', seconds);

  beforeEach(() => {
    stop = new AbortController();
    leading = undefined;
    failures.length = 0;
    running = Promise.resolve();
  });
  afterEach(async () => {
    stop.abort();
    stage.east.faults.clear();
    await running;
    await stage.stop();
  });

  it('is not ready before it has read the Lease, and is while it stands by', async () => {
    await start();
    leaseOf('another');
    expect(candidate.check()).toMatchObject({ ok: false, message: 'Lease linkspan-operator has not been read yet' });
    run();
    await eventually('it is ready', async () => candidate.check().ok);
    expect([leading, candidate.mayWrite]).toEqual([undefined, false]);
  });

  it('is not ready once it has not read the Lease for as long as it lasts, and says why', async () => {
    await start();
    leaseOf('another');
    run();
    await eventually('it is ready', async () => candidate.check().ok);
    const failure = { kind: 'status', code: 403 } as const;
    stage.east.faults.refuse({ failure, match: ({ resource }) => resource === 'leases' });
    await eventually('it is not ready', async () => !candidate.check().ok);
    expect(candidate.check().message).toMatch(/403.*Apply the roles that the operator is deployed with$/);
    stage.east.faults.clear();
    await eventually('it is ready again', async () => candidate.check().ok);
  });

  it('says that its namespace is missing', async () => {
    await start({ namespace: 'nowhere' });
    run();
    await eventually('it fails', async () => stage.lines.some((line) => line.includes('cannot be acquired')));
    expect(candidate.check()).toMatchObject({ ok: false });
    expect(candidate.check().message).toContain('Create namespace nowhere, or set --namespace');
  });

  it('knows that the one has ceased whose Lease ran out, and nobody else, for as long as it leads (H1, L64)', async () => {
    await start();
    leaseOf('former', 1);
    run();
    await eventually('it leads', async () => leading !== undefined);
    expect(['former', 'another'].map((each) => candidate.hasCeased(each))).toEqual([true, false]);
    leaseOf('another');
    await running;
    expect(candidate.hasCeased('former')).toBe(false);
  });

  it('may write while it leads, and fails when the Lease is taken from it', async () => {
    await start();
    run();
    await eventually('it leads', async () => leading !== undefined);
    expect(candidate.mayWrite).toBe(true);
    leaseOf('another');
    expect(await running).toBeInstanceOf(LeadershipLostError);
    expect(failures).toEqual([await running]);
    expect([leading?.aborted, candidate.mayWrite]).toEqual([true, false]);
    expect(stage.east.store.get('coordination.k8s.io/v1', 'Lease', LINKS_NAMESPACE, 'linkspan-operator')).toMatchObject(
      {
        spec: { holderIdentity: 'another' },
      },
    );
  });
});

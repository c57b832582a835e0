/** A session of a Link without selectors, of whose target ServiceExports are all that is read. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LinkSettings, readLink, serviceExportCrd } from '../../../crds/index.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { LimitError } from '../../../operator/kube/errors.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import type { ImportParty } from '../../../operator/mcs/party.ts';
import { Session } from '../../../operator/link/session.ts';
import type { SimulatedCluster } from '../../cluster/simulated/start.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { installCrd } from '../../cluster/workload/index.ts';
import { credentials, link, objectRef } from '../../support/builders.ts';
import { RecordedReport } from './recorded.ts';
import { Stage, startTarget } from './stage.ts';

describe('a session that reads nothing but ServiceExports', () => {
  let stage: Stage;
  let target: SimulatedCluster;
  let other: SimulatedCluster | undefined;
  let session: Session;
  let report: RecordedReport;
  let party: ImportParty;
  /** Resolves when nothing is being written of the part of the cluster. */
  let left: Promise<void>;
  let generation = 1;

  /** What the Link says, at a generation of its own. */
  const settings = (spec: object = {}): LinkSettings => {
    const nothing = { probeSpec: undefined, selector: undefined, remoteDiscoverySelector: undefined };
    const read = readLink(link('west', { ...nothing, ...spec }, { generation: (generation += 1) }));
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    return read.value;
  };
  const reachable = (): string => {
    const { status, reason } = session.findings().reachable ?? {};
    return status === undefined ? 'unknown' : `${status} ${reason}`;
  };
  const until = (verdict: string): Promise<unknown> =>
    eventually(`it is ${verdict}`, async () => reachable() === verdict);
  /** Has the target answer so to all requests, those for watches that were open included. */
  const refuse = (code: number): (() => void) => {
    const release = target.faults.refuse({ failure: { kind: 'status', code } });
    target.faults.dropWatches();
    return release;
  };

  beforeEach(async () => {
    left = Promise.resolve();
    stage = await Stage.start();
    target = await startTarget();
    await installCrd(target, serviceExportCrd);
    const nothing = (): void => undefined;
    const imports = {
      join: (joined: ImportParty) => (party = joined),
      leave: () => left,
      add: nothing,
      addAll: nothing,
      partsOf: () => new Set<string>(),
      underWayOf: () => [],
    };
    const env = { ...(await stage.environment()), imports } as unknown as Environment;
    report = new RecordedReport();
    session = new Session(settings(), env, report);
    session.start();
    session.setCredentials(credentials('west', target.kubeconfig));
  });
  afterEach(async () => {
    await session.stop();
    await stage.stop();
    await target.stop();
    await other?.stop();
    other = undefined;
  });

  it('reports whether they can be read, once they are (E4, K5)', async () => {
    expect(reachable()).toBe('True NothingSelected');
    const release = refuse(503);
    party.read();
    expect(reachable()).toBe('unknown');
    await until('False Unreachable');
    expect(report.events.some((each) => each.startsWith('Warning TargetUnreachable'))).toBe(true);
    release();
    await until('True Connected');
    expect(session.findings()).toMatchObject({ credentials: { status: 'True' }, withinLimits: { status: 'True' } });
    refuse(401);
    await eventually('they are refused', async () => session.findings().credentials?.reason === 'Unauthorized');
    expect(reachable()).toBe('False Unreachable');
  });

  it.each([[403], [404]])('is connected where they are answered with %d (K5)', async (code) => {
    const release = refuse(503);
    party.read();
    await until('False Unreachable');
    target.faults.refuse({
      failure: { kind: 'status', code },
      match: ({ resource }) => resource === 'serviceexports',
    });
    release();
    await until('True Connected');
    expect(session.findings().credentials?.status).toBe('True');
  });

  it('reports nothing of them while the Link does not take them, nor what was before (G1)', async () => {
    party.read();
    await until('True Connected');
    const release = refuse(503);
    await until('False Unreachable');
    session.update(settings({ serviceExports: false }));
    expect(reachable()).toBe('True NothingSelected');
    session.update(settings());
    expect(reachable()).toBe('unknown');
    release();
    await until('True Connected');
  });

  it('leaves no refusal of the credentials behind once nothing is read that could take it back (G1, L114)', async () => {
    party.read();
    await until('True Connected');
    refuse(401);
    await eventually('they are refused', async () => session.findings().credentials?.reason === 'Unauthorized');
    session.update(settings({ serviceExports: false }));
    expect(session.findings().credentials?.status).toBe('True');
    session.setCredentials({ ...credentials('west', target.kubeconfig), data: {} });
    await eventually('the Secret is empty', async () => session.findings().credentials?.status === 'False');
  });

  it('have it stop only when nothing is being written that was decided by them (L74)', async () => {
    const written = Promise.withResolvers<void>();
    left = written.promise;
    await eventually('the Lease is held', async () => session.lease.isHeld);
    let hasStopped = false;
    const stopped = session.stop().then(() => (hasStopped = true));
    await eventually('the Lease is released', async () => stage.leases()['west']?.holder === '');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(hasStopped).toBe(false);
    written.resolve();
    await stopped;
  });

  it('reports what is known of them when selectors are taken off the Link (G1)', async () => {
    party.read();
    await until('True Connected');
    session.update(settings({ selector: { matchLabels: { a: 'b' } } }));
    expect(reachable()).toBe('unknown');
    await until('True Connected');
    session.update(settings());
    expect(reachable()).toBe('True Connected');
  });

  it.each([[503], [401]])('keeps credentials that work while the new ones are answered with %d (E2)', async (code) => {
    party.read();
    await until('True Connected');
    target.store.upsert({ ...objectRef('multicluster.x-k8s.io/v1beta1', 'ServiceExport', 'web', 'shop') });
    await eventually('it is exported', async () => party.observe('shop/web').serviceExport !== undefined);
    other = await startTarget();
    await installCrd(other, serviceExportCrd);
    const release = other.faults.refuse({ failure: { kind: 'status', code } });
    session.setCredentials(credentials('west', other.kubeconfig));
    await eventually('they do not work', async () => session.findings().credentials?.status === 'False');
    expect(party.observe('shop/web').serviceExport?.metadata.name).toBe('web');
    expect(reachable()).toBe('True Connected');
    release();
    await eventually('they are valid', async () => session.findings().credentials?.status === 'True');
    await eventually('the other is read', async () => party.observe('shop/web').isKnown);
    expect(party.observe('shop/web').serviceExport).toBeUndefined();
  });

  it('counts as hearing the target, unless the Link reads Services too (E4)', async () => {
    const heard = async (): Promise<number | undefined> =>
      (await stage.metrics.target.lastHeard.get()).values.map(({ value }) => value)[0];
    target.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ resource }) => ['services', 'endpointslices'].includes(resource),
    });
    session.update(settings({ selector: { matchLabels: { a: 'b' } } }));
    party.read();
    await eventually('they have been read', async () => party.observe('shop/web').isKnown);
    expect(await heard()).toBeUndefined();
    session.update(settings());
    target.store.upsert({ ...objectRef('multicluster.x-k8s.io/v1beta1', 'ServiceExport', 'web', 'shop') });
    await eventually('it is heard', async () => (await heard()) !== undefined);
  });

  it.each([[undefined], [{ matchLabels: { a: 'b' } }]])(
    'reports that there are more than are read, given selector %j (E10)',
    async (selector) => {
      const tooMany = new LimitError('list serviceexports: more than 50000 objects');
      const listEach = Reflect.get(KubeClient.prototype, 'listEach');
      const spy = vi.spyOn(KubeClient.prototype, 'listEach').mockImplementation(function (
        this: KubeClient,
        of,
        ...rest
      ) {
        return of.plural === 'serviceexports' ? Promise.reject(tooMany) : listEach.call(this, of, ...rest);
      });
      try {
        session.update(settings({ selector }));
        party.read();
        await eventually('it is reported', async () => session.findings().withinLimits?.status === 'False');
        expect(session.findings().withinLimits).toMatchObject({ reason: 'LimitExceeded' });
        await until('True Connected');
      } finally {
        spy.mockRestore();
      }
      await eventually('all are read', async () => session.findings().withinLimits?.status === 'True');
    },
  );
});

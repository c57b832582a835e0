import { afterEach, describe, expect, it, test } from 'vitest';
import { type LinkSettings, readLink } from '../../../crds/index.ts';
import { RevokedError } from '../../../operator/kube/abort.ts';
import { machineNetwork } from '../../../operator/kube/network.ts';
import type { Secret } from '../../../operator/kube/objects.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { Session } from '../../../operator/link/session.ts';
import { LEADERS } from '../../cluster/guests.ts';
import type { RequestInfo } from '../../cluster/simulated/request.ts';
import type { SimulatedCluster } from '../../cluster/simulated/start.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { credentials, EXPORTED, EXPORTED_FLAT, GATEWAY, link, service } from '../../support/builders.ts';
import { RecordedReport } from './recorded.ts';
import { exportFrom, Stage, type StageOptions, startTarget } from './stage.ts';

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `s${at}`);
/** Renewed every second, so that its loss is seen soon. */
const QUICK_LEASE = { leaseDuration: '3s', renewDeadline: '2s' };
const local = (remote: readonly string[]): readonly string[] => remote.map((name) => `${name}-west`);

describe('a session', () => {
  let stage: Stage;
  let env: Environment;
  let report: RecordedReport;
  let session: Session;
  let target: SimulatedCluster | undefined;
  let generation = 1;
  afterEach(async () => {
    await session.stop();
    await stage.stop();
    await target?.stop();
    target = undefined;
  });

  /** What the Link says, at a generation of its own unless it is given. */
  const settings = (spec: object = {}, metadata: object = {}): LinkSettings => {
    const read = readLink(
      link('west', { probeSpec: undefined, ...spec }, { generation: (generation += 1), ...metadata }),
    );
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    return read.value;
  };
  const secret = (): Secret => credentials('west', target!.kubeconfig);

  /** A session of a Link to a target that exports these Services, over mirrors that were there before. */
  const start = async (
    {
      exported,
      mirrored = [],
      spec = {},
    }: { exported?: readonly string[]; mirrored?: readonly string[]; spec?: object },
    options: StageOptions = {},
  ): Promise<void> => {
    stage = await Stage.start(options);
    for (const name of mirrored) stage.mirror(name);
    if (exported !== undefined) target = await startTarget(...exported);
    env = await stage.environment();
    report = new RecordedReport();
    session = new Session(settings(spec), env, report);
    session.start();
    if (target !== undefined) session.setCredentials(secret());
  };
  /** A session of a Link to a target that exports `a`, while Linkerd's controller holds its Lease. */
  const startBesideLinkerd = async (spec: object = {}): Promise<void> => {
    stage = await Stage.start({ flags: QUICK_LEASE });
    stage.lease('west', 'linkerd-0');
    target = await startTarget('a');
    env = await stage.environment();
    report = new RecordedReport();
    session = new Session(settings(spec), env, report);
    session.start();
    session.setCredentials(secret());
  };
  const untilMirrored = (...remote: readonly string[]): Promise<unknown> =>
    eventually(`${remote.join(', ')} are mirrored`, async () => stage.has(...local(remote)));
  const untilSynced = (): Promise<unknown> =>
    eventually('it has caught up', async () => session.findings().synced?.status === 'True');
  const untilHeld = (count: number): Promise<unknown> =>
    eventually(`${count} are held`, async () => session.findings().pruneHeld === count);
  const remove = (name: string): void => void target!.store.delete('v1', 'Service', 'shop', name);

  it('mirrors what the target exports, under the Lease of the Link', async () => {
    await start({ exported: ['a', 'b'] });
    await untilMirrored('a', 'b');
    await untilSynced();
    expect(stage.leases()).toEqual({ west: { holder: 'linkspan-0', cluster: 'west' } });
    expect(session.findings()).toMatchObject({
      reachable: { status: 'True' },
      credentials: { status: 'True' },
      pruneHeld: 0,
      heldBy: undefined,
    });
    expect([...(session.findings().mirrors?.keys() ?? [])].sort()).toEqual(['shop/a', 'shop/b']);
  });

  it('looks at nothing that is mirrored when another namespace goes, and at what waits for room (E1)', async () => {
    await start({ exported: names(20) });
    await untilMirrored(...names(20));
    await untilSynced();
    const reconciled = async (): Promise<number> => {
      const lines = (await stage.metrics.registry.metrics()).split('\n');
      const counts = lines.filter((line) =>
        line.startsWith('controller_runtime_reconcile_total{controller="link/west"'),
      );
      return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    const idle = async (): Promise<number> => {
      let before = -1;
      let now = await reconciled();
      await eventually('it is at rest', async () => {
        [before, now] = [now, await reconciled()];
        return before === now;
      });
      return now;
    };
    const before = await idle();
    session.namespaceChanged('other', 'missing');
    await eventually('the probe Service is looked at', async () => (await reconciled()) > before);
    expect((await idle()) - before).toBeLessThan(5);
    session.namespaceChanged('shop', 'exists');
    await eventually('what is in a namespace is', async () => (await reconciled()) >= before + 20);
  });

  it('knows nothing of the target before it has read it, and touches nothing but the gateway (E4)', async () => {
    await start({ mirrored: ['a'], spec: { gatewayAddress: '203.0.113.77' } });
    await eventually('the gateway is in use', async () => stage.addresses('a-west').join() === '203.0.113.77');
    expect(session.findings()).toMatchObject({
      credentials: undefined,
      reachable: undefined,
      synced: undefined,
      mirrors: undefined,
    });
    session.setCredentials(undefined);
    await eventually('that is reported', async () => session.findings().credentials?.reason === 'SecretNotFound');
    expect(stage.services()).toEqual(['a-west']);
  });

  it('says nothing of mirrors before it has looked at each (G1)', async () => {
    await start({ exported: ['a', 'b'] }, { flags: { concurrency: '1' } });
    stage.east.faults.latency(1_000, ({ verb }) => verb === 'patch');
    await eventually('the first is under way', async () => session.findings().reachable?.status === 'True');
    expect(session.findings()).toMatchObject({ synced: undefined, mirrors: undefined });
  });

  it('writes nothing and reports no mirrors while another holds the Lease (H1)', async () => {
    await startBesideLinkerd();
    await eventually('it stands by', async () => session.findings().heldBy === 'linkerd-0');
    await eventually('the target is read', async () => session.findings().reachable?.status === 'True');
    expect([stage.services(), session.findings().mirrors]).toEqual([[], undefined]);
    stage.lease('west', '');
    await untilMirrored('a');
    await untilSynced();
    expect(session.findings().mirrors?.size).toBe(1);
    stage.lease('west', 'linkerd-0');
    await eventually('it stands by again', async () => session.findings().heldBy === 'linkerd-0');
    expect(session.findings().mirrors).toBeUndefined();
  });

  it('knows that a Service is gone once the target, asked for it, has said so, by whomever the Lease is held (J3, L170)', async () => {
    // No Service matches it, but that is not certain.
    await startBesideLinkerd({ federatedServiceSelector: { matchLabels: { team: 'a' } } });
    const known = () => [session.knowledge('shop/gone').exported, session.isMemberReady('shop/gone')];
    const match = ({ selected }: RequestInfo): boolean => selected === 'gone';
    const answer = target!.faults.refuse({ failure: { kind: 'status', code: 503 }, match });
    await eventually('the target is read', async () => session.knowledge('shop/a').exported === 'gateway');
    expect(known()).toEqual([undefined, undefined]);
    answer();
    await eventually('the target has answered', async () => known().join() === 'not,false');
  });

  it('claims names as soon as the target is listed, and gives those of what is gone up while it stands by (A7)', async () => {
    stage = await Stage.start();
    stage.lease('west', 'linkerd-0');
    target = await startTarget('a');
    env = await stage.environment();
    env.claims.join('east', { createdAt: '2030-01-01T00:00:00Z', name: 'east' }, () => undefined);
    session = new Session(settings({}, { creationTimestamp: '2026-01-01T00:00:00Z' }), env, new RecordedReport());
    session.start();
    session.setCredentials(secret());
    const other = { owner: { cluster: 'east', key: 'shop/x' }, names: ['a-west'], since: '' };
    const wins = (): boolean => 'name' in (env.claims.resolve('shop', other) ?? {});
    await eventually('the name is claimed', async () => !wins());
    remove('a');
    await eventually('the name is given up', async () => wins());
  });

  describe('takes no mirror away before the target has confirmed it', () => {
    const uidOf = (name: string) => stage.east.store.get('v1', 'Service', 'shop', name)?.metadata.uid;
    const untilAskedFor = (name: string): Promise<unknown> =>
      eventually(`the target has been asked for ${name}`, async () =>
        (await target!.audit()).some(({ uri, code }) => code === 200 && uri.includes(`metadata.name%3D${name}`)),
      );
    const isOfServices = ({ resource }: RequestInfo): boolean => resource === 'services';
    /** Everything is heard again. */
    const heal = async (): Promise<void> => {
      target!.faults.clear();
      target!.faults.dropWatches();
      await untilSynced();
    };

    it('where new credentials take over with a list that is older than what the old ones have shown (L65, E2)', async () => {
      await start({ exported: ['a'] });
      await untilMirrored('a');
      await untilSynced();
      const [, renewed] = LEADERS;
      const isRenewed = ({ user }: Pick<RequestInfo, 'user'>): boolean => user === renewed.name;
      target!.faults.silenceWatches(isRenewed);
      const open = target!.faults.refuse({
        failure: { kind: 'status', code: 503 },
        match: (request) => isRenewed(request) && request.resource === 'endpointslices',
      });
      session.setCredentials(credentials('west', target!.kubeconfigFor(renewed.token)));
      await eventually('they have listed Services', async () => {
        const listed = (await target!.audit()).filter(
          ({ verb, resource }) => `${verb} ${resource}` === 'list services',
        );
        return listed.filter(({ user }) => user === renewed.name).length === 2;
      });
      exportFrom(target!, 'b');
      await untilMirrored('a', 'b');
      const uid = uidOf('b-west');
      open();
      await eventually('they take over', async () => stage.lines.some((line) => line.includes('new credentials')));
      await untilAskedFor('b');
      await heal();
      expect(uidOf('b-west')).toBe(uid);
    });

    it('where a Service changes its mode and the watch of the other hears nothing (L66, A1)', async () => {
      await start({ exported: ['a'] });
      await untilMirrored('a');
      await untilSynced();
      const uid = uidOf('a-west');
      target!.faults.silenceWatches((request) => isOfServices(request) && request.uri.includes('remote-discovery'));
      target!.store.upsert({ ...service('a', { labels: EXPORTED_FLAT }) });
      await untilAskedFor('a');
      await heal();
      await eventually('it is flat', async () => stage.addresses('a-west').length === 0);
      expect(uidOf('a-west')).toBe(uid);
    });

    it('where another operator made it while the watches heard nothing (L67, H1)', async () => {
      stage = await Stage.start({ flags: QUICK_LEASE });
      stage.lease('west', 'linkerd-0');
      target = await startTarget('a');
      env = await stage.environment();
      session = new Session(settings(), env, new RecordedReport());
      session.start();
      session.setCredentials(secret());
      await eventually('the target is read', async () => session.findings().reachable?.status === 'True');
      // Long ago, when the target was asked, it did not export the Service.
      exportFrom(target, 'b');
      remove('b');
      await untilAskedFor('b');
      target.faults.silenceWatches();
      exportFrom(target, 'b');
      stage.mirror('b');
      const uid = uidOf('b-west');
      await target.clearAudit();
      stage.lease('west', '');
      await untilMirrored('a', 'b');
      await untilAskedFor('b');
      await heal();
      expect(uidOf('b-west')).toBe(uid);
    });
  });

  it('has its first pass end also when the Lease was lost in it, and came back', async () => {
    await start({ exported: names(6) }, { flags: { ...QUICK_LEASE, concurrency: '1' } });
    env.claims.join('east', { createdAt: '2030-01-01T00:00:00Z', name: 'east' }, () => undefined);
    const answer = stage.east.faults.latency(
      3_000,
      ({ verb, name = '' }) => verb === 'patch' && name.endsWith('-west'),
    );
    const gone = { owner: { cluster: 'east', key: 'shop/x' }, names: ['s5-west'], since: '' };
    const isClaimed = (): boolean => 'lostTo' in (env.claims.resolve('shop', gone) ?? {});
    await eventually('the first pass is under way', async () => isClaimed());
    // One that waits in the queue, and is in no list any more when the queue begins anew.
    remove('s5');
    await eventually('it is known to be gone', async () => !isClaimed());
    stage.lease('west', 'linkerd-0');
    await eventually('the Lease is lost', async () => session.findings().heldBy !== undefined);
    expect(session.findings().synced).toBeUndefined();
    answer();
    stage.lease('west', '');
    await untilMirrored(...names(5));
    await untilSynced();
  });

  describe('guards against mass deletion (E6)', () => {
    it('holds what a first list does not show any more', async () => {
      await start({ exported: ['a'], mirrored: names(12) });
      await untilHeld(12);
      await untilSynced();
      expect(stage.has('a-west', ...local(names(12)))).toBe(true);
      expect(report.events.filter((event) => event.includes('PruneHeld'))).toHaveLength(1);
    });

    const confirmed = (what: string): LinkSettings => ({
      ...settings({}, { annotations: { 'linkspan.dev/confirm-prune': what } }),
      generation: session.settings.generation,
    });

    it('lets it go when it is confirmed on the Link, whose generation is the same', async () => {
      await start({ exported: ['a'], mirrored: names(12) });
      await untilHeld(12);
      const { confirmation = '' } = session.findings();
      session.update(confirmed('12'));
      expect(session.findings().pruneHeld).toBe(12);
      session.update(confirmed(confirmation));
      await untilMirrored('a');
      expect(session.findings().pruneHeld).toBe(0);
    });

    it('releases the Lease of a Link that is suspended without a record of what was confirmed (L148)', async () => {
      await start({ exported: [], mirrored: names(12) });
      await untilHeld(12);
      await untilSynced();
      stage.east.faults.refuse({ failure: { kind: 'status', code: 503 }, match: ({ verb }) => verb === 'delete' });
      session.update(confirmed(session.findings().confirmation ?? ''));
      await eventually('it is recorded', async () => stage.leases()['west']?.confirmed !== undefined);
      await session.revokeConfirmation();
      await session.stop();
      expect(stage.leases()['west']).toEqual({ holder: '', cluster: 'west' });
      expect(stage.has(...local(names(12)))).toBe(true);
    });

    it('lets go of what the target exports again, one by one', async () => {
      await start({ exported: [], mirrored: names(12) });
      await untilHeld(12);
      exportFrom(target!, 's3');
      await untilHeld(11);
    });

    it('holds nothing that is deleted one by one', async () => {
      await start({ exported: names(15) });
      await untilMirrored(...names(15));
      for (const name of names(15)) remove(name);
      await untilMirrored();
      expect(session.findings().pruneHeld).toBe(0);
    });

    it('counts what was going one by one when other selectors are read instead', async () => {
      await start({ exported: names(15) });
      await untilMirrored(...names(15));
      await untilSynced();
      stage.east.faults.refuse({ failure: { kind: 'status', code: 503 }, match: ({ verb }) => verb === 'delete' });
      for (const name of names(15)) remove(name);
      const deletions = async () => (await stage.east.audit()).filter(({ verb }) => verb === 'delete').length;
      await eventually('they are going', async () => (await deletions()) > 15);
      session.update(settings({ selector: { matchLabels: { other: 'selector' } } }));
      await untilHeld(15);
    });
  });

  describe('applies a changed spec in place (E5)', () => {
    it('reads the target anew for other selectors, and nothing of the former is heard any more', async () => {
      const labels = { other: 'selector' };
      await start({ exported: ['a'] });
      target!.store.upsert({ ...service('b', { labels }) });
      await untilMirrored('a');
      session.update(settings({ selector: { matchLabels: labels } }));
      await untilMirrored('b');
      await untilSynced();
      exportFrom(target!, 'c');
      target!.store.upsert({ ...service('d', { labels }) });
      await untilMirrored('b', 'd');
    });

    it('gives up the names of what other selectors leave out, also before anything was mirrored (A7, L80)', async () => {
      await startBesideLinkerd();
      const other = { owner: { cluster: 'east', key: 'shop/x' }, names: ['a-west'], since: '' };
      env.claims.join('east', { createdAt: '2030-01-01T00:00:00Z', name: 'east' }, () => undefined);
      const isClaimed = (): boolean => 'lostTo' in (env.claims.resolve('shop', other) ?? {});
      await eventually('the name is claimed', async () => isClaimed());
      session.update(settings({ selector: {}, remoteDiscoverySelector: { matchLabels: { none: 'such' } } }));
      await eventually('the name is free', async () => !isClaimed());
      stage.lease('west', '');
      await untilSynced();
      expect(stage.services()).toEqual([]);
    });

    it('reads other namespaces of the target', async () => {
      await start({ exported: ['a'], spec: { targetNamespaces: ['bank'] } });
      await untilSynced();
      expect(stage.has()).toBe(true);
      session.update(settings({ targetNamespaces: ['bank', 'shop'] }));
      await untilMirrored('a');
    });

    it('does not read the target anew for another gateway', async () => {
      await start({ exported: ['a'] });
      await untilMirrored('a');
      await untilSynced();
      await target!.clearAudit();
      session.update(settings({ gatewayAddress: '203.0.113.77' }));
      await eventually('it is in use', async () => stage.addresses('a-west').join() === '203.0.113.77');
      expect((await target!.audit()).filter(({ verb }) => verb === 'list')).toEqual([]);
    });

    it('reports that it follows only once everything has been applied (G1)', async () => {
      await start({ exported: names(3) });
      await untilMirrored(...names(3));
      await untilSynced();
      const answer = stage.east.faults.refuse({
        failure: { kind: 'status', code: 503 },
        match: ({ verb, resource }) => verb === 'patch' && resource === 'endpoints',
      });
      session.update(settings({ gatewayAddress: '203.0.113.77' }));
      expect(session.findings()).toMatchObject({ settingsGeneration: session.settings.generation, synced: undefined });
      await eventually('the address is known', async () => session.findings().resolved?.status === 'True');
      expect(session.findings()).toMatchObject({ synced: undefined, mirrors: { size: 3 } });
      answer();
      await untilSynced();
      expect(names(3).map((name) => stage.addresses(`${name}-west`).join())).toEqual(
        names(3).map(() => '203.0.113.77'),
      );
    });

    it('does not report for another gateway what was found of the former (G1)', async () => {
      let answer: () => void = () => undefined;
      const answered = new Promise<void>((resolve) => (answer = resolve));
      const resolve = async () => {
        await answered;
        return { addresses: ['203.0.113.77'] };
      };
      await start({ exported: ['a'] }, { tuning: { network: { ...machineNetwork, resolve } } });
      await untilMirrored('a');
      await untilSynced();
      session.update(settings({ gatewayAddress: 'gateway.example.com' }));
      exportFrom(target!, 'b');
      await eventually('a pass is over', async () => session.findings().mirrors?.size === 2);
      expect(session.findings()).toMatchObject({ resolved: undefined, synced: undefined });
      expect(stage.addresses('a-west')).toEqual([GATEWAY]);
      answer();
      await untilSynced();
      expect(stage.addresses('a-west')).toEqual(['203.0.113.77']);
    });

    it('does not report for other selectors or another Secret what was found by the former (G1)', async () => {
      await start({ exported: ['a'] });
      await untilSynced();
      target!.pause();
      session.update(settings({ targetNamespaces: ['shop'], clusterCredentialsSecret: 'another' }));
      expect(session.findings()).toMatchObject({
        reachable: undefined,
        credentials: undefined,
        synced: undefined,
        mirrors: undefined,
      });
      target!.resume();
    });

    it('applies another spec of the generation that it has, as a restored backup may hold', async () => {
      await start({ exported: ['a'] });
      await untilMirrored('a');
      session.update(settings({ gatewayAddress: '203.0.113.77' }, { generation: session.settings.generation }));
      await eventually('a has the other gateway', async () => stage.addresses('a-west').join() === '203.0.113.77');
    });
  });

  it('leaves all mirrors when it stops, its Lease as a record, and neither names nor a listener', async () => {
    await start({ exported: ['a'] });
    await untilMirrored('a');
    await session.stop();
    expect(stage.services()).toEqual(['a-west']);
    expect(stage.leases()).toEqual({ west: { holder: '', cluster: 'west' } });
    env.claims.join('west', { createdAt: '', name: 'another' }, () => undefined);
    env.source.subscribe('west', () => undefined)();
    const series = (await stage.metrics.registry.metrics()).split('\n').filter((line) => line.includes('west'));
    expect(series).toEqual([]);
  });

  describe('releases its Lease only when what was sent under it has ended (H1, L69)', () => {
    const SLOW_MS = 300;

    it('be it the deletion of a mirror', async () => {
      await start({ exported: ['a'] });
      await untilMirrored('a');
      let isSent = false;
      stage.east.faults.latency(SLOW_MS, ({ verb, resource }) => {
        const isDeletion = verb === 'delete' && resource === 'services';
        isSent ||= isDeletion;
        return isDeletion;
      });
      remove('a');
      await eventually('the deletion is sent', async () => isSent);
      await session.stop();
      expect(stage.services()).toEqual([]);
      expect(stage.leases()).toEqual({ west: { holder: '', cluster: 'west' } });
    });

    it('or a write to a federated Service', async () => {
      await start({ exported: ['a'] });
      await session.stop();
      const ended = Promise.withResolvers<void>();
      let isInterrupted = false;
      const interrupt = (): Promise<void> => {
        isInterrupted = true;
        return ended.promise;
      };
      session = new Session(settings(), { ...env, federations: { ...env.federations, interrupt } }, report);
      session.start();
      await eventually('the Lease is held', async () => session.lease.isHeld);
      const stopped = session.stop();
      await eventually('federations are interrupted', async () => isInterrupted);
      expect(session.lease.mayWrite).toBe(false);
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      expect(stage.leases()['west']?.holder).toBe('linkspan-0');
      ended.resolve();
      await stopped;
      expect(stage.leases()['west']?.holder).toBe('');
    });
  });

  it('gives up what was sent under its Lease once that is lost: whoever has it next does not wait (H1, L76)', async () => {
    await start({ exported: ['a'] }, { flags: QUICK_LEASE });
    await untilMirrored('a');
    const isDeletion = ({ verb, resource }: { readonly verb: string; readonly resource: string }): boolean =>
      verb === 'delete' && resource === 'services';
    stage.east.faults.latency(6_000, isDeletion);
    remove('a');
    stage.east.faults.refuse({
      failure: { kind: 'status', code: 503 },
      match: ({ resource }) => resource === 'leases',
    });
    const codes = async () => (await stage.east.audit()).filter(isDeletion).map(({ code }) => code);
    await eventually('the deletion has ended', async () => (await codes()).length > 0);
    expect([await codes(), stage.services()]).toEqual([[0], ['a-west']]);
  });

  it('has federated Services give up what they have sent when its Lease is lost (H1, L76)', async () => {
    await start({ exported: [] }, { flags: QUICK_LEASE });
    await session.stop();
    const reasons: unknown[] = [];
    const interrupt = async (reason?: unknown): Promise<void> => void reasons.push(reason);
    session = new Session(settings(), { ...env, federations: { ...env.federations, interrupt } }, report);
    session.start();
    await eventually('the Lease is held', async () => session.lease.isHeld);
    stage.lease('west', 'linkerd-0');
    await eventually('they are interrupted', async () => reasons.length > 0);
    expect(reasons[0]).toBeInstanceOf(RevokedError);
  });

  test('does not write into namespaces of the control plane, the operator or Kubernetes (A3, E8)', async () => {
    await start({ exported: [] });
    for (const within of ['kube-system', 'linkerd', 'linkerd-multicluster']) {
      target!.store.upsert({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: within } });
      target!.store.upsert({ ...service('a', { namespace: within, labels: EXPORTED }) });
    }
    await eventually('all are refused', async () => {
      const found = session.findings().mirrors ?? new Map<string, never>();
      return [...found.values()].filter(({ reason }) => reason === 'NamespaceNotAllowed').length === 3;
    });
    expect(['kube-system', 'linkerd-multicluster'].flatMap((within) => stage.services(within))).toEqual([]);
  });
});

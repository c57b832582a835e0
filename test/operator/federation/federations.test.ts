/** The controller of federated Services over a simulated source cluster, with sessions played by the test. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LocalParty, TargetParty } from '../../../operator/federation/observed.ts';
import { RevokedError } from '../../../operator/kube/abort.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { Federations } from '../../../operator/federation/federations.ts';
import type { FederationParty } from '../../../operator/federation/party.ts';
import type { MirrorStatus } from '../../../operator/mirror/status.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { namespace } from '../../support/builders.ts';
import { linkerds, local, localSlice, member, target, throughGateway } from './observed.ts';
import { Stage } from '../link/stage.ts';

interface Live extends ObjectRef {
  readonly metadata: ObjectRef['metadata'] & {
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly clusterIP?: string; readonly ports: readonly { readonly port: number }[] };
}

describe('the controller of federated Services', () => {
  let stage: Stage;
  let federations: Federations;
  let here: LocalParty;
  let reports: Map<string, MirrorStatus | undefined>;
  /** Clusters that have a Link. */
  let linked: Set<string>;
  /** Clusters of Links that select members, with a session or without. */
  let selecting: string[];
  /** Clusters whose Lease has certainly not expired. */
  let mayWrite: boolean;
  /** Whether targets have confirmed that what they show no more is no member. */
  let confirmsNoMember: boolean;
  /** Services that were reported to have changed. */
  let changed: string[];
  /** Answers that were forgotten: cluster and key. */
  let forgotten: string[];
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    stage = await Stage.start({ tuning: { retryBackoff: { baseMs: 5, capMs: 20 }, conflictRetryMs: 10 } });
    here = local();
    reports = new Map();
    linked = new Set();
    selecting = [];
    changed = [];
    mayWrite = true;
    confirmsNoMember = true;
    forgotten = [];
    stop = new AbortController();
    running = Promise.resolve();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await stage.stop();
  });

  const report = (cluster: string) => (_: string, status: MirrorStatus | undefined) =>
    void reports.set(cluster, status);
  const party = (observed: TargetParty): FederationParty => ({
    cluster: observed.link.cluster,
    keys: () => (observed.service === undefined ? [] : ['shop/web']),
    observe: () => observed,
    members: {
      confirms: () => confirmsNoMember,
      ask: () => undefined,
      forget: (key) => void forgotten.push(`${observed.link.cluster} ${key}`),
    },
    mayWrite: () => mayWrite,
    report: report(observed.link.cluster),
  });
  const start = async (...parties: readonly TargetParty[]): Promise<Environment> => {
    const env = await stage.environment();
    federations = new Federations({
      env: { ...env, failovers: { mirrorChanged: (key) => void changed.push(key) } },
      local: {
        keys: () => (here.service === undefined ? [] : ['shop/web']),
        observe: () => here,
        mayWrite: () => true,
        report: report('(local)'),
      },
      mayHaveLink: (cluster) => linked.has(cluster),
      isLinked: () => true,
      seniorityOf: () => undefined,
      selecting: () => selecting,
    });
    for (const each of parties) federations.join(party(each));
    running = federations.run(stop.signal);
    await federations.idle();
    return env;
  };
  /** A session knows something else of its cluster, and all is reconciled. */
  const change = async (observed: TargetParty): Promise<void> => {
    federations.leave(observed.link.cluster);
    federations.join(party(observed));
    await federations.idle();
  };
  const live = (): Live | undefined =>
    stage.east.store.get('v1', 'Service', 'shop', 'web-federated') as Live | undefined;
  const entries = (): string | undefined => live()?.metadata.annotations?.['multicluster.linkerd.io/remote-discovery'];
  const slices = (): Readonly<Record<string, boolean | undefined>> =>
    Object.fromEntries(
      stage.east.store.list('discovery.k8s.io/v1', 'EndpointSlice', 'shop').map((slice) => {
        const { endpoints } = slice as unknown as { endpoints: { conditions: { ready?: boolean } }[] };
        return [slice.metadata.name, endpoints[0]?.conditions.ready];
      }),
    );
  const reasons = () => Object.fromEntries([...reports].map(([cluster, status]) => [cluster, status?.reason]));
  const writes = async (): Promise<readonly string[]> =>
    (await stage.east.audit()).filter(({ verb }) => !['list', 'watch', 'get'].includes(verb)).map(({ verb }) => verb);

  it('joins the Services of all clusters in one write, and reports to each (I2, N1)', async () => {
    here = local({ service: member('here') });
    await stage.east.clearAudit();
    await start(target('b'), target('a'), target('c', { isDiscoverable: false }));
    expect(entries()).toBe('web@a,web@b');
    expect(live()?.metadata.labels.owner).toBe('here');
    expect(reasons()).toEqual({ a: 'Mirrored', b: 'Mirrored', c: 'WaitingForCredentials', '(local)': 'Mirrored' });
    expect(await writes()).toEqual(['patch']);
  });

  it('leaves what another operator serves alone, to the slices that somebody gave it, and says so (I9)', async () => {
    stage.put({ ...linkerds('web@b', { operator: 'other' }), apiVersion: 'v1', kind: 'Service' });
    stage.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } });
    const metadata = { name: 'by-hand', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web-federated' } };
    const byHand = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata,
      addressType: 'IPv4',
      endpoints: [],
    };
    stage.put(byHand);
    await stage.east.clearAudit();
    await start(target('a'));
    expect([entries(), reasons(), await writes()]).toEqual(['web@b', { a: 'ServedByAnother' }, []]);
  });

  it('takes its mark from local Services once a cluster turns out to have none, of which nobody tells (I9)', async () => {
    const own = 'linkerd-multicluster';
    stage.put({ ...linkerds(undefined, { local: true, operator: own }), apiVersion: 'v1', kind: 'Service' });
    here = local({ service: member('here') });
    const other = { ...target('b', { service: undefined, knowledge: 'unknown' }) };
    await start(other);
    const mark = () => live()?.metadata.annotations?.['linkspan.dev/operator'];
    expect([entries(), mark()]).toEqual([undefined, own]);
    Object.assign(other, { knowledge: 'known' });
    await eventually('the mark is gone', () => Promise.resolve(mark() === undefined));
  });

  it('joins what another has created a moment before, which no watch has shown yet (I2, N1)', async () => {
    linked.add('b');
    await start();
    stage.east.faults.silenceWatches();
    stage.put({ ...linkerds('web@b'), apiVersion: 'v1', kind: 'Service' });
    federations.join(party(target('a')));
    const collisions = async () => (await stage.east.audit()).filter(({ code }) => code === 409).length;
    await eventually('it has been tried', async () => (await collisions()) > 1);
    expect([entries(), reasons()]).toEqual(['web@b', {}]);
    stage.east.faults.dropWatches();
    await eventually('both are members', async () => entries() === 'web@a,web@b');
    await eventually('that is reported', async () => reasons().a === 'Mirrored');
  });

  it('reports a Service that it has written, though no watch shows it yet, and only then (J3)', async () => {
    await start();
    expect(changed).toEqual([]);
    stage.east.faults.silenceWatches();
    federations.join(party(target('a')));
    await federations.idle();
    expect(changed).toEqual(['shop/web-federated']);
    federations.addAll();
    await federations.idle();
    expect(changed).toHaveLength(1);
  });

  it('writes nothing when it starts beside what is right (C5)', async () => {
    await start(target('a'), throughGateway('b'));
    const before = live();
    stop.abort();
    await running;
    stop = new AbortController();
    await stage.east.clearAudit();
    running = federations.run(stop.signal);
    await federations.idle();
    expect(await writes()).toEqual([]);
    expect(live()).toEqual(before);
  });

  it('takes over in place what Linkerd has written, and what is no longer wanted goes (A8, N5)', async () => {
    stage.put({ ...linkerds('web@gone,web@a'), apiVersion: 'v1', kind: 'Service' });
    const before = live();
    await start(target('a'));
    expect(entries()).toBe('web@a');
    expect(live()?.metadata.uid).toBe(before?.metadata.uid);
    expect(live()?.spec.clusterIP).toBe(before?.spec.clusterIP);
    expect(live()?.metadata.labels).toEqual({ owner: 'a', 'mirror.linkerd.io/mirrored-service': 'true' });
  });

  it('puts right at once what somebody changes or deletes (C3, N2)', async () => {
    await start(target('a'), target('b'));
    const changed = live()!;
    const annotations = { ...changed.metadata.annotations, 'multicluster.linkerd.io/remote-discovery': 'web@b,web@x' };
    stage.put({ ...changed, metadata: { ...changed.metadata, annotations } } as ObjectRef);
    await eventually('it is put right', async () => entries() === 'web@a,web@b');
    stage.east.store.delete('v1', 'Service', 'shop', 'web-federated');
    await eventually('it is back', async () => entries() === 'web@a,web@b');
  });

  it('keeps a Service without members until all clusters whose Links select some are known (I6, L68)', async () => {
    await start(target('a'));
    const before = live();
    selecting = ['b'];
    federations.leave('a');
    await federations.idle();
    expect(entries()).toBe('');
    await change(target('b', { knowledge: 'unknown', service: undefined }));
    expect(entries()).toBe('');
    await change(target('b'));
    expect(entries()).toBe('web@b');
    expect(live()?.metadata.uid).toBe(before?.metadata.uid);
    expect(live()?.spec.clusterIP).toBe(before?.spec.clusterIP);
    await change(target('b', { service: undefined }));
    expect(live()).toBeUndefined();
  });

  it('looks again at a Service without members by itself (I6)', async () => {
    stage.put({ ...linkerds('web@gone'), apiVersion: 'v1', kind: 'Service' });
    selecting = ['b'];
    await start();
    await eventually('it has no members', async () => entries() === '');
    selecting = [];
    await eventually('it is gone', async () => live() === undefined);
  });

  it('keeps the membership of a cluster that has a Link and no session yet, and no longer (I6)', async () => {
    linked.add('a');
    stage.put({ ...linkerds('web@a,web@b'), apiVersion: 'v1', kind: 'Service' });
    await start(target('b'));
    expect(entries()).toBe('web@a,web@b');
    expect(live()?.metadata.labels.owner).toBe('linkerd');
    linked.delete('a');
    federations.addAll();
    await federations.idle();
    expect(entries()).toBe('web@b');
    federations.leave('b');
    await federations.idle();
    expect(live()).toBeUndefined();
  });

  it.each<[string, TargetParty['service']]>([
    ['it has no member any more (I6, L65)', undefined],
    ['its member is headless now (I6, L163)', member('b', { clusterIP: 'None' })],
  ])('keeps a membership until the target has confirmed that %s', async (_, shown) => {
    await start(target('a'), target('b'));
    confirmsNoMember = false;
    await change(target('b', { service: shown }));
    expect(entries()).toBe('web@a,web@b');
    expect(forgotten).toEqual([]);
    confirmsNoMember = true;
    federations.add('shop/web');
    await federations.idle();
    expect([entries(), forgotten[0]]).toEqual(['web@a', 'b shop/web']);
  });

  it('writes nothing while a Lease may have expired (H1)', async () => {
    await start(target('a'));
    mayWrite = false;
    await change(target('a', { service: undefined }));
    expect(entries()).toBe('web@a');
    mayWrite = true;
    await eventually('it is written', async () => live() === undefined);
  });

  it('is written although the Lease of a cluster may have expired that has no part in it (H1)', async () => {
    await start(target('a'));
    federations.join({ ...party(target('b', { service: undefined })), mayWrite: () => false });
    federations.join({
      ...party(target('c', { knowledge: 'anothers', service: undefined, mayHaveMember: false })),
      mayWrite: () => false,
    });
    await change(target('a', { service: undefined }));
    expect(live()).toBeUndefined();
  });

  it('is interrupted once what was being written is (H1, L69)', async () => {
    await start(target('a'));
    let isSent = false;
    stage.east.faults.latency(300, ({ verb }) => {
      isSent ||= verb === 'delete';
      return verb === 'delete';
    });
    federations.leave('a');
    federations.join(party(target('a', { service: undefined })));
    await eventually('the deletion is sent', async () => isSent);
    await federations.interrupt();
    expect(live()).toBeUndefined();
  });

  it('gives up what is being written when it is interrupted since a Lease was lost (H1, L76)', async () => {
    await start(target('a'));
    const isDeletion = ({ verb }: { readonly verb: string }): boolean => verb === 'delete';
    let isSent = false;
    stage.east.faults.latency(1_000, (request) => {
      isSent ||= isDeletion(request);
      return isDeletion(request);
    });
    federations.leave('a');
    federations.join(party(target('a', { service: undefined })));
    await eventually('the deletion is sent', async () => isSent);
    await federations.interrupt(new RevokedError('lost'));
    expect(live()).toBeDefined();
  });

  it('reconciles what one cluster has a part in, and nothing once it stops (H7)', async () => {
    let observed: string[] = [];
    const watched = (cluster: string, key: string): FederationParty => {
      const observe = (of: string): TargetParty => (
        observed.push(`${cluster} ${of}`),
        target(cluster, { service: undefined })
      );
      return { ...party(target(cluster)), keys: () => [key], observe };
    };
    await start();
    federations.join(watched('a', 'shop/a'));
    federations.join(watched('b', 'shop/b'));
    await federations.idle();
    observed = [];
    federations.addOf('a');
    await federations.idle();
    expect(observed).toEqual(['a shop/a', 'b shop/a']);
    stop.abort();
    await running;
    let asked = 0;
    federations.join({ ...watched('c', 'shop/c'), keys: () => ((asked += 1), []) });
    federations.leave('a');
    expect(asked).toBe(1);
  });

  it('waits for the namespace, and is there as soon as it is (A3)', async () => {
    stage.east.store.delete('v1', 'Namespace', undefined, 'shop');
    const { source } = await start(target('a'));
    expect(reasons()).toEqual({ a: 'MissingNamespace' });
    source.namespaces.subscribe((name, state) => federations.namespaceChanged(name, state));
    stage.put(namespace('shop'));
    await eventually('it is a member', async () => reasons().a === 'Mirrored');
    expect(entries()).toBe('web@a');
  });

  it('says for which cluster it creates the namespace, for as long as it has to (E10)', async () => {
    stage.east.store.delete('v1', 'Namespace', undefined, 'shop');
    const accept = stage.east.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: (request) => request.verb === 'patch',
    });
    const { source } = await start();
    source.namespaces.subscribe((name, state) => federations.namespaceChanged(name, state));
    const creating = new Set<string>();
    for (const cluster of ['a', 'b', 'c']) {
      const decided: NonNullable<FederationParty['budget']>['decided'] = (use, key, isCreated) =>
        creating[isCreated ? 'add' : 'delete'](`${use} ${key} ${cluster}`);
      federations.join({ ...party(target(cluster, { createNamespaces: cluster !== 'a' })), budget: { decided } });
    }
    await federations.idle();
    expect([...creating]).toEqual(['federation shop/web b']);
    accept();
    federations.addAll();
    await eventually('all are members', async () => entries() === 'web@a,web@b,web@c');
    await federations.idle();
    expect([...creating]).toEqual([]);
  });

  it("leaves a user's Service alone, says so, and takes the name when it is free (I8)", async () => {
    const foreign = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web-federated', namespace: 'shop' } };
    stage.put({ ...foreign, spec: { ports: [{ port: 80 }] } } as ObjectRef);
    const before = live();
    await start(target('a'));
    expect(reasons()).toMatchObject({ a: 'NameConflict' });
    expect(live()).toEqual(before);
    stage.east.store.delete('v1', 'Service', 'shop', 'web-federated');
    await eventually('the name is taken', async () => entries() === 'web@a');
    await eventually('that is reported', async () => reasons().a === 'Mirrored');
  });

  it('leads through gateways by slices, which follow each gateway, and goes back (I5)', async () => {
    here = local({ service: member('here'), slices: [localSlice()] });
    await start(target('a'));
    const uid = live()?.metadata.uid;
    const a = throughGateway('a');
    await change(a);
    await eventually('the slices are there', async () => Object.keys(slices()).length === 2);
    expect(slices()).toEqual({ 'web-federated.a-ipv4': true, 'web-federated.local.web-abc12': true });
    expect(entries()).toBeUndefined();
    await change({ ...a, gateway: { ...a.gateway!, alive: false } });
    expect(slices()).toEqual({ 'web-federated.a-ipv4': false, 'web-federated.local.web-abc12': true });
    stage.east.store.delete('discovery.k8s.io/v1', 'EndpointSlice', 'shop', 'web-federated.a-ipv4');
    await eventually('it is put back', async () => slices()['web-federated.a-ipv4'] === false);
    await change(target('a'));
    await eventually('the slices are gone', async () => Object.keys(slices()).length === 0);
    expect(entries()).toBe('web@a');
    expect(live()?.metadata.uid).toBe(uid);
  });

  it('reports what cannot be written, and that it can be (N3)', async () => {
    const accept = stage.east.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: (request) => request.verb === 'patch',
    });
    await start(target('a'));
    await eventually('that is reported', async () => reasons().a === 'Error');
    accept();
    federations.addAll();
    await eventually('it is written', async () => reasons().a === 'Mirrored');
  });
});

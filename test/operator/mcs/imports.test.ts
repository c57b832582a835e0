/** The controller of ServiceImports over a simulated source cluster, with exports played by the test. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serviceExportCrd, serviceImportCrd } from '../../../crds/index.ts';
import { FairSemaphore } from '../../../operator/kube/semaphore.ts';
import { formerExporter } from '../../../operator/mcs/session-party.ts';
import { Imports } from '../../../operator/mcs/imports.ts';
import type { Exporting, ImportParty } from '../../../operator/mcs/party.ts';
import type { LocalExporter, TargetExporter } from '../../../operator/mcs/observed.ts';
import type { PodAnswers } from '../../../operator/target/aspect.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { namespace } from '../../support/builders.ts';
import { flat, local, ownSlice, podSlice, service, serviceExport, target } from './observed.ts';
import { Stage } from '../link/stage.ts';

const MCS = 'multicluster.x-k8s.io/v1beta1';
const SLICES = 'discovery.k8s.io/v1';
const CRDS = [serviceExportCrd, serviceImportCrd] as const;

interface Live extends ObjectRef {
  readonly metadata: ObjectRef['metadata'] & {
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly clusterIP?: string; readonly ips?: readonly string[]; readonly ports: readonly object[] };
  readonly status?: {
    readonly clusters?: readonly { readonly cluster: string }[];
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

/** The export of a cluster whose Service is gone with it. */
const GONE = { serviceExport: undefined, service: undefined, slices: [] };
/** A cluster of which nothing is known yet. */
const UNKNOWN = { isKnown: false, serviceExport: undefined, service: undefined, slices: undefined };

describe('the controller of ServiceImports', () => {
  let stage: Stage;
  let imports: Imports;
  let here: LocalExporter;
  let parties: Map<string, TargetExporter>;
  /** Ids that clusters claim, by cluster name; otherwise that of the exporter. */
  let claims: Map<string, string | null | undefined>;
  /** Clusters whose Link is there. */
  let linked: Set<string>;
  /** Clusters of Links that take exports, with a session or without. */
  let exporting: string[];
  /** Whether clusters have confirmed that there is no export. */
  let confirms: boolean;
  /** Whether this cluster has, whatever the others say. */
  let confirmsHere: boolean;
  let forgotten: string[];
  /** Clusters whose exports are read. */
  let reading: Set<string>;
  let events: string[];
  let mayWrite: boolean;
  let sinceMs: number;
  let timesReadable: number;
  let writesAtOnce: number;
  /** Called after each write of the controller, before it goes on. */
  let afterWrite: () => Promise<void>;
  let importSettledMs: number;
  /** How long the Service of a pod that is gone stays. */
  let podGraceMs: number;
  /** Longest wait between two attempts, in milliseconds. */
  let retryCapMs: number;
  /** Clusters that no Link and no Lease has named. */
  let strangers: Set<string>;
  /** Whether the API server says that such a cluster has no Link, and of which it was asked. */
  let unlinked: boolean;
  let searched: string[];
  /** How long a part of such a cluster stays. */
  let returnGraceMs: number;
  /** What targets answer about pods. */
  let pods: PodAnswers;
  let stop: AbortController;
  let running: Promise<void>;
  /** The operator that a Service names, as it is known. */
  let seen: (service: string) => unknown;

  beforeEach(async () => {
    stage = await Stage.start({
      tuning: { conflictRetryMs: 10, statusPeriodMs: 0 },
    });
    for (const crd of CRDS) await installCrd(stage.east, crd);
    here = local();
    parties = new Map();
    claims = new Map();
    linked = new Set();
    exporting = [];
    confirms = true;
    confirmsHere = false;
    forgotten = [];
    reading = new Set();
    events = [];
    mayWrite = true;
    sinceMs = -Infinity;
    timesReadable = 0;
    importSettledMs = 60_000;
    writesAtOnce = 32;
    afterWrite = async () => undefined;
    podGraceMs = 0;
    retryCapMs = 20;
    strangers = new Set();
    unlinked = false;
    searched = [];
    returnGraceMs = 0;
    pods = { lacks: () => confirms, ask: () => undefined, forget: () => undefined };
    stop = new AbortController();
    running = Promise.resolve();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await stage.stop();
  });

  const exporter = <P extends LocalExporter | TargetExporter>(name: string, observed: () => P): Exporting<P> => ({
    get claimedId() {
      return claims.has(name) ? claims.get(name) : observed().id;
    },
    get sinceMs() {
      return sinceMs;
    },
    keys: () => (observed().serviceExport === undefined ? [] : ['shop/web']),
    observe: () => observed(),
    exports: {
      confirms: () => confirms || (confirmsHere && !parties.has(name)),
      ask: () => undefined,
      forget: (key) => {
        if (parties.has(name)) forgotten.push(`${name} ${key}`);
      },
    },
    read: () => void reading.add(name),
  });
  const party = (observed: TargetExporter): ImportParty => {
    const { cluster } = observed.link;
    parties.set(cluster, observed);
    const seniority = { createdAt: '2026-01-01T00:00:00Z', name: cluster };
    const base = exporter(cluster, () => parties.get(cluster) ?? observed);
    return Object.defineProperties(
      { cluster, seniority, pods } as Partial<ImportParty> as ImportParty,
      Object.getOwnPropertyDescriptors(base),
    );
  };
  const begin = async (): Promise<void> => {
    stop = new AbortController();
    const env = await stage.environment();
    seen = (name) => env.source.services.get(`shop/${name}`)?.metadata.annotations?.['linkspan.dev/operator'];
    imports = new Imports({
      env: {
        ...env,
        mayWrite: () => mayWrite,
        writes: new (class extends FairSemaphore {
          override async run<T>(...of: Parameters<FairSemaphore['run']>): Promise<T> {
            const written = await super.run(...of);
            await afterWrite();
            return written as T;
          }
        })(writesAtOnce),
        config: { ...env.config, endpointMirrorGraceMs: podGraceMs },
        tuning: { ...env.tuning, importSettledMs, returnGraceMs, retryBackoff: { baseMs: 5, capMs: retryCapMs } },
      },
      events: {
        record: ({ kind, namespace: within = '', name }, type, reason) =>
          events.push(`${kind} ${within}/${name} ${type} ${reason}`),
      },
      local: exporter('(local)', () => here),
      mayHaveLink: (cluster) => linked.has(cluster),
      isLinked: () => true,
      exporting: () => exporting,
      serving: () => exporting,
      search: {
        isStranger: (cluster) => strangers.has(cluster),
        hasNoLink: (cluster) => Promise.resolve(searched.push(cluster) > 0 && unlinked),
      },
      listener: { moreReadable: () => void (timesReadable += 1) },
    });
    running = imports.run(stop.signal);
    env.source.namespaces.subscribe((name, state) => imports.namespaceChanged(name, state));
  };
  const start = async (...targets: readonly TargetExporter[]): Promise<void> => {
    await begin();
    for (const each of targets) imports.join(party(each));
    await eventually('ServiceImports are read', async () => reading.has('(local)'));
    await imports.idle();
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  /** A cluster exports something else, and the key is reconciled. */
  const change = async (observed: TargetExporter): Promise<void> => {
    parties.set(observed.link.cluster, observed);
    imports.addAll();
    imports.add('shop/web');
    await imports.idle();
  };
  const live = (): Live | undefined => stage.east.store.get(MCS, 'ServiceImport', 'shop', 'web') as Live | undefined;
  const derived = (): Live | undefined =>
    stage.east.store.get('v1', 'Service', 'shop', 'web-clusterset') as Live | undefined;
  const clusters = (): string | undefined =>
    live()
      ?.status?.clusters?.map(({ cluster }) => cluster)
      .join();
  /** Whether the endpoint of each slice is ready. */
  const slices = (): Readonly<Record<string, boolean | undefined>> =>
    Object.fromEntries(
      stage.east.store.list(SLICES, 'EndpointSlice', 'shop').map((slice) => {
        const { endpoints } = slice as unknown as { endpoints: { conditions: { ready?: boolean } }[] | null };
        return [slice.metadata.name, endpoints?.[0]?.conditions.ready];
      }),
    );
  const condition = (of: Live | undefined, type: string): string | undefined => {
    const found = of?.status?.conditions.find((each) => each.type === type);
    return found && `${found.status} ${found.reason}`;
  };
  const writes = async (): Promise<readonly string[]> =>
    (await stage.east.audit())
      .filter(({ verb }) => !['list', 'watch', 'get'].includes(verb))
      .map(({ verb, resource }) => `${verb} ${resource}`);
  /** The local cluster exports the Service, whose ServiceExport is there. */
  const exportHere = (): void => {
    stage.put({ apiVersion: MCS, kind: 'ServiceExport', metadata: { name: 'web', namespace: 'shop' } });
    const { metadata } = stage.east.store.get(MCS, 'ServiceExport', 'shop', 'web')!;
    here = local({ serviceExport: { ...serviceExport(), metadata } as never, service: service() });
  };
  /** Somebody gives the derived Service a slice. */
  const addSlice = (): void => {
    const metadata = {
      ...{ name: 'by-hand', namespace: 'shop' },
      labels: { 'kubernetes.io/service-name': 'web-clusterset' },
    };
    stage.put({ apiVersion: SLICES, kind: 'EndpointSlice', metadata, addressType: 'IPv4', endpoints: [] } as ObjectRef);
  };
  /** Has an object name another operator. */
  const name = (object: Live, operator: string): void => {
    const annotations = { ...object.metadata.annotations, 'linkspan.dev/operator': operator };
    stage.put({ ...object, metadata: { ...object.metadata, annotations } } as ObjectRef);
  };
  /** The operators that the ServiceImport and the derived Service name. */
  const operators = (): readonly unknown[] =>
    [live(), derived()].map((each) => each?.metadata.annotations?.['linkspan.dev/operator']);
  const exported = (): Live => stage.east.store.get(MCS, 'ServiceExport', 'shop', 'web') as unknown as Live;

  it('imports what clusters export: a Service, its slices, and then the ServiceImport that they are of (K2, K3)', async () => {
    await stage.east.clearAudit();
    await start(target('a'), target('b'), target('c', GONE));
    expect(live()?.spec.ips).toEqual([derived()?.spec.clusterIP]);
    expect(slices()).toEqual({ 'web-clusterset.from-a-ipv4': true, 'web-clusterset.from-b-ipv4': true });
    expect([clusters(), condition(live(), 'Ready')]).toEqual(['id-a,id-b', 'True Ready']);
    expect(await writes()).toEqual([
      'patch services',
      'patch endpointslices',
      'patch endpointslices',
      'patch serviceimports',
      'patch serviceimports',
    ]);
    const counts = async (): Promise<readonly string[]> =>
      (await stage.metrics.serviceImports.get()).values.map(({ labels, value }) => `${labels.ready} ${value}`);
    expect(await counts()).toEqual(['true 1', 'false 0']);
    parties.set('b', target('b', GONE));
    await change(target('a', GONE));
    expect([live(), derived(), slices(), await counts()]).toEqual([undefined, undefined, {}, ['true 0', 'false 0']]);
  });

  it('writes nothing when it starts beside what is right, whatever comes to be known first (C5)', async () => {
    exportHere();
    await start(target('a'), target('b'));
    here = { ...here, serviceExport: { ...here.serviceExport!, ...(exported() as object) } };
    const before = [live(), derived(), exported()];
    await end();
    await stage.east.clearAudit();
    const known = here;
    here = local({ ...UNKNOWN, id: undefined });
    sinceMs = performance.now();
    await start(target('a', UNKNOWN));
    exporting = ['a', 'b'];
    await change(target('a'));
    here = known;
    await change(target('a'));
    imports.join(party(target('b', { ...UNKNOWN, id: undefined })));
    await imports.idle();
    await change(target('b'));
    expect(await writes()).toEqual([]);
    expect([live(), derived(), exported()]).toEqual(before);
  });

  it('reconciles a key once, however often that is asked for in a row, of it or of all', async () => {
    await start(target('a'));
    const reconciles = async (): Promise<number> =>
      (await stage.metrics.reconcile.total.get()).values.reduce((sum, { value }) => sum + value, 0);
    const before = await reconciles();
    for (let times = 0; times < 20; times += 1) {
      imports.addAll();
      imports.add('shop/web');
      // Time for a reconcile that has nothing to write, and for no timer.
      for (let turns = 0; turns < 100; turns += 1) await Promise.resolve();
    }
    expect(await reconciles()).toBe(before);
    await imports.idle();
    expect((await reconciles()) - before).toBe(1);
  });

  it('ends the part of a cluster once that has confirmed that there is no export (K5, A2)', async () => {
    await start(target('a'), target('b'));
    confirms = false;
    await change(target('b', GONE));
    expect([clusters(), Object.keys(slices()).length, forgotten]).toEqual(['id-a,id-b', 2, []]);
    confirms = true;
    await change(target('b', GONE));
    expect(slices()).toEqual({ 'web-clusterset.from-a-ipv4': true });
    expect([clusters(), forgotten[0]]).toEqual(['id-a', 'b shop/web']);
  });

  it('ends the part of a cluster without the Service once that has confirmed that there is none (K5, A2)', async () => {
    await start(target('a'));
    const [ip] = live()!.spec.ips!;
    confirms = false;
    await change(target('a', { service: undefined, slices: [] }));
    expect([clusters(), live()?.spec.ips]).toEqual(['id-a', [ip]]);
    confirms = true;
    await change(target('a', { service: undefined, slices: [] }));
    await eventually('it is gone', async () => live() === undefined);
    expect(forgotten).toContain('a shop/web');
  });

  it('keeps its address until a cluster has confirmed a Service that cannot be exported (A2, K5, L243)', async () => {
    const shown = { service: service({ type: 'ExternalName' }), slices: [] };
    await start(target('a'));
    const before = live();
    confirms = false;
    await change(target('a', shown));
    expect([live()?.spec, derived()?.spec.clusterIP, clusters()]).toEqual([before?.spec, before?.spec.ips![0], 'id-a']);
    confirms = true;
    await change(target('a', shown));
    await eventually('the address is gone', async () => derived() === undefined);
  });

  it('keeps an answer until the part has ended: two that leave at once wait for each other no longer (K5)', async () => {
    await start(target('a'), target('b'));
    confirms = false;
    await change(target('a', GONE));
    mayWrite = false;
    confirms = true;
    await change(target('b', GONE));
    expect(forgotten).toEqual([]);
    mayWrite = true;
    await eventually('it is gone', async () => live() === undefined && derived() === undefined);
    await eventually('the answers are forgotten', async () => forgotten.length > 1);
  });

  it('knows what was being written of a cluster once that has left, and writes no more of it (E5, L74)', async () => {
    writesAtOnce = 1;
    await start(target('a'));
    let isSent = false;
    stage.east.faults.latency(500, ({ resource, verb }) => {
      const isOfSlice = resource === 'endpointslices' && verb === 'patch';
      isSent ||= isOfSlice;
      return isOfSlice;
    });
    // As if there were no Link at all.
    for (const each of ['b', 'c']) {
      linked.add(each);
      imports.join(party(target(each)));
    }
    await eventually('a slice is sent', async () => isSent);
    await Promise.all([imports.leave('b'), imports.leave('c')]);
    expect([imports.endingOf('b'), imports.endingOf('c')]).toEqual([['shop/web'], []]);
    imports.join(formerExporter('b', { imports }));
    await eventually('nothing of it is left', async () => imports.endingOf('b').length === 0);
    expect(slices()).toEqual({ 'web-clusterset.from-a-ipv4': true });
  });

  it('keeps the part of a cluster that has a Link and no session, and no longer (K5)', async () => {
    await start(target('a'), target('b'));
    const before = live();
    linked.add('b');
    void imports.leave('b');
    await imports.idle();
    expect([Object.keys(slices()).length, clusters(), live()?.spec]).toEqual([2, 'id-a,id-b', before?.spec]);
    linked.delete('b');
    imports.addAll();
    await imports.idle();
    expect([Object.keys(slices()), clusters()]).toEqual([['web-clusterset.from-a-ipv4'], 'id-a']);
    void imports.leave('a');
    await imports.idle();
    expect([live(), derived()]).toEqual([undefined, undefined]);
  });

  it('keeps the part of a cluster that no Link has named for a while, and until there is none for certain (K5, L166)', async () => {
    await start(target('a'), target('b'));
    const kept = slices();
    void imports.leave('b');
    linked.add('b');
    strangers.add('b');
    returnGraceMs = 60_000;
    await end();
    await start(target('a'));
    expect([slices(), clusters(), searched]).toEqual([kept, 'id-a,id-b', []]);
    await end();
    returnGraceMs = 100;
    await start(target('a'));
    expect(searched).toEqual([]);
    await eventually('the API server is asked', async () => searched.length > 0);
    await imports.idle();
    expect([slices(), clusters(), [...new Set(searched)]]).toEqual([kept, 'id-a,id-b', ['b']]);
    unlinked = true;
    await change(target('a'));
    expect([Object.keys(slices()), clusters()]).toEqual([['web-clusterset.from-a-ipv4'], 'id-a']);
    expect([[...new Set(searched)], live()?.spec.ips]).toEqual([['b'], [derived()?.spec.clusterIP]]);
  });

  it('asks anew before each attempt to end the part of a cluster that no Link has named (K5, L166)', async () => {
    await start(target('a'), target('b'));
    void imports.leave('b');
    linked.add('b');
    strangers.add('b');
    unlinked = true;
    stage.east.faults.refuse({ failure: { kind: 'status', code: 500 }, match: ({ verb }) => verb === 'delete' });
    await change(target('a'));
    await eventually('it is tried twice', async () => searched.length > 1);
    unlinked = false;
    await imports.idle();
    stage.east.faults.clear();
    await change(target('a'));
    expect(Object.keys(slices())).toContain('web-clusterset.from-b-ipv4');
  });

  it('ends no part in a ServiceImport that is not ours any more, and asks nobody about it (K5, L298)', async () => {
    await start(target('a'), target('b'));
    const { metadata, ...rest } = live()!;
    stage.put({ ...rest, metadata: { ...metadata, labels: {} } } as ObjectRef);
    await eventually('it is seen', async () => {
      imports.add('shop/web');
      return events.some((event) => event.startsWith('ServiceImport shop/web Warning'));
    });
    void imports.leave('b');
    linked.add('b');
    strangers.add('b');
    unlinked = true;
    const kept = slices();
    await change(target('a'));
    expect([slices(), searched]).toEqual([kept, []]);
  });

  it('reads nothing, and says so once, until ServiceImports can be read (K5)', async () => {
    const crds = [
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      undefined,
      serviceImportCrd.metadata.name,
    ] as const;
    stage.east.store.delete(...crds);
    await begin();
    imports.join(party(target('a')));
    const said = () => stage.lines.filter((line) => line.startsWith('info') && line.includes('crds --mcs'));
    await eventually('it is said', async () => said().length === 1);
    expect([...reading]).toEqual([]);
    await installCrd(stage.east, serviceImportCrd);
    await eventually('exports are read', async () => [...reading].sort().join() === '(local),a');
    imports.join(party(target('b')));
    expect(reading.has('b')).toBe(true);
    await eventually('it is imported', async () => clusters() === 'id-a,id-b');
    expect(said()).toHaveLength(1);
  });

  it('deletes nothing while the CRD is gone, and writes the ServiceImport anew when it is back (K5)', async () => {
    await start(target('a'));
    const before = derived();
    const crds = [
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      undefined,
      serviceImportCrd.metadata.name,
    ] as const;
    stage.east.store.delete(...crds);
    stage.east.faults.dropWatches();
    const said = () => stage.lines.filter((line) => line.includes('it cannot be read'));
    await eventually('that is known', async () => said().length > 0);
    await change(target('a', GONE));
    expect([derived(), Object.keys(slices()).length]).toEqual([before, 1]);
    expect([imports.endingOf('a'), imports.keptOf('a')]).toEqual([[], ['shop/web']]);
    await change(target('a'));
    timesReadable = 0;
    await installCrd(stage.east, serviceImportCrd);
    await eventually('it is back', async () => live()?.spec.ips?.[0] === before?.spec.clusterIP);
    expect([imports.endingOf('a'), imports.keptOf('a'), timesReadable > 0]).toEqual([['shop/web'], [], true]);
    expect(derived()?.metadata.uid).toBe(before?.metadata.uid);
  });

  it('turns slices when the gateway dies, and puts right what somebody changes (F3, C3)', async () => {
    const a = target('a');
    await start(a);
    await change({ ...a, gateway: { ...a.gateway!, alive: false } });
    expect(slices()).toEqual({ 'web-clusterset.from-a-ipv4': false });
    stage.east.store.delete(SLICES, 'EndpointSlice', 'shop', 'web-clusterset.from-a-ipv4');
    await eventually('the slice is back', async () => slices()['web-clusterset.from-a-ipv4'] === false);
    const { ips } = live()!.spec;
    stage.east.store.delete('v1', 'Service', 'shop', 'web-clusterset');
    await eventually('the Service is back', async () => derived()?.spec.clusterIP === ips?.[0]);
    stage.east.store.delete(MCS, 'ServiceImport', 'shop', 'web');
    await eventually('the ServiceImport is back', async () => live()?.spec.ips?.[0] === ips?.[0]);
    await eventually('its status is back', async () => clusters() === 'id-a');
  });

  it('keeps the Service of a pod that is gone for a while, and for all of it after a restart (D5, D11, K3)', async () => {
    const pods = (...hostnames: readonly string[]) =>
      target('a', {
        service: service({ clusterIP: 'None' }),
        slices: [podSlice(hostnames.map((hostname) => ({ hostname })))],
      });
    const services = (): Readonly<Record<string, string | undefined>> =>
      Object.fromEntries(
        stage.east.store
          .list('v1', 'Service', 'shop')
          .map((each) => [
            each.metadata.labels?.['linkspan.dev/imported-pod'] ?? '',
            (each as unknown as Live).spec.clusterIP,
          ]),
      );
    podGraceMs = 3_600_000;
    await start(pods('web-0', 'web-1'));
    const before = services();
    expect(Object.keys(before)).toEqual(['web-0', 'web-1']);
    await change(pods('web-0'));
    expect(services()).toEqual(before);
    await change(pods('web-0', 'web-1'));
    expect(services()).toEqual(before);
    await change(pods('web-0'));
    await end();
    podGraceMs = 200;
    confirms = false;
    await start(pods('web-0'));
    await new Promise((resolve) => setTimeout(resolve, 2 * podGraceMs));
    expect(services()).toEqual(before);
    confirms = true;
    await change(pods('web-0'));
    await eventually('its Service is gone', async () => Object.keys(services()).join() === 'web-0');
    expect(services()['web-0']).toBe(before['web-0']);
  });

  it('asks less and less often about a pod that is gone while its Service cannot be deleted (E11, L101)', async () => {
    const web = (...slices: NonNullable<TargetExporter['slices']>): TargetExporter =>
      target('a', { service: service({ clusterIP: 'None' }), slices });
    let asked = 0;
    let state: 'idle' | 'asked' | 'answered' = 'idle';
    pods = {
      lacks: () => state === 'answered',
      ask: (key) => {
        if (state !== 'idle') return;
        asked += 1;
        state = 'asked';
        setImmediate(() => {
          state = 'answered';
          imports.add(key);
        });
      },
      forget: () => (state = 'idle'),
    };
    retryCapMs = 60_000;
    await start(web(podSlice([{ hostname: 'web-0' }])));
    const heal = stage.east.faults.refuse({
      failure: { kind: 'status', code: 500 },
      match: ({ verb }) => verb === 'delete',
    });
    await change(web(podSlice([])));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(asked).toBeGreaterThan(1);
    // Each wait is twice as long as the one before.
    expect(asked).toBeLessThan(12);
    heal();
    await change(web(podSlice([])));
    await eventually('its Service is gone', async () =>
      stage.east.store.list('v1', 'Service', 'shop').every(({ metadata }) => metadata.name === 'web-clusterset'),
    );
  });

  it('gives a derived Service other addresses once another has taken its own (K3)', async () => {
    await start(target('a'));
    const [taken] = live()!.spec.ips!;
    await end();
    stage.east.store.delete('v1', 'Service', 'shop', 'web-clusterset');
    const services = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };
    const thief = {
      metadata: { name: 'thief', namespace: 'shop' },
      spec: { clusterIP: taken, ports: [{ port: 80 }] },
    };
    // The address can be had a moment after the Service is gone.
    await eventually('it is taken', () => stage.client.create(services, thief as never));
    await start(target('a'));
    await eventually('it has others', async () => derived() !== undefined && derived()!.spec.clusterIP !== taken);
    await eventually('it says so', async () => live()?.spec.ips?.[0] === derived()?.spec.clusterIP);
  });

  it('gives a derived Service the addresses that a ServiceImport has which no watch has shown yet (K3, L185)', async () => {
    await start(target('a'));
    const { metadata, ...made } = live()!;
    await end();
    stage.east.store.delete(MCS, 'ServiceImport', 'shop', 'web');
    stage.east.store.delete('v1', 'Service', 'shop', 'web-clusterset');
    reading.clear();
    await start({ ...target('a'), ...GONE });
    stage.east.faults.silenceWatches();
    const { uid: _, ...others } = metadata;
    const ips = ['10.96.0.123'];
    stage.put({ ...made, metadata: others, spec: { ...made.spec, ips } } as ObjectRef);
    await change(target('a'));
    expect([derived()?.spec.clusterIP, live()?.spec.ips]).toEqual([ips[0], ips]);
  });

  it('gives one that somebody has made an alias other addresses too, without asking on for its own (K3)', async () => {
    await start(target('a'));
    const [taken] = live()!.spec.ips!;
    await end();
    const services = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };
    const alias = { type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null };
    const at = { namespace: 'shop', name: 'web-clusterset' };
    await stage.client.patch(services, at, { spec: alias });
    await stage.client.create(services, {
      metadata: { name: 'thief', namespace: 'shop' },
      spec: { clusterIP: taken, ports: [{ port: 80 }] },
    } as never);
    await start(target('a'));
    await eventually('it has others', async () => {
      const { clusterIP = taken } = derived()!.spec;
      return clusterIP !== taken && live()?.spec.ips?.[0] === clusterIP;
    });
    expect(stage.lines.filter((line) => line.includes('are taken'))).toHaveLength(1);
  });

  it("leaves a user's Service and ServiceImport alone, says so, and takes the names when they are free (A6)", async () => {
    const metadata = { name: 'web-clusterset', namespace: 'shop' };
    stage.put({ apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } } as ObjectRef);
    const before = derived();
    await start(target('a'));
    expect(derived()).toEqual(before);
    expect(condition(live(), 'Ready')).toBe('False Pending');
    expect(events).toEqual(['ServiceImport shop/web Warning Pending']);
    stage.east.store.delete('v1', 'Service', 'shop', 'web-clusterset');
    await eventually('it is imported', async () => condition(live(), 'Ready') === 'True Ready');
    await change(target('a', GONE));
    await eventually('it is gone', async () => live() === undefined);
    await end();
    events = [];
    const foreign = { apiVersion: MCS, kind: 'ServiceImport', metadata: { name: 'web', namespace: 'shop' } };
    stage.put({ ...foreign, spec: { type: 'Headless', ports: [] } } as ObjectRef);
    const kept = live();
    await start(target('a'));
    await eventually('it is said', async () => events.length > 0);
    imports.add('shop/web');
    await imports.idle();
    expect([live(), derived()]).toEqual([kept, undefined]);
    expect(events).toEqual(['ServiceImport shop/web Warning NameConflict']);
    stage.east.store.delete(MCS, 'ServiceImport', 'shop', 'web');
    await eventually('the name is taken', async () => condition(live(), 'Ready') === 'True Ready');
  });

  it('leaves what another operator serves alone, says so once, and has no part in it (K7)', async () => {
    const serve = (operator: string): void => {
      for (const object of [live()!, derived()!]) name(object, operator);
    };
    stage.put(namespace('other'));
    await start(target('a'));
    expect(operators()).toEqual(['linkerd-multicluster', 'linkerd-multicluster']);
    await end();
    serve('other');
    exportHere();
    addSlice();
    const before = [live(), derived(), exported(), slices()];
    await start(target('a', { gateway: undefined }), target('b'));
    await eventually('it is said', async () => events.length > 0);
    await change(target('b', GONE));
    await imports.leave('a');
    imports.join(formerExporter('a', { imports }));
    await imports.idle();
    expect([live(), derived(), exported(), slices()]).toEqual(before);
    expect(events).toEqual(['ServiceExport shop/web Warning ServedByAnother']);
    expect([imports.endingOf('a'), [...imports.partsOf('a')]]).toEqual([[], []]);

    serve('nobody');
    await eventually(
      'it is taken over',
      async () => operators().join() === 'linkerd-multicluster,linkerd-multicluster',
    );
    const counted = async (): Promise<number> =>
      (await stage.metrics.serviceImports.get()).values.reduce((sum, { value }) => sum + value, 0);
    await eventually('it is counted', async () => (await counted()) === 1);
    serve('other');
    await eventually('it is counted no longer', async () => (await counted()) === 0);
  });

  it('leaves alone what another operator has taken over, though no watch shows that of the ServiceImport (K7)', async () => {
    stage.put(namespace('other'));
    await start(target('a'));
    name(derived()!, 'other');
    await eventually('what somebody has edited is put right', async () => operators()[1] === 'linkerd-multicluster');

    stage.east.faults.silenceWatches(({ resource }) => resource === 'serviceimports');
    await stage.east.clearAudit();
    name(live()!, 'other');
    name(derived()!, 'other');
    await eventually('it is asked', async () =>
      (await stage.east.audit()).some(({ verb, resource }) => verb === 'get' && resource === 'serviceimports'),
    );
    await imports.idle();
    expect(operators()).toEqual(['other', 'other']);
    expect(await writes()).toEqual([]);
  });

  it('leaves a derived Service to another operator that takes the ServiceImport over a moment later (K7, L85)', async () => {
    stage.put(namespace('other'));
    await start(target('a'));
    await stage.east.clearAudit();
    name(derived()!, 'other');
    await eventually('it is seen', async () => seen('web-clusterset') === 'other');
    await imports.idle();
    name(live()!, 'other');
    await eventually('it is said', async () =>
      stage.lines.some((line) => line.includes('a Service cannot be imported')),
    );
    expect(operators()).toEqual(['other', 'other']);
    expect(await writes()).toEqual([]);
  });

  it('writes no status once another operator is seen to have taken over what it has just written (K7, L169)', async () => {
    stage.put(namespace('other'));
    exportHere();
    afterWrite = async () => {
      if (operators()[0] !== 'linkerd-multicluster') return;
      await eventually('what is written is seen', async () => imports.partsOf('a').size === 1);
      name(live()!, 'other');
      name(derived()!, 'other');
      await eventually('what another has made of it is seen', async () => imports.partsOf('a').size === 0);
    };
    await start(target('a'));
    await eventually('it is said', async () => events.includes('ServiceExport shop/web Warning ServedByAnother'));
    expect([operators(), live()?.status, exported().status]).toEqual([['other', 'other'], undefined, undefined]);
  });

  it('deletes nothing that names no operator and has nothing of its own (K7)', async () => {
    await start(target('a'));
    await end();
    parties.clear();
    for (const object of [live()!, derived()!])
      stage.put({ ...object, metadata: { ...object.metadata, annotations: {} } } as ObjectRef);
    addSlice();
    const before = [live(), derived(), slices()];
    linked.add('a');
    await start();
    linked.delete('a');
    imports.addAll();
    await imports.idle();
    expect([live(), derived(), slices()]).toEqual(before);
    // A Link without a session has its part.
    exporting = ['a'];
    imports.addAll();
    await imports.idle();
    expect(derived()?.metadata.annotations).toEqual({ 'linkspan.dev/operator': 'linkerd-multicluster' });
  });

  it('tells the exporter of this cluster about conflicts, with an Event when one comes (K1)', async () => {
    exportHere();
    await start(target('a'));
    expect(['Valid', 'Ready', 'Conflict'].map((type) => condition(exported(), type))).toEqual([
      'True Valid',
      'True Ready',
      'False NoConflicts',
    ]);
    expect(events).toEqual([]);
    here = { ...here, serviceExport: { ...here.serviceExport!, ...(exported() as object) } };
    await change(target('a', { service: service({ sessionAffinity: 'ClientIP' }) }));
    expect(condition(exported(), 'Conflict')).toBe('True SessionAffinityConflict');
    expect(events).toEqual(['ServiceExport shop/web Warning SessionAffinityConflict']);
  });

  it('has what it has by whoever gave it, over a restart, though another says that it is older (K2)', async () => {
    const headless = { serviceExport: serviceExport('2025-01-01T00:00:00Z'), service: service({ clusterIP: 'None' }) };
    importSettledMs = 0;
    await start(target('a'), target('b', GONE));
    const address = derived()?.spec.clusterIP;
    await change(target('b', headless));
    expect([live()?.spec.ips, clusters()]).toEqual([[address], 'id-a']);
    await end();
    await start(target('a'), target('b', headless));
    expect([live()?.spec.ips, clusters()]).toEqual([[address], 'id-a']);
    await change(target('a', GONE));
    await eventually('the other one has it', async () => clusters() === 'id-b' && live()?.spec.ips === undefined);
    await end();
    importSettledMs = 60_000;
    await start(target('a', GONE), target('b', headless));
    await change(
      target('a', { serviceExport: serviceExport('2024-01-01T00:00:00Z'), linkedAt: '2024-01-01T00:00:00Z' }),
    );
    await eventually('the oldest has one that is new', async () => clusters() === 'id-a');
  });

  it('loses no condition that somebody adds while the watch lags behind (C3)', async () => {
    exportHere();
    const { status: _, ...stale } = exported();
    const foreign = { type: 'Programmed', status: 'True', reason: 'Done', message: '', observedGeneration: 1 };
    const conditions = [{ ...foreign, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    stage.put({ ...stale, status: { conditions } } as ObjectRef);
    await start(target('a'));
    const types = () => exported().status?.conditions.map(({ type }) => type);
    expect(types()).toEqual(['Programmed']);
    expect(stage.lines.filter((line) => line.startsWith('warn'))).toEqual([]);
    here = { ...here, serviceExport: { ...here.serviceExport!, ...(exported() as object) } };
    imports.add('shop/web');
    await eventually('it is written', async () => types()?.sort().join() === 'Conflict,Programmed,Ready,Valid');
  });

  it('waits a while for clusters that are about to be known before it says that they are not (K1)', async () => {
    exportHere();
    sinceMs = performance.now();
    exporting = ['b'];
    await start(target('a', { ...UNKNOWN, id: undefined }));
    expect(['Valid', 'Conflict'].map((type) => condition(exported(), type))).toEqual(['True Valid', undefined]);
    sinceMs = -Infinity;
    here = { ...here, serviceExport: { ...here.serviceExport!, ...(exported() as object) } };
    exporting = [];
    imports.addAll();
    await imports.idle();
    expect(condition(exported(), 'Conflict')).toBe('False NoConflicts');
    expect(JSON.stringify(exported().status)).toContain('not known: a');
    here = { ...here, serviceExport: { ...here.serviceExport!, ...(exported() as object) } };
    await change(target('a'));
    expect(JSON.stringify(exported().status)).toContain('compared: id-a, id-here');
    exporting = ['a'];
    void imports.leave('a');
    await imports.idle();
    expect(JSON.stringify(exported().status)).toContain('compared: id-a, id-here');
  });

  it('says what is wrong with an export at once, though a cluster does not answer that it has none (K1)', async () => {
    exportHere();
    const invalid = { ...here, service: service({ type: 'ExternalName' }) };
    const see = () => (here = { ...here, serviceExport: { ...here.serviceExport!, ...(exported() as object) } });
    await start(target('a'), target('b', { service: service({ sessionAffinity: 'ClientIP' }) }));
    const conditions = () => ['Valid', 'Conflict'].map((type) => condition(exported(), type));
    expect(conditions()).toEqual(['True Valid', 'True SessionAffinityConflict']);
    see();
    confirms = false;
    confirmsHere = true;
    await change(target('b', GONE));
    expect(conditions()).toEqual(['True Valid', 'True SessionAffinityConflict']);
    here = { ...here, service: invalid.service };
    await change(target('b', GONE));
    expect(conditions()[0]).toBe('False InvalidServiceType');
    see();
    here = { ...here, service: service() };
    confirms = true;
    await change(target('b', GONE));
    expect(conditions()).toEqual(['True Valid', 'False NoConflicts']);
  });

  it('takes the id that a cluster claims, of two the one whose Link is older; one that is not known waits (K2)', async () => {
    claims.set('b', 'id-a').set('c', undefined).set('d', null);
    await start(target('a'), target('b'), target('c'), target('d'));
    expect(clusters()).toBe('b,d,id-a');
    claims.set('c', 'id-c');
    imports.addAll();
    await imports.idle();
    expect(clusters()).toBe('b,d,id-a,id-c');
  });

  it('has a part of a cluster without an object here by the recorded order while its id is not read (E6, K2, L134)', async () => {
    const headless = target('a', { service: service({ clusterIP: 'None' }), slices: [] });
    await start(headless);
    await eventually('it has a status', async () => clusters() === 'id-a');
    await end();
    claims.set('a', undefined);
    reading.clear();
    mayWrite = false;
    await start({ ...headless, isKnown: false, serviceExport: undefined, service: undefined });
    await eventually('it is found', async () => imports.partsOf('a').has('shop/web'));
    expect(clusters()).toBe('id-a');
    mayWrite = true;
    claims.set('a', 'id-a');
    await change(target('a', GONE));
    await eventually('it is gone', async () => live() === undefined);
    expect([...imports.partsOf('a')]).toEqual([]);
  });

  it('has a part of a cluster without an object or a Link here by the recorded order (E5, K2, L164)', async () => {
    await start(target('a', { service: service({ clusterIP: 'None' }), slices: [] }));
    await eventually('it has a status', async () => clusters() === 'id-a');
    await end();
    reading.clear();
    linked.add('a');
    await start();
    imports.addAll();
    await imports.idle();
    expect([live() === undefined, clusters()]).toEqual([false, 'id-a']);
  });

  it('waits for the namespace, and imports as soon as it is there (K2)', async () => {
    stage.east.store.delete('v1', 'Namespace', undefined, 'shop');
    await start(target('a'));
    expect(live()).toBeUndefined();
    stage.put(namespace('shop'));
    await eventually('it is imported', async () => clusters() === 'id-a');
  });

  it('writes nothing while this replica may not lead (H1)', async () => {
    await start(target('a'));
    mayWrite = false;
    await stage.east.clearAudit();
    await change(target('a', { ...GONE }));
    expect(await writes()).toEqual([]);
    mayWrite = true;
    await eventually('it is gone', async () => live() === undefined);
  });

  it('keeps the pods of a flat network while another cluster there has no session (K5, L246)', async () => {
    const pods = { service: service({ clusterIP: 'None' }), slices: [ownSlice('10.2.0.1', 'web-0')] };
    await start(flat('a', pods), flat('b', pods));
    const before = slices();
    expect(Object.keys(before)).toHaveLength(2);
    linked.add('b');
    exporting = ['b'];
    await imports.leave('b');
    await change(flat('a', pods));
    expect(slices()).toEqual(before);
  });

  it('says when Linkerd has credentials of a cluster on a flat network (K3, I4, L244)', async () => {
    await start(flat('a', { isDiscoverable: false }));
    const message = () => (live()?.status?.conditions[0] as { message?: string } | undefined)?.message;
    await eventually('it says so', async () => message()?.includes('no credentials') === true);
    parties.set('a', flat('a', { isDiscoverable: true }));
    imports.addOf('a');
    await eventually('nothing is missing', async () => message() === 'imported from id-a');
  });

  it('says in the statuses what the API server refuses of one object, until it takes it (K2, L242)', async () => {
    const accept = stage.east.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: ({ verb, name }) => verb === 'patch' && name === 'web-clusterset.from-b-ipv4',
    });
    exportHere();
    await start(target('a'), target('b'));
    await eventually('the status says so', async () => condition(live(), 'Ready') === 'False Pending');
    expect(clusters()).toBe('id-a,id-b,id-here');
    expect(slices()).toHaveProperty(['web-clusterset.from-a-ipv4'], true);
    expect(['Valid', 'Ready', 'Conflict'].map((type) => condition(exported(), type))).toEqual([
      'True Valid',
      'True Ready',
      'False NoConflicts',
    ]);
    expect(events).toContain('ServiceImport shop/web Warning Pending');
    accept();
    await change(target('a'));
    await eventually('it is ready', async () => condition(live(), 'Ready') === 'True Ready');
  });

  it('says once what cannot be written, and writes it when it can (N3)', async () => {
    const accept = stage.east.faults.refuse({
      failure: { kind: 'status', code: 403 },
      match: (request) => request.verb === 'patch',
    });
    const said = () => stage.lines.filter((line) => line.includes('cannot be imported'));
    await start(target('a', { slices: [ownSlice()] }));
    await eventually('it is said', async () => said().length > 0);
    imports.add('shop/web');
    await imports.idle();
    expect(said()).toHaveLength(1);
    accept();
    imports.add('shop/web');
    await eventually('it is written', async () => clusters() === 'id-a');
  });
});

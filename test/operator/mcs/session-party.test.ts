/** The part of a Link's session in ServiceImports, over a simulated target, with the controller played by the test. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LinkSettings, mcsCrds } from '../../../crds/index.ts';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { formerExporter, SessionImports } from '../../../operator/mcs/session-party.ts';
import type { GatewayView, LinkView } from '../../../operator/mirror/observed.ts';
import { ExportReading } from '../../../operator/served/export-reading.ts';
import { ServedTarget, type ServedTargetOptions } from '../../../operator/served/served-target.ts';
import { isConfirmed, NO_PODS, NOTHING_EXPORTED } from '../../../operator/target/aspect.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import type { Manifest } from '../../cluster/simulated/store.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { namespace, service, slice } from '../../support/builders.ts';
import { RecordedReport, recordingLog } from '../link/recorded.ts';

const KEY = 'shop/web';
const GATEWAY: GatewayView = { port: 4143, addresses: ['203.0.113.1'], alive: true };
const serviceExport = (name: string): ObjectRef => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { name, namespace: 'shop' },
});

describe('the part of a session in ServiceImports', () => {
  let west: SimulatedCluster;
  let clients: KubeClient[];
  let reading: ExportReading;
  let target: ServedTarget;
  let party: SessionImports;
  let settings: LinkSettings;
  let gateway: GatewayView | undefined;
  /** What was reported of the exports: keys, and lists. */
  let told: string[];
  /** Keys that were to be reconciled; `all` for all of them. */
  let added: string[];
  let parts: readonly string[];
  /** Clusters of whose credentials in the control plane was asked. */
  let asked: string[];

  beforeEach(async () => {
    west = await startSimulated({ name: 'west' });
    for (const crd of mcsCrds) await installCrd(west, crd);
    for (const object of [namespace('shop'), service('web'), slice('web'), serviceExport('web')]) put(object);
    clients = [];
    settings = {
      name: 'west',
      cluster: 'west',
      createdAt: '2026-01-01T00:00:00Z',
      serviceExports: true,
    } as LinkSettings;
    gateway = GATEWAY;
    [told, added, parts, asked] = [[], [], [], []];
    const env = {
      imports: {
        add: (key: string) => added.push(key),
        addAll: () => added.push('all'),
        partsOf: () => new Set(parts),
      },
      discovery: { has: (cluster: string) => asked.push(cluster) < 0 },
      tuning: { targetTimings: { backoff: { baseMs: 20, capMs: 100 } } },
      log: recordingLog([]),
    } as unknown as Environment;
    reading = new ExportReading({
      link: 'west',
      cluster: 'west',
      env,
      settings,
      listener: {
        exportChanged: (key) => {
          told.push(key);
          party.changed([key]);
        },
        exportsListed: () => {
          told.push('listed');
          party.listed();
        },
        exportsReread: () => party.listed(),
        exportsFound: () => undefined,
        exportsHeard: () => undefined,
        malformed: (what) => told.push(what),
      },
    });
    target = new ServedTarget({
      link: 'west',
      cluster: 'west',
      target: {
        mirrored: { ...NOTHING_EXPORTED, get: () => undefined },
        members: NOTHING_EXPORTED,
        exports: reading,
        pods: NO_PODS,
      },
      config: { maxMirrors: 1 } as ServedTargetOptions['config'],
      source: { keysOf: () => [], membershipsOf: () => [] } as unknown as ServedTargetOptions['source'],
      log: recordingLog([]),
      report: new RecordedReport(),
      isHeadless: () => true,
      parts: () => parts,
    });
    party = new SessionImports({
      cluster: 'west',
      env,
      target,
      reading,
      link: () => ({ settings, gateway, view: { cluster: 'west', clusterDomain: 'west.local' } as LinkView }),
    });
  });
  afterEach(async () => {
    reading.stop();
    await Promise.all(clients.map((client) => client.close()));
    await west.stop();
  });

  const put = (object: ObjectRef): void => void west.store.upsert(object as Manifest);
  const connect = async (userAgent = 'test'): Promise<KubeClient> => {
    const access = await sourceAccess({ kubeconfig: west.kubeconfigFile });
    const client = new KubeClient(access, { userAgent, fieldManager: 'test' });
    clients.push(client);
    return client;
  };
  const requests = async (): Promise<number> =>
    (await west.audit()).filter(({ group }) => group.endsWith('x-k8s.io')).length;
  const exported = (): Promise<unknown> =>
    eventually('the export is known', async () => party.observe(KEY).service !== undefined);
  const start = async (): Promise<void> => {
    reading.use(await connect());
    party.read();
    await exported();
  };

  it('reads nothing of the MCS API before ServiceImports can be read here (K5)', async () => {
    reading.use(await connect());
    await west.clearAudit();
    expect([party.observe(KEY).isKnown, party.claimedId, target.exports.size]).toEqual([false, undefined, 0]);
    for (const client of clients) await client.get('/version', 'get the version');
    expect(await requests()).toBe(0);
    party.read();
    await exported();
    party.read();
    await eventually('it says that it claims no id', async () => party.claimedId === null);
    expect(target.exports.size).toBe(1);
    expect([...party.keys()]).toEqual([KEY]);
  });

  it('says how the Service is reached, and whether it is ready, and what is to be reconciled (K1, I5)', async () => {
    await start();
    await eventually('its slices are known', async () => party.observe(KEY).anyReady === true);
    expect(party.observe(KEY)).toMatchObject({ isKnown: true, mode: 'gateway', gateway, isAdmitted: true });
    settings = { ...settings, importsThrough: 'flat' };
    gateway = undefined;
    expect(party.observe(KEY)).toMatchObject({ mode: 'remote-discovery', gateway: undefined });
    expect(party.observe(KEY).isDiscoverable).toBe(false);
    expect(party.observe('shop/other').isDiscoverable).toBeUndefined();
    expect(asked).toEqual(['west', 'west']);
    expect([told.includes(KEY), told.includes('listed'), added.includes(KEY), added.includes('all')]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    put(slice('web', { endpoints: [{ ready: false }] }));
    await eventually('it is not ready', async () => party.observe(KEY).anyReady === false);
    put(serviceExport('zoo'));
    await eventually('the limit is exceeded', async () => !party.observe('shop/zoo').isAdmitted);
    expect([...target.exports.candidates()].find(({ key }) => key === KEY)).toMatchObject({ isMirrored: false });
  });

  it('does not know what is held to be gone, and asks before anything counts as gone (E6, K5)', async () => {
    await start();
    parts = ['shop/gone'];
    expect([...target.exports.states()]).toEqual([['shop/gone', 'gone']]);
    expect([...party.keys()].sort()).toEqual(['shop/gone', KEY]);
    expect(party.observe('shop/gone').isKnown).toBe(true);
    parts = [...Array.from({ length: 12 }, (_, index) => `shop/gone-${index}`), KEY];
    target.held.relisted(undefined);
    expect([party.observe('shop/gone-3').isKnown, party.observe(KEY).isKnown]).toEqual([false, true]);
    expect(isConfirmed(party.exports, 'shop/gone')).toBe(false);
    await eventually('it has answered', async () => isConfirmed(party.exports, 'shop/gone'));
    party.exports.forget('shop/gone');
    expect(isConfirmed(party.exports, 'shop/gone')).toBe(false);
  });

  it('knows nothing with new credentials until these have listed the exports (E2)', async () => {
    await start();
    const before = party.sinceMs;
    reading.use(await connect());
    expect([party.observe(KEY).isKnown, party.claimedId, target.exports.size]).toEqual([false, undefined, 0]);
    expect(party.sinceMs).toBeGreaterThan(before);
    await exported();
  });

  it('shows that a client can read exports, and reads nothing more with it (E2)', async () => {
    const found: boolean[] = [];
    const tried = async () =>
      reading.whenRead(
        await connect('tried'),
        (obstacle) => found.push(obstacle === undefined),
        new AbortController().signal,
      );
    await tried();
    expect(found).toEqual([]);
    await start();
    const barred = west.faults.refuse({ failure: { kind: 'status', code: 503 } });
    const trial = tried();
    await eventually('it cannot', async () => found.join() === 'false');
    barred();
    await trial;
    expect(found).toEqual([false, true]);
    await west.clearAudit();
    west.faults.refuse({ failure: { kind: 'status', code: 503 } });
    west.faults.dropWatches();
    const by = async (userAgent: string): Promise<number> =>
      (await west.audit()).filter((each) => each.verb === 'list' && each.userAgent.startsWith(userAgent)).length;
    await eventually('the one in use goes on', async () => (await by('test')) > 20);
    // What was under way when it ended may have arrived since.
    expect(await by('tried')).toBeLessThan(5);
  });

  it('ends at once for a Link that takes no exports, and begins again for one that does (K1)', async () => {
    await start();
    const before = settings;
    settings = { ...settings, serviceExports: false };
    added = [];
    reading.update(settings);
    expect(party.observe(KEY)).toMatchObject({ isKnown: true, serviceExport: undefined });
    expect([party.claimedId, isConfirmed(party.exports, KEY), target.exports.size, added]).toEqual([
      null,
      true,
      0,
      ['all'],
    ]);
    reading.update(before);
    await exported();
    reading.update({ ...before, targetNamespaces: ['bank'] });
    await eventually('only what is named is read', async () => party.observe(KEY).isKnown && target.exports.size === 0);
  });

  it('is counted at a start if the Link takes no exports, since no list says so (E6)', () => {
    reading.update({ ...settings, serviceExports: false });
    party.read();
    expect(told).toEqual(['listed']);
  });

  it('of a cluster without a Link is over', () => {
    parts = [KEY];
    const former = formerExporter('west', {
      imports: { partsOf: () => new Set(parts) },
    });
    expect(former.observe(KEY)).toMatchObject({ isKnown: true, slices: undefined });
    expect(former.observe(KEY).serviceExport).toBeUndefined();
    expect([isConfirmed(former.exports, KEY), former.claimedId, [...former.keys()]]).toEqual([true, null, [KEY]]);
  });
});

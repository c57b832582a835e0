import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseSelector } from '../../../crds/selector.ts';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import { Exports, type ExportsOptions } from '../../../operator/link/exports.ts';
import type { Mirrors } from '../../../operator/link/mirrors.ts';
import { Progress } from '../../../operator/link/progress.ts';
import { createMetrics } from '../../../operator/metrics.ts';
import { PROBE_KEY } from '../../../operator/source/owner.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import type { ObjectRef } from '../../cluster/workload/index.ts';
import { EXPORTED, namespace, service, slice } from '../../support/builders.ts';
import { RecordedReport, recordingLog } from './recorded.ts';

let cluster: SimulatedCluster;
let client: KubeClient;
const stop = new AbortController();

beforeEach(async () => {
  cluster = await startSimulated({ name: 'west' });
  for (const name of ['shop', 'bank']) put(namespace(name));
  client = await connectTo(cluster);
});
afterEach(async () => {
  running?.stop();
  await client.close();
  await cluster.stop();
});

const connectTo = async ({ kubeconfigFile: kubeconfig }: SimulatedCluster): Promise<KubeClient> =>
  new KubeClient(await sourceAccess({ kubeconfig }), { userAgent: 'test', fieldManager: 'test' });

let running: Exports | undefined;
const put = (object: ObjectRef) => cluster.store.upsert({ ...object });
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `web-${index}`);
const putAll = (names: readonly string[], labels = EXPORTED) => names.forEach((name) => put(service(name, { labels })));
const keysOf = (names: readonly string[]) => names.map((name) => `shop/${name}`);

const selectorOf = (matchLabels: Readonly<Record<string, string>>) => {
  const parsed = parseSelector({ matchLabels }, 'spec.selector');
  if (!parsed.ok || parsed.value === undefined) throw new Error('not a selector');
  return parsed.value;
};

const SETTINGS: ExportsOptions['settings'] = { name: 'west', cluster: 'west', selector: selectorOf(EXPORTED) };

/** Exports of west that are read, and mirrors that just record what they are asked for. */
function reading(mirrored: readonly string[] = [], settings = SETTINGS, lines: string[] = []) {
  const report = new RecordedReport();
  const progress = new Progress('west', createMetrics({ process: false }));
  const added: string[] = [];
  const lists: (readonly string[])[] = [];
  const withdrawn: string[] = [];
  const reachable: boolean[] = [];
  const mirrors = {
    progress,
    add: (key: string) => added.push(key),
    relisted: (keys: ReadonlySet<string>) => {
      lists.push([...keys].sort());
      if (!progress.hasBegun) progress.start(keys);
    },
  } as unknown as Mirrors;
  const env = {
    tuning: { targetTimings: { backoff: { baseMs: 20, capMs: 100 } }, labelCopyMs: 0 },
    source: { keysOf: () => new Set(mirrored) },
    claims: { withdraw: ({ key }: { key: string }) => withdrawn.push(key) },
    log: recordingLog(lines),
  } as unknown as Environment;
  const exports = new Exports({
    settings,
    mirrors,
    env,
    report,
    signal: stop.signal,
    onReachable: (obstacle) => reachable.push(obstacle === undefined),
  });
  running = exports;
  exports.use(client);
  const listed = (): Promise<unknown> =>
    eventually('they are listed', async () => lists.length > 0 && progress.hasBegun);
  return { exports, report, progress, added, lists, withdrawn, reachable, listed };
}

describe('objects that the API does not allow (G3, L50)', () => {
  it('are reported at once, then once a minute with their number', async () => {
    const lines: string[] = [];
    for (const name of numbered(200))
      put({ ...slice(name), endpoints: [{ addresses: ['10.244.0.1'], hostname: 7 }] } as ObjectRef);
    const { exports, report, lists } = reading([], SETTINGS, lines);
    await eventually('Services and slices are listed', async () => lists.length === 2);
    exports.stop();
    expect(report.events).toHaveLength(2);
    expect(report.events[0]).toMatch(/^Warning MalformedObject ignored an object that the target sent: EndpointSlice /);
    expect(report.events[1]).toMatch(/, and 198 more$/);
    expect(lines.filter((line) => line.includes('does not allow'))).toHaveLength(2);
  });
});

describe('the exports of a target', () => {
  it('are keys to be reconciled, as they come and go; what is gone claims nothing (A7)', async () => {
    putAll(['web']);
    const { exports, added, withdrawn, listed } = reading();
    expect(exports.observe('shop/web')).toMatchObject({ target: undefined, decidable: false });
    await listed();
    expect(exports.observe('shop/web')).toMatchObject({ target: { mode: 'gateway' }, decidable: true });
    expect(withdrawn).toEqual([]);
    added.length = 0;
    cluster.store.delete('v1', 'Service', 'shop', 'web');
    await eventually('its claims are withdrawn', async () => withdrawn.length > 0);
    expect([withdrawn, added]).toEqual([['shop/web'], expect.arrayContaining(['shop/web'])]);
    expect(exports.observe('shop/web')).toMatchObject({ target: undefined, decidable: true });
  });

  it('are listed anew where new credentials lead to another API server, and only there (E2)', async () => {
    putAll(['web']);
    const { exports, lists, listed } = reading();
    await listed();
    const requests = async () =>
      (await cluster.audit()).filter(({ verb, resource }) => verb === 'list' && resource === 'services').length;
    const before = await requests();
    const rotated = await connectTo(cluster);
    exports.use(rotated);
    putAll(['later']);
    await eventually('it is watched', async () => exports.keys().has('shop/later'));
    expect(await requests()).toBe(before);

    // Its version is past that of the other: a watch from there would be accepted, and see nothing of what is there.
    const another = await startSimulated({ name: 'another' });
    const moved = await connectTo(another);
    try {
      for (const object of [namespace('shop'), service('new', { labels: EXPORTED })])
        another.store.upsert({ ...object });
      for (let at = 0; at < 50; at += 1) another.store.upsert({ ...namespace(`n-${at}`) });
      exports.use(moved);
      await eventually('it is listed', async () => lists.at(-1)?.join() === 'shop/new');
    } finally {
      exports.stop();
      await Promise.all([rotated.close(), moved.close()]);
      await another.stop();
    }
  });

  it('are held when a list takes too many, with an Event once, until the count is confirmed (E6)', async () => {
    const mirrored = keysOf(numbered(12));
    const { exports, report, added, listed } = reading(mirrored);
    await listed();
    expect(exports.held).toBe(12);
    expect(exports.observe('shop/web-3').decidable).toBe(false);
    expect(report.events).toEqual([
      'Warning PruneHeld the target no longer lists 12 of 12 mirrored Services; their mirrors are not deleted',
    ]);
    added.length = 0;
    exports.update({ ...SETTINGS, confirmPrune: 11 }, client);
    expect([exports.held, added]).toEqual([12, []]);
    exports.update({ ...SETTINGS, confirmPrune: 12 }, client);
    expect([exports.held, added.length]).toEqual([0, 12]);
    expect(exports.observe('shop/web-3').decidable).toBe(true);
  });

  it('are not held for ten, with which the probe Service does not count (E6)', async () => {
    const { exports, listed } = reading([...keysOf(numbered(10)), PROBE_KEY]);
    await listed();
    expect(exports.held).toBe(0);
  });

  it('are held no longer when the target has them again (E6)', async () => {
    const { exports, listed } = reading(keysOf(numbered(12)));
    await listed();
    putAll(['web-0']);
    await eventually('it is exported again', async () => exports.held === 11);
    expect(exports.observe('shop/web-0').decidable).toBe(true);
  });

  it('in a namespace whose mirrors can be read later are counted then (E6)', async () => {
    const mirrored: string[] = [];
    const { exports, listed } = reading(mirrored);
    await listed();
    mirrored.push(...keysOf(numbered(12)));
    exports.namespaceRead('bank');
    expect(exports.held).toBe(0);
    exports.namespaceRead('shop');
    expect(exports.held).toBe(12);
  });
});

describe('other selectors of a Link', () => {
  const OTHER = { ...SETTINGS, selector: selectorOf({ pick: 'me' }) };

  it('are read instead, and what is exported begins anew (E5, A2)', async () => {
    putAll(['web']);
    put(service('picked', { labels: { pick: 'me' } }));
    const { exports, progress, lists, listed } = reading();
    await listed();
    exports.update(OTHER, client);
    expect(progress.hasBegun).toBe(false);
    await listed();
    expect(lists.at(-1)).toEqual(['shop/picked']);
    expect([...exports.keys()]).toEqual(['shop/picked']);
  });

  it('count what went one by one under the former ones, too (E6)', async () => {
    const names = numbered(12);
    putAll(names);
    const { exports, withdrawn, listed } = reading(keysOf(names));
    await listed();
    for (const name of names) cluster.store.delete('v1', 'Service', 'shop', name);
    await eventually('all have gone', async () => withdrawn.length === 12);
    expect(exports.held).toBe(0);
    exports.update(OTHER, client);
    await listed();
    expect(exports.held).toBe(12);
  });

  it('make what the former watches still report no concern', async () => {
    putAll(['web']);
    const { exports, reachable, lists, progress, listed } = reading();
    // Replaced before it has listed anything.
    exports.update(OTHER, client);
    await listed();
    await eventually('the target can be read', async () => reachable.length > 0);
    expect(lists.flat()).toEqual([]);
    expect([reachable, progress.hasBegun]).toEqual([[true], true]);
  });

  it('are other namespaces too; a change of anything else reads nothing anew', async () => {
    putAll(['web']);
    put(service('safe', { namespace: 'bank', labels: EXPORTED }));
    const { exports, lists, progress, listed } = reading([], { ...SETTINGS, targetNamespaces: ['shop', 'bank'] });
    await eventually('both are listed', async () => lists.at(-1)?.length === 2);
    exports.update({ ...SETTINGS, targetNamespaces: ['shop', 'bank'] }, client);
    expect(progress.hasBegun).toBe(true);
    exports.update({ ...SETTINGS, targetNamespaces: ['bank'] }, client);
    await listed();
    expect(lists.at(-1)).toEqual(['bank/safe']);
  });
});

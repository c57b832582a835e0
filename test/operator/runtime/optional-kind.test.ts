import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sourceAccess } from '../../../operator/kube/access/in-cluster.ts';
import { KubeClient } from '../../../operator/kube/client.ts';
import { SERVICES, type Service } from '../../../operator/kube/objects.ts';
import { OptionalKind, type OptionalKindOptions } from '../../../operator/runtime/optional-kind.ts';
import { weightOf } from '../../../operator/runtime/weight.ts';
import { type SimulatedCluster, startSimulated } from '../../cluster/simulated/start.ts';
import { eventually } from '../../cluster/workload/index.ts';
import { namespace, service } from '../../support/builders.ts';

let cluster: SimulatedCluster;
let client: KubeClient;
let stop: AbortController;

beforeEach(async () => {
  cluster = await startSimulated({ name: 'west' });
  client = new KubeClient(await sourceAccess({ kubeconfig: cluster.kubeconfigFile }), {
    userAgent: 'test',
    fieldManager: 'test',
  });
  stop = new AbortController();
  cluster.store.upsert({ ...namespace('shop') });
  for (const name of ['web', 'api', 'db']) cluster.store.upsert({ ...service(name) });
});
afterEach(async () => {
  stop.abort();
  await client.close();
  await cluster.stop();
});

/** Reads Services as a kind that need not be there, and records what is logged. */
function reading(options: Partial<OptionalKindOptions> = {}, heard?: () => void) {
  const told: string[] = [];
  const logged: string[] = [];
  const at = (level: string) => (_: object, message: string) => void logged.push(`${level} ${message}`);
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const timings = { settledMs: 100, backoff: { baseMs: 10, capMs: 40 } };
  const kind = new OptionalKind<Service>(
    SERVICES,
    { client, partitions: [undefined], timings, log, ...options },
    { weigh: weightOf },
    { stateChanged: () => void told.push(kind.stateIn('shop')), ...(heard && { heard }) },
  );
  return { kind, told, logged, ended: kind.run(stop.signal) };
}

const lists = async (): Promise<number> => (await cluster.audit()).filter(({ verb }) => verb === 'list').length;

describe('a kind that need not be there', () => {
  it.each<[string, Partial<OptionalKindOptions>]>([
    ['objects', { maxObjects: 2 }],
    ['bytes', { maxBytes: 100 }],
  ])('is not read beyond the %s that it may have (E10)', async (_, limit) => {
    const { kind } = reading(limit);
    await eventually('it is tried again', async () => (await lists()) > 2);
    expect([kind.store.size, kind.stateIn('shop'), kind.isAwaitedIn('shop')]).toEqual([0, 'unknown', false]);
  });

  it('is read as far as its fields are as asked for, and says that the server was heard', async () => {
    let heard = 0;
    const { kind } = reading({ fieldSelector: 'metadata.name=web' }, () => (heard += 1));
    await eventually('it is read', async () => kind.stateIn('shop') === 'readable');
    expect([[...kind.store.values()].map(({ metadata }) => metadata.name), heard]).toEqual([['web'], 1]);
  });

  it.each(['warn', 'info'] as const)('is said to be refused, at level %s', async (level) => {
    cluster.faults.refuse({ failure: { kind: 'status', code: 403 } });
    const { kind, logged } = reading(level === 'warn' ? {} : { level });
    await eventually('it is tried again', async () => (await lists()) > 2);
    expect([kind.stateIn('shop'), kind.isUnreadable, logged]).toEqual([
      'forbidden',
      true,
      [`${level} it cannot be read; trying again`],
    ]);
  });

  it('is looked for in one of many namespaces until it is there (K5)', async () => {
    const appear = cluster.faults.refuse({ failure: { kind: 'status', code: 404 } });
    const { kind } = reading({ partitions: ['shop', 'bank', 'mail'] });
    await eventually('it is tried again', async () => (await lists()) > 4);
    const asked = (await cluster.audit()).filter(({ verb }) => verb === 'list').map((each) => each.namespace);
    expect(new Set(asked)).toEqual(new Set(['shop']));
    expect([kind.stateIn('bank'), kind.isAwaitedIn('bank'), kind.isMissing]).toEqual(['missing', false, true]);
    appear();
    for (const each of ['shop', 'bank', 'mail'])
      await eventually('it is read', async () => kind.stateIn(each) === 'readable');
    expect(kind.store.size).toBe(3);
  });

  it('ends where it is not there', async () => {
    cluster.faults.refuse({ failure: { kind: 'status', code: 404 } });
    const { ended } = reading({ partitions: ['shop', 'bank'] });
    await eventually('it is tried', async () => (await lists()) > 1);
    stop.abort();
    await ended;
  });

  it('is said to be readable once, when it is listed, and each time that it is so again', async () => {
    const { kind, told, logged } = reading({ timings: { settledMs: 20, backoff: { baseMs: 10, capMs: 40 } } });
    await eventually('it is watched', async () => logged.length === 1);
    expect(told).toEqual(['readable']);
    const appear = cluster.faults.refuse({ failure: { kind: 'status', code: 403 } });
    cluster.faults.dropWatches();
    await eventually('it is refused', async () => kind.stateIn('shop') === 'forbidden');
    appear();
    await eventually('it is read again', async () => kind.stateIn('shop') === 'readable');
    expect([told.at(1), told.at(-1)]).toEqual(['forbidden', 'readable']);
  });

  it('ends at once where it is to end before it has begun (H2, L77)', async () => {
    stop.abort();
    await reading({ partitions: ['shop', 'bank'] }).ended;
    expect(await lists()).toBe(0);
  });

  it('is listed anew when it is asked to be', async () => {
    const { kind } = reading();
    await eventually('it is read', async () => kind.stateIn('shop') === 'readable');
    const whole = reading({ partitions: ['shop'] });
    await eventually('it is read', async () => whole.kind.stateIn('shop') === 'readable');
    const before = await lists();
    whole.kind.relist('shop');
    await eventually('it is listed', async () => (await lists()) > before);
  });
});

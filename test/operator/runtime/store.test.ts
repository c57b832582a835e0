import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { type Sink, Store } from '../../../operator/runtime/store.ts';

const object = (
  name: string,
  resourceVersion: string,
  labels: Record<string, string> = {},
  uid = `uid-${name}`,
): KubeObject => ({
  metadata: { namespace: 'shop', name, uid, resourceVersion, labels },
});

const listed = <T extends KubeObject>(store: Store<T>, ...objects: readonly T[]): void =>
  list(store.sink(), ...objects);

const list = <T extends KubeObject>(sink: Sink<T>, ...objects: readonly T[]): void => {
  sink.init();
  for (const each of objects) sink.listed(each);
  sink.initDone();
};

/** A store filed by label `app`, and the changes it told of. */
function setUp() {
  const changes: string[] = [];
  const store = new Store<KubeObject>({
    indexes: { app: ({ metadata }) => (metadata.labels?.['app'] === undefined ? [] : [metadata.labels['app']]) },
    listener: {
      changed: ({ key, before, after }) => {
        changes.push(`${key} ${before?.metadata.resourceVersion ?? '-'}→${after?.metadata.resourceVersion ?? '-'}`);
      },
    },
  });
  return { store, changes };
}

const version = (store: Store<KubeObject>, name: string): string | undefined =>
  store.get(`shop/${name}`)?.metadata.resourceVersion;

describe('the answer to a write of a status', () => {
  const withStatus = (resourceVersion: string, status: string, spec = 'a'): KubeObject =>
    ({ ...object('a', resourceVersion), spec: { field: spec }, status: { is: status } }) as KubeObject;

  it('is shown at once, without telling of it', () => {
    const { store, changes } = setUp();
    listed(store, withStatus('5', 'old'));
    changes.length = 0;
    store.wroteStatus(withStatus('6', 'new'), store.get('shop/a')!);
    expect(store.get('shop/a')).toEqual(withStatus('6', 'new'));
    expect(changes).toEqual([]);
  });

  it('is left to the watch if anything else has changed: a restored server gives versions again (L282)', () => {
    for (const answer of [
      withStatus('6', 'new', 'b'),
      { ...withStatus('6', 'new'), ...object('a', '6', { app: 'x' }) },
    ]) {
      const { store, changes } = setUp();
      listed(store, withStatus('5', 'old'));
      changes.length = 0;
      store.wroteStatus(answer, store.get('shop/a')!);
      expect(version(store, 'a')).toBe('5');
      listed(store, answer);
      expect(changes).toEqual(['shop/a 5→6']);
    }
  });
});

describe('a store that is listed', () => {
  it('believes the list also where a version is the same: a restored server gives versions again (L55)', () => {
    const { store, changes } = setUp();
    listed(store, object('a', '5', { app: 'x' }), object('b', '6'));
    changes.length = 0;
    listed(store, object('a', '5', { app: 'y' }), object('b', '6'));
    expect(changes).toEqual(['shop/a 5→5']);
    expect(store.by('app', 'y').map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  it('is synced after its first complete list, and not before', () => {
    const { store } = setUp();
    store.sink().init();
    store.sink().listed(object('a', '1'));
    expect([store.synced, store.size]).toEqual([false, 0]);
    store.sink().initDone();
    expect([store.synced, store.size]).toEqual([true, 1]);
  });

  it('shows what a list says of a version that it has: a restored server gives versions once more (L55)', () => {
    const { store, changes } = setUp();
    listed(store, object('a', '7', { app: 'old' }), object('b', '3', { app: 'old' }));
    changes.length = 0;
    listed(store, object('a', '7', { app: 'new' }), object('b', '3', { app: 'old' }));
    expect(store.by('app', 'new').map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect(changes).toEqual(['shop/a 7→7']);
  });

  it('says of each list how much is not in it any more', () => {
    const told: unknown[] = [];
    const store = new Store<KubeObject>({
      listener: { relisted: (first, lost) => void told.push([first, lost]) },
    });
    listed(store, object('a', '1'), object('b', '1'), object('c', '1'));
    listed(store, object('a', '2'), object('d', '1'));
    listed(store, object('a', '2'), object('d', '1'));
    expect(told).toEqual([
      [true, 0],
      [false, 2],
      [false, 0],
    ]);
  });

  it('keeps showing the old state until a new list is complete', () => {
    const { store } = setUp();
    listed(store, object('a', '1'), object('b', '1'));
    store.sink().init();
    store.sink().listed(object('a', '2'));
    expect([version(store, 'a'), version(store, 'b')]).toEqual(['1', '1']);
    store.sink().initDone();
    expect([version(store, 'a'), version(store, 'b')]).toEqual(['2', undefined]);
  });

  it('tells of just what differs between two lists', () => {
    const { store, changes } = setUp();
    listed(store, object('a', '1'), object('b', '1'), object('c', '1'));
    changes.length = 0;
    listed(store, object('b', '1'), object('c', '2'), object('d', '3'));
    expect(changes.sort()).toEqual(['shop/a 1→-', 'shop/c 1→2', 'shop/d -→3']);
  });

  it('keeps the very object that a list does not change, so that a write based on it is seen', () => {
    const { store } = setUp();
    listed(store, object('a', '1', { app: 'x' }));
    listed(store, object('a', '1', { app: 'x' }));
    store.wrote(object('a', '5', { app: 'x' }), store.by('app', 'x')[0]);
    expect(version(store, 'a')).toBe('5');
  });

  it('forgets a list that was begun and never completed', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    store.sink().init();
    store.sink().listed(object('ghost', '9'));
    listed(store, object('a', '1'));
    expect([...store.values()].map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  it('leaves out what its trim leaves out', () => {
    const store = new Store<KubeObject>({
      trim: (given) => (given.metadata.name === 'bad' ? undefined : { metadata: { name: given.metadata.name } }),
    });
    listed(store, object('bad', '1'), object('good', '1'));
    store.sink().applied(object('bad', '2'));
    expect([...store.values()]).toEqual([{ metadata: { name: 'good' } }]);
  });

  it('leaves out what comes to be left out by its trim, as a list would (L130)', () => {
    const told: unknown[] = [];
    const store = new Store<KubeObject>({
      trim: (given) => (given.metadata.labels?.['app'] === undefined ? undefined : given),
      weigh: () => 1,
      indexes: { app: ({ metadata }) => [metadata.labels?.['app'] ?? ''] },
      listener: { changed: ({ key, after }) => void told.push([key, after?.metadata.resourceVersion]) },
    });
    const sink = store.sink();
    list(sink, object('a', '1', { app: 'x' }));
    told.length = 0;
    sink.applied(object('a', '2'));
    sink.applied(object('a', '3'));
    expect([store.get('shop/a'), store.by('app', 'x'), sink.bytes, told]).toEqual([
      undefined,
      [],
      0,
      [['shop/a', undefined]],
    ]);
    sink.applied(object('a', '4', { app: 'x' }));
    expect([version(store, 'a'), sink.bytes]).toEqual(['4', 1]);
    // What the watch says of before our own write is old, also if it would be left out.
    store.wrote(object('a', '6', { app: 'x' }), store.get('shop/a'));
    sink.applied(object('a', '5'));
    expect(version(store, 'a')).toBe('6');
    sink.applied(object('a', '6', { app: 'x' }));
    sink.applied(object('a', '7'));
    expect(version(store, 'a')).toBeUndefined();
  });
});

describe("a store's indexes", () => {
  it('follow every way in which an object changes', () => {
    const { store } = setUp();
    const names = (value: string): readonly string[] => store.by('app', value).map(({ metadata }) => metadata.name);
    listed(store, object('a', '1', { app: 'x' }), object('b', '1', { app: 'x' }), object('c', '1'));
    expect(names('x')).toEqual(['a', 'b']);
    store.sink().applied(object('a', '2', { app: 'y' }));
    expect([names('x'), names('y')]).toEqual([['b'], ['a']]);
    store.sink().removed(object('b', '3', { app: 'x' }));
    expect(names('x')).toEqual([]);
    listed(store, object('c', '4', { app: 'y' }));
    expect([names('x'), names('y')]).toEqual([[], ['c']]);
  });

  it('give a long list once, and another one when something of it changes', () => {
    const { store } = setUp();
    listed(store, ...Array.from({ length: 40 }, (_, at) => object(`a-${at}`, '1', { app: at < 30 ? 'x' : 'y' })));
    const [x, y] = [store.by('app', 'x'), store.by('app', 'y')];
    expect([store.by('app', 'x') === x, x.length, y.length]).toEqual([true, 30, 10]);
    store.sink().applied(object('a-3', '2', { app: 'x' }));
    expect(store.by('app', 'x').map(({ metadata }) => metadata.resourceVersion)).toContain('2');
    const names = (): readonly string[] => store.by('app', 'x').map(({ metadata }) => metadata.name);
    store.sink().applied(object('a-30', '2', { app: 'x' }));
    expect([names().length, names().includes('a-30')]).toEqual([31, true]);
    store.sink().removed(object('a-4', '3', { app: 'x' }));
    expect([names().length, names().includes('a-4'), x.length]).toEqual([30, false, 30]);
  });

  it('that are not there are a mistake in the program', () => {
    expect(() => setUp().store.by('nonsense', 'x')).toThrow('no index "nonsense"');
  });
});

describe('a write of our own', () => {
  it('is seen at once, tells nobody, and what the watch tells from before it is not seen', () => {
    const { store, changes } = setUp();
    listed(store, object('a', '1'));
    store.wrote(object('a', '5'), store.get('shop/a'));
    expect(version(store, 'a')).toBe('5');
    store.sink().applied(object('a', '3'));
    expect(version(store, 'a')).toBe('5');
    store.sink().applied(object('a', '5'));
    store.sink().applied(object('a', '7'));
    expect(version(store, 'a')).toBe('7');
    expect(changes).toEqual(['shop/a -→1', 'shop/a 5→7']);
  });

  it('that the watch told of before the answer came takes nothing back', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    const basedOn = store.get('shop/a');
    store.sink().applied(object('a', '5'));
    store.sink().applied(object('a', '6'));
    store.wrote(object('a', '5'), basedOn);
    expect(version(store, 'a')).toBe('6');
  });

  it('that changed nothing waits for no news', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    store.wrote(object('a', '1'), store.get('shop/a'));
    store.sink().applied(object('a', '2'));
    expect(version(store, 'a')).toBe('2');
  });

  it('may be a deletion, which stays deleted while the watch still tells of the object', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    store.deleted(store.get('shop/a')!);
    store.sink().applied(object('a', '3'));
    expect(version(store, 'a')).toBeUndefined();
    store.sink().removed(object('a', '4'));
    expect(version(store, 'a')).toBeUndefined();
  });

  it('tells when what a finalizer held after our deletion is gone, whose name is free only then (L131)', () => {
    const { store, changes } = setUp();
    const { metadata } = object('a', '2', { app: 'x' });
    listed(store, object('a', '1', { app: 'x' }), object('b', '1'));
    for (const name of ['a', 'b']) store.deleted(store.get(`shop/${name}`)!);
    store.sink().applied({ metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
    store
      .sink()
      .applied({ metadata: { ...metadata, resourceVersion: '3', deletionTimestamp: '2026-01-01T00:00:00Z' } });
    expect(changes.splice(0)).toEqual(['shop/a -→1', 'shop/b -→1']);
    store.sink().removed(object('b', '4'));
    store.sink().removed(object('a', '5', { app: 'x' }));
    expect(changes).toEqual(['shop/a 5→-']);
    expect([store.size, store.by('app', 'x')]).toEqual([0, []]);
  });

  it('may be a replacement: deleted, then created under the same name', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    store.deleted(store.get('shop/a')!);
    store.wrote(object('a', '5', {}, 'uid-new'), undefined);
    store.sink().removed(object('a', '4'));
    expect(version(store, 'a')).toBe('5');
    store.sink().applied(object('a', '5', {}, 'uid-new'));
    store.sink().removed(object('a', '6', {}, 'uid-new'));
    expect(version(store, 'a')).toBeUndefined();
  });

  it('may be a creation and its deletion, before the watch reports what had the name before', () => {
    const { store } = setUp();
    listed(store);
    store.wrote(object('a', '3', {}, 'uid-ours'), undefined);
    store.deleted(store.get('shop/a')!);
    store.sink().applied(object('a', '1', {}, 'uid-old'));
    expect(version(store, 'a')).toBeUndefined();
    store.sink().removed(object('a', '2', {}, 'uid-old'));
    expect(version(store, 'a')).toBeUndefined();
    store.sink().applied(object('a', '3', {}, 'uid-ours'));
    store.sink().applied(object('a', '6', {}, 'uid-new'));
    expect(version(store, 'a')).toBe('6');
  });

  it('that somebody deleted before the answer came does not come back', () => {
    const { store } = setUp();
    listed(store);
    store.sink().applied(object('a', '5'));
    store.sink().removed(object('a', '6'));
    store.wrote(object('a', '5'), undefined);
    expect(version(store, 'a')).toBeUndefined();
  });

  it('comes back where it was sent after the removal was reported: it is there again (L181)', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    const sentMs = performance.now();
    store.sink().removed(object('a', '2'));
    store.wrote(object('a', '1'), undefined, sentMs);
    expect(version(store, 'a')).toBeUndefined();
    store.wrote(object('a', '1'), undefined, performance.now() + 1);
    expect(version(store, 'a')).toBe('1');
    store.wrote(object('a', '3'), store.get('shop/a'));
    expect(version(store, 'a')).toBe('3');
  });

  it('is seen at once where a list shows again what was reported as removed (L181)', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    store.sink().removed(object('a', '2'));
    listed(store, object('a', '1'));
    store.wrote(object('a', '3'), store.get('shop/a'));
    expect(version(store, 'a')).toBe('3');
  });

  it('is seen also of an object that left the selection and entered it again (C3)', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    store.sink().removed(object('a', '2'));
    store.sink().applied(object('a', '3'));
    store.wrote(object('a', '4'), store.get('shop/a'));
    expect(version(store, 'a')).toBe('4');
  });

  it('yields to a list, which may be the only one to tell what came after it', () => {
    const { store } = setUp();
    listed(store, object('a', '1'));
    store.wrote(object('a', '5'), store.get('shop/a'));
    listed(store, object('a', '8'));
    store.sink().applied(object('a', '9'));
    expect(version(store, 'a')).toBe('9');
  });
});

/** A store that two sinks fill, one for each namespace. */
function partitioned() {
  const changes: string[] = [];
  const lists: unknown[] = [];
  const store = new Store<KubeObject>({
    partitions: ['shop', 'bank'],
    indexes: { app: ({ metadata }) => Object.values(metadata.labels ?? {}) },
    listener: { relisted: (...list) => void lists.push(list), changed: ({ key }) => void changes.push(key) },
  });
  return { store, changes, lists };
}

const within = (namespace: string, name: string, resourceVersion = '1', labels = {}): KubeObject => ({
  metadata: { name, namespace, uid: `${namespace}-${name}`, resourceVersion, labels },
});

describe('a store with a sink for each partition', () => {
  it('reads like one store', () => {
    const { store, changes } = partitioned();
    list(store.sink('shop'), within('shop', 'web', '1', { app: 'a' }), within('shop', 'db'));
    list(store.sink('bank'), within('bank', 'web', '1', { app: 'a' }));

    expect(store.size).toBe(3);
    expect(store.get('bank/web')?.metadata.namespace).toBe('bank');
    expect([store.get('bank/db'), store.get('other/web')]).toEqual([undefined, undefined]);
    expect([...store.values()].map(({ metadata }) => metadata.name)).toEqual(['web', 'db', 'web']);
    expect(store.by('app', 'a').map(({ metadata }) => metadata.namespace)).toEqual(['shop', 'bank']);
    expect(changes).toEqual(['shop/web', 'shop/db', 'bank/web']);
  });

  it('is synced when each sink has completed a list; a partition is synced by itself', () => {
    const { store } = partitioned();
    list(store.sink('shop'), within('shop', 'web'));
    expect([store.synced, store.syncedPart('shop'), store.syncedPart('bank')]).toEqual([false, true, false]);
    expect(store.get('shop/web')).toBeDefined();
    list(store.sink('bank'));
    expect([store.synced, store.syncedPart('bank'), store.syncedPart('other')]).toEqual([true, true, false]);
  });

  it('keeps the objects of the other partitions when one is listed anew, and reports what that one lost', () => {
    const { store, lists } = partitioned();
    list(store.sink('shop'), within('shop', 'web'));
    list(store.sink('bank'), within('bank', 'web'));
    list(store.sink('bank'));
    expect([...store.values()].map(({ metadata }) => metadata.namespace)).toEqual(['shop']);
    expect(lists).toEqual([
      [true, 0, 'shop'],
      [true, 0, 'bank'],
      [false, 1, 'bank'],
    ]);
  });

  it('keeps our unreported writes in other partitions when one is listed anew', () => {
    const { store } = partitioned();
    list(store.sink('shop'), within('shop', 'web', '1'));
    store.wrote(within('shop', 'web', '5'), store.get('shop/web'));
    list(store.sink('bank'));
    store.sink('shop').applied(within('shop', 'web', '3'));
    expect(version(store, 'web')).toBe('5');
  });

  it('collects the lists of several partitions side by side', () => {
    const { store } = partitioned();
    const [shop, bank] = [store.sink('shop'), store.sink('bank')];
    shop.init();
    bank.init();
    bank.listed(within('bank', 'web'));
    shop.listed(within('shop', 'web'));
    bank.initDone();
    expect([...store.values()].map(({ metadata }) => metadata.namespace)).toEqual(['bank']);
    shop.initDone();
    expect(store.size).toBe(2);
  });

  it('stores no object of another partition, be it reported or written', () => {
    const { store } = partitioned();
    list(store.sink('shop'), within('bank', 'web'));
    store.sink('shop').applied(within('bank', 'web'));
    store.wrote(within('other', 'web'), undefined);
    expect(store.size).toBe(0);
    store.wrote(within('shop', 'web'), undefined);
    expect(store.size).toBe(1);
    store.deleted(store.get('shop/web')!);
    expect(store.size).toBe(0);
  });

  it('can be partitioned by name', () => {
    const store = new Store<KubeObject>({ partitions: ['west', 'north'], partitionBy: 'name' });
    store.sink('west').applied(within('mesh', 'west'));
    expect(store.get('mesh/west')?.metadata.name).toBe('west');
    expect(store.get('mesh/north')).toBeUndefined();
  });

  it('has just the sinks of its partitions; any other store has one', () => {
    expect(partitioned().store.partitions).toEqual(['shop', 'bank']);
    expect(() => partitioned().store.sink('other')).toThrow('no partition "other"');
    expect(() => partitioned().store.sink()).toThrow('no partition');
    expect(new Store<KubeObject>().partitions).toEqual([undefined]);
  });
});

/**
 * A cluster that others write to as well: what happened in order, how far the watch has told it, and answers to our
 * writes that are on their way. Versions are opaque to the store; here they say how old it is.
 */
class Cluster {
  readonly store = new Store<KubeObject>();
  readonly #live = new Map<string, KubeObject>();
  readonly #log: { readonly type: 'applied' | 'removed'; readonly object: KubeObject }[] = [];
  readonly #answers: (() => void)[] = [];
  #told = 0;
  #version = 0;

  constructor() {
    listed(this.store);
  }

  write(name: string, by: 'us' | 'others'): void {
    const live = this.#live.get(name);
    const seen = this.store.get(`shop/${name}`);
    // As preconditions have it: we change just what we have seen, and create only where there is nothing.
    if (by === 'us' && live?.metadata.resourceVersion !== seen?.metadata.resourceVersion) return;
    this.#version += 1;
    const next = object(name, String(this.#version), {}, live?.metadata.uid ?? `uid-${this.#version}`);
    this.#live.set(name, next);
    this.#log.push({ type: 'applied', object: next });
    if (by === 'us') this.#answers.push(() => this.store.wrote(next, seen));
  }

  delete(name: string, by: 'us' | 'others'): void {
    const live = this.#live.get(name);
    const seen = this.store.get(`shop/${name}`);
    if (live === undefined || (by === 'us' && seen?.metadata.uid !== live.metadata.uid)) return;
    this.#version += 1;
    this.#live.delete(name);
    this.#log.push({
      type: 'removed',
      object: { metadata: { ...live.metadata, resourceVersion: String(this.#version) } },
    });
    if (by === 'us') this.#answers.push(() => this.store.deleted(seen!));
  }

  tell(): void {
    const event = this.#log[this.#told];
    if (event === undefined) return;
    this.#told += 1;
    this.store.sink()[event.type](event.object);
  }

  answer(): void {
    this.#answers.shift()?.();
  }

  tellAll(): void {
    while (this.#answers.length > 0) this.answer();
    while (this.#told < this.#log.length) this.tell();
  }

  get versions(): Readonly<Record<string, string | undefined>> {
    return versionsOf(this.#live.values());
  }
}

const versionsOf = (objects: Iterable<KubeObject>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    [...objects]
      .map(({ metadata }) => [metadata.name, metadata.resourceVersion] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

describe('whatever we and others write, and in whatever order we hear of it', () => {
  const name = fc.constantFrom('a', 'b');
  const by = fc.constantFrom('us' as const, 'others' as const);
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ op: fc.constant('write' as const), name, by }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('delete' as const), name, by }) },
    { weight: 4, arbitrary: fc.record({ op: fc.constant('tell' as const), name, by }) },
    { weight: 3, arbitrary: fc.record({ op: fc.constant('answer' as const), name, by }) },
  );
  const history = fc.array(step, { maxLength: 60 });
  const perform = (
    cluster: Cluster,
    { op, name: on, by: whom }: { op: 'write' | 'delete' | 'tell' | 'answer'; name: string; by: 'us' | 'others' },
  ) => {
    if (op === 'write' || op === 'delete') cluster[op](on, whom);
    else cluster[op]();
  };

  it('a reader never goes back in time', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const cluster = new Cluster();
        const newest = new Map<string, number>();
        return steps.every((step) => {
          perform(cluster, step);
          return [...cluster.store.values()].every(({ metadata }) => {
            const before = newest.get(metadata.name) ?? 0;
            newest.set(metadata.name, Number(metadata.resourceVersion));
            return Number(metadata.resourceVersion) >= before;
          });
        });
      }),
      { numRuns: 2000 },
    );
  });

  it('the store ends with what there is', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const cluster = new Cluster();
        for (const step of steps) perform(cluster, step);
        cluster.tellAll();
        expect(versionsOf(cluster.store.values())).toEqual(cluster.versions);
      }),
      { numRuns: 2000 },
    );
  });
});

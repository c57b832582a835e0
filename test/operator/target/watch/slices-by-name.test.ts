import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EndpointSlice } from '../../../../operator/kube/objects.ts';
import { Store } from '../../../../operator/runtime/store.ts';
import { serviceKeys } from '../../../../operator/target/read/objects.ts';
import { SlicesByName, type Wanting } from '../../../../operator/target/watch/slices-by-name.ts';
import type { WatchedStore } from '../../../../operator/target/watch/watched-store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LABEL_COPY_MS = 2_000;

const wants = (name: string, isLabelAwaited = false): Wanting => ({ key: `shop/${name}`, name, isLabelAwaited });
const sliceOf = (service: string): EndpointSlice => ({
  metadata: {
    name: `${service}-x`,
    namespace: 'shop',
    resourceVersion: '1',
    labels: { 'kubernetes.io/service-name': service },
  },
  addressType: 'IPv4',
  endpoints: [],
});

/** Slices by name, for Services that a test names, and the watches that are made of it. */
function setUp() {
  const target: { wanting: readonly Wanting[] | undefined } = { wanting: [] };
  const watches: string[] = [];
  const stores: Store<EndpointSlice>[] = [];
  const byName = new SlicesByName({
    wanting: () => target.wanting,
    labelCopyMs: LABEL_COPY_MS,
    watch: ({ labelSelector, number }) => {
      const names = /^kubernetes\.io\/service-name in \((.*)\)$/.exec(labelSelector)?.[1];
      watches.push(`${number}: ${names ?? labelSelector}`);
      const store = new Store<EndpointSlice>({ indexes: { service: serviceKeys } });
      stores.push(store);
      const stop = () => watches.push(`${number} ends`);
      return { store, stop, reconnect: () => undefined } as unknown as WatchedStore<EndpointSlice>;
    },
  });
  /** The Services that want slices now. */
  const want = (...services: readonly Wanting[]) => {
    target.wanting = services;
    byName.reconsider();
  };
  return { byName, target, watches, stores, want };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('slices that are found by the names of their Services (D9)', () => {
  it('are watched by one query for all, once changes have settled', async () => {
    const { watches, want } = setUp();
    want(wants('b'));
    await pass(200);
    want(wants('b'), wants('a'));
    expect(watches).toEqual([]);
    await pass(50);
    expect(watches).toEqual(['0: a,b']);
  });

  it('are watched also while changes go on', async () => {
    const { watches, want } = setUp();
    for (let change = 0; change < 10; change += 1) {
      want(wants('a'));
      await pass(100);
    }
    expect(watches).toEqual(['0: a']);
  });

  it('are not watched anew when nothing is missing', async () => {
    const { watches, want } = setUp();
    want(wants('a'), wants('b'));
    await pass(250);
    want(wants('b'));
    await pass(250);
    expect(watches).toEqual(['0: a,b']);
  });

  it('are watched without the names that nobody wants any more as soon as the watch is made anew', async () => {
    const { watches, want } = setUp();
    want(wants('a'), wants('b'));
    await pass(250);
    want(wants('b'), wants('c'));
    await pass(250);
    expect(watches).toEqual(['0: a,b', '0 ends', '0: b,c']);
  });

  it('are spread over several watches, of which none outgrows a URL', async () => {
    const { watches, want } = setUp();
    const services = Array.from({ length: 250 }, (_, index) =>
      wants(`${'x'.repeat(59)}-${String(index).padStart(3, '0')}`),
    );
    want(...services);
    await pass(250);
    expect(watches).toHaveLength(3);
    expect(watches.every((watch) => watch.length < 8_192)).toBe(true);
    expect(new Set(watches.flatMap((watch) => watch.split(': ')[1]!.split(','))).size).toBe(250);
    want(...services, wants('one-more'));
    await pass(250);
    expect(watches.slice(3).map((watch) => watch.slice(0, 6))).toEqual(['2 ends', '2: one']);
  });

  describe('of a target that changes the names that it exports (E10, L140)', () => {
    const named = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => wants(`n-${from + at}`));
    /** The watches that run, by number, and how many names each has. */
    const open = (watches: readonly string[]): ReadonlyMap<string, number> => {
      const running = new Map<string, number>();
      for (const watch of watches) {
        const [number, names] = watch.split(': ') as [string, string | undefined];
        if (names === undefined) running.delete(number.replace(' ends', ''));
        else if (running.has(number)) throw new Error(`two watches are numbered ${number}`);
        else running.set(number, names.split(',').length);
      }
      return running;
    };

    it('are not watched any more once no name of a watch is wanted', async () => {
      const { watches, want } = setUp();
      for (let round = 0; round < 5; round += 1) {
        want(...named(round * 101, (round + 1) * 101));
        await pass(250);
        expect([...open(watches).values()]).toEqual([100, 1]);
      }
      want();
      await pass(250);
      expect(open(watches).size).toBe(0);
    });

    it('are watched by few, also when names go and come one by one', async () => {
      const { watches, want } = setUp();
      let most = 0;
      for (let at = 0; at < 1_000; at += 7) {
        want(...named(at, at + 300).filter((_, index) => index % 3 === 0 || index > 250));
        await pass(250);
        most = Math.max(most, open(watches).size);
      }
      expect(most).toBeLessThanOrEqual(4);
    });
  });

  it('are unknown, rather than none, until their watch has been listed', async () => {
    const { byName, stores, want } = setUp();
    want(wants('a'));
    await pass(250);
    expect([byName.synced, byName.of('shop/a', 'a')]).toEqual([false, undefined]);
    const sink = stores[0]!.sink();
    sink.init();
    sink.listed(sliceOf('a'));
    sink.initDone();
    expect([byName.synced, byName.of('shop/a', 'a')?.length]).toEqual([true, 1]);
    expect(byName.of('bank/a', 'a')).toEqual([]);
    expect(byName.of('shop/b', 'b')).toBeUndefined();
  });

  it('are not looked for while it is not known who wants them, nor after the end', async () => {
    const { byName, target, watches, want } = setUp();
    target.wanting = undefined;
    byName.reconsider();
    await pass(250);
    want(wants('a'));
    byName.stop();
    byName.reconsider();
    await pass(10_000);
    expect(watches).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('slices whose label may yet be copied', () => {
  it('are given time for that', async () => {
    const { watches, want } = setUp();
    want(wants('late', true), wants('soon', true));
    await pass(250 + LABEL_COPY_MS - 100);
    expect(watches).toEqual([]);
    want(wants('late', true));
    await pass(250);
    expect(watches).toEqual(['0: late']);
  });

  it('do not have the watch made anew for each of them, where a target is late with many', async () => {
    const { watches, want } = setUp();
    want(wants('a', true));
    await pass(500);
    want(wants('a', true), wants('b', true));
    await pass(1_500);
    // At 2 s, for `a` since 0.25 s.
    want(wants('a', true), wants('b', true));
    await pass(500);
    expect(watches).toEqual(['0: a']);
    // At 3 s, for `b` since 0.75 s: it shares the next watch with all that are late by then.
    want(wants('a', true), wants('b', true), wants('c', true));
    await pass(500);
    expect(watches).toEqual(['0: a']);
    await pass(5_000);
    expect(watches).toEqual(['0: a', '0 ends', '0: a,b,c']);
  });
});

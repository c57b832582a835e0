import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseSelector } from '../../../../crds/selector.ts';
import type { KubeClient, ListOptions, WatchOptions } from '../../../../operator/kube/client.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  SERVICES,
} from '../../../../operator/kube/objects.ts';
import type { ReflectorState } from '../../../../operator/runtime/reflector.ts';
import { Store } from '../../../../operator/runtime/store.ts';
import { PodRereads } from '../../../../operator/target/certain/pod-rereads.ts';
import { ExportWatch } from '../../../../operator/target/watch/export-watch.ts';
import { SharedBytes } from '../../../../operator/target/read/shared-bytes.ts';
import { WatchedStore } from '../../../../operator/target/watch/watched-store.ts';
import { ExportedServices } from '../../../../operator/target/watch/exported-services.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** More than are found by one watch. */
const SERVICES_COUNT = 450;

/** A quarter of the limit, and more. */
const LARGE = 'x'.repeat(20 * 1024 ** 2);

/** As a Link keeps a slice of 100 pods, if the target lets it be large. */
const readLarge = (object: EndpointSlice): { readonly object: EndpointSlice } => ({
  object: { ...object, metadata: { ...object.metadata, annotations: { LARGE } } },
});

/** A slice of 100 pods. */
const slice = (service: string, at: number): EndpointSlice => ({
  metadata: {
    ...{ namespace: 'shop', name: `${service}-${at}`, uid: `${service}-${at}`, resourceVersion: '1' },
    labels: { 'kubernetes.io/service-name': service },
  },
  addressType: 'IPv4',
  endpoints: Array.from({ length: 100 }, (_, pod) => ({ hostname: `pod-${pod}`, addresses: ['10.0.0.1'] })),
});

/** A target with Services whose slices are found by name; it sends some slices to who asks for those of Services. */
function targetSending(slicesOfEach: () => number) {
  const listEach = (
    { plural }: Resource,
    { labelSelector = '' }: ListOptions,
    take: (item: KubeObject) => void,
  ): Promise<{ resourceVersion: string }> => {
    const names = /service-name in \(([^,)]*)/.exec(labelSelector) ?? /service-name=(.*)/.exec(labelSelector);
    if (plural === SERVICES.plural) {
      for (let at = 0; at < SERVICES_COUNT; at += 1) {
        const metadata = { namespace: 'shop', name: `s${at}`, uid: `s${at}`, resourceVersion: '1' };
        take({ metadata, spec: { ports: [{ port: 80 }] } } as KubeObject);
      }
    } else if (names !== null) {
      for (let at = 0; at < slicesOfEach(); at += 1) take(slice(names[1] ?? '', at));
    }
    return Promise.resolve({ resourceVersion: '1' });
  };
  async function* watch(_: Resource, { signal, onOpen }: WatchOptions) {
    onOpen?.();
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  return { listEach, watch, list: () => Promise.resolve({ metadata: { resourceVersion: '1' }, items: [] }) };
}

/** The states of the watches of slices. */
function statesOf() {
  const states = new Map<string, ReflectorState>();
  const reading = {
    state: (name: string, state: ReflectorState | undefined): void => {
      if (state === undefined) states.delete(name);
      else if (name.includes('endpointslices')) states.set(name, state);
    },
    malformed: (what: string): void => {
      throw new Error(what);
    },
  };
  const summary = () => ({
    open: [...states.values()].filter(({ connected }) => connected).length,
    refused: [...states.values()].filter(
      (state) => !state.connected && String(state.error).includes('the objects take more than'),
    ).length,
  });
  return { reading, summary };
}

const nothing = (): void => undefined;

it.each([
  [
    'a Link',
    (client: KubeClient, reading: ReturnType<typeof statesOf>['reading'], signal: AbortSignal) => {
      const gateway = parseSelector({ matchLabels: { exported: 'true' } }, 'spec.selector');
      if (!gateway.ok) throw new Error('bad selector');
      const selectors = { gateway: gateway.value, flat: undefined };
      const lists = { relisted: nothing, slicesRelisted: nothing };
      new ExportWatch({ selectors, listener: {}, lists, reading, readSlice: readLarge }).run(client, signal);
    },
    // The watch of labelled slices has a limit of its own.
    { others: 1 },
  ],
  [
    'ServiceExports',
    (client: KubeClient, reading: ReturnType<typeof statesOf>['reading'], signal: AbortSignal) => {
      new ExportedServices({
        ...{ client, signal, reading, isExported: () => true, readSlice: readLarge },
        exported: () => Array.from({ length: SERVICES_COUNT }, (_, at) => `shop/s${at}`),
        listener: { changed: nothing, relisted: nothing, unanswered: nothing },
      }).reconsider();
    },
    { others: 0 },
  ],
])(
  'the slices of %s that are found by name share one limit, however many watches find them (E10, L224)',
  async (_, start, { others }) => {
    let slices = 1;
    const ended = new AbortController();
    const { reading, summary } = statesOf();
    start(targetSending(() => slices) as unknown as KubeClient, reading, ended.signal);
    await vi.advanceTimersByTimeAsync(5_000);
    const first = summary();
    // Of five watches.
    expect(first.open + first.refused).toBe(others + 5);
    expect(first.refused).toBeGreaterThan(0);
    slices = 0;
    await vi.advanceTimersByTimeAsync(600_000);
    // What was taken is given back.
    expect(summary()).toEqual({ open: others + 5, refused: 0 });
    ended.abort();
  },
);

it('a watch that has ended takes nothing of the limit (E10, L224)', async () => {
  const { reading, summary } = statesOf();
  const shared = new SharedBytes();
  const client = targetSending(() => 1) as unknown as KubeClient;
  const ended = new AbortController();
  const watching = (service: string): WatchedStore<EndpointSlice> =>
    new WatchedStore<EndpointSlice>({
      ...{ name: `endpointslices ${service}`, client: () => client, listener: reading, signal: ended.signal, shared },
      store: new Store<EndpointSlice>({ weigh: () => 60 }),
      ...{ resource: ENDPOINT_SLICES, labelSelector: `service-name=${service}`, maxObjects: 10, maxBytes: 100 },
    });
  const first = watching('a');
  await vi.advanceTimersByTimeAsync(0);
  const second = watching('b');
  await vi.advanceTimersByTimeAsync(0);
  expect([summary(), second.connected]).toEqual([{ open: 1, refused: 1 }, false]);
  first.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect([summary(), shared.bytes, second.connected]).toEqual([{ open: 1, refused: 0 }, 60, true]);
  ended.abort();
});

it('what a target answers of pods shares one limit, however many Services are asked about (E10, L224)', async () => {
  const taken: number[] = [];
  const { listEach } = targetSending(() => 3);
  let waiting: (() => void)[] = [];
  const reported: string[] = [];
  const rereads = new PodRereads({
    ...{ get: () => undefined, isLabelled: () => true, maxBytes: 40_000, backoff: { baseMs: 100, capMs: 1_000 } },
    listener: {
      answered: (key) => reported.push(key),
      unanswered: (_, error) => reported.push(String(error)),
    },
  });
  const client = {
    listEach: async (of: Resource, options: ListOptions, take: (item: KubeObject) => void) => {
      const { resourceVersion } = await listEach(of, options, take);
      taken.push(1);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { resourceVersion };
    },
  };
  const ended = new AbortController();
  rereads.run(client as unknown as KubeClient, ended.signal);
  for (let at = 0; at < 10; at += 1) rereads.ask(`shop/s${at}`);
  await vi.advanceTimersByTimeAsync(0);
  expect(taken.length).toBeLessThan(10);
  expect(reported).toHaveLength(10 - taken.length);
  expect(new Set(reported)).toEqual(new Set([expect.stringContaining('take more than')]));
  // Those that were refused are asked again, once others have been answered.
  for (let round = 0; round < 20; round += 1) {
    for (const answer of waiting.splice(0)) answer();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(reported.filter((each) => each.startsWith('shop/')).toSorted()).toEqual(
    Array.from({ length: 10 }, (_, at) => `shop/s${at}`),
  );
  waiting = [];
  ended.abort();
});

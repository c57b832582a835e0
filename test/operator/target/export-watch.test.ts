import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseSelector } from '../../../crds/selector.ts';
import type { KubeClient, ListOptions, WatchEvent, WatchOptions } from '../../../operator/kube/client.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import { type KubeObject, type Resource, type Service, SERVICES } from '../../../operator/kube/objects.ts';
import { ExportWatch } from '../../../operator/target/export-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const GATEWAY = 'exported=true';
const FLAT = 'exported=flat';

const service = (name: string, resourceVersion = '1'): Service => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion },
  spec: { selector: { app: name }, ports: [{ port: 80 }] },
});

/** A target of which a test decides what each query lists and hears. */
class FakeTarget {
  /** Services by query. */
  readonly services = new Map<string, readonly Service[]>();
  /** What lists wait for, by query. */
  readonly delays = new Map<string, Promise<void>>();
  readonly #watches = new Map<string, (next: WatchEvent<KubeObject> | Error) => void>();

  readonly client = {
    listEach: async ({ plural }: Resource, options: ListOptions, take: (item: KubeObject) => void) => {
      const { labelSelector = '' } = options;
      await this.delays.get(labelSelector);
      const items = plural === SERVICES.plural ? this.services.get(labelSelector) : undefined;
      items?.forEach(take);
      return { resourceVersion: '1' };
    },
    /** Asked before a watch resumes after a failure. */
    list: async (_: Resource, { labelSelector = '' }: ListOptions) => {
      await this.delays.get(labelSelector);
      return { metadata: { resourceVersion: '1' }, items: [] };
    },
    watch: (of: Resource, options: WatchOptions) => this.#watching(of, options),
  } as unknown as KubeClient;

  /** The watch of Services by a query hears this. */
  tell(query: string, next: WatchEvent<KubeObject> | Error): void {
    this.#watches.get(`${SERVICES.plural} ${query}`)!(next);
  }

  async *#watching(of: Resource, { labelSelector = '', signal, onOpen }: WatchOptions) {
    const pending: (WatchEvent<KubeObject> | Error)[] = [];
    let wake: () => void = () => undefined;
    this.#watches.set(`${of.plural} ${labelSelector}`, (next) => {
      pending.push(next);
      wake();
    });
    signal.addEventListener('abort', () => wake(), { once: true });
    onOpen?.();
    for (;;) {
      const next = pending.shift();
      if (signal.aborted) throw signal.reason;
      if (next instanceof Error) throw next;
      if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield next;
    }
  }
}

const selectorOf = (query: string | undefined) => {
  const [key = '', value = ''] = query?.split('=') ?? [];
  const parsed = parseSelector(query === undefined ? {} : { matchLabels: { [key]: value } }, 'spec.selector');
  if (!parsed.ok) throw new Error('bad selector');
  return parsed.value;
};

/** What is exported by the queries, once it has been listed, and what was reported of it. */
async function watching(target: FakeTarget, queries: { readonly gateway?: string; readonly flat?: string }) {
  const changed: string[] = [];
  const lists: boolean[] = [];
  const watch: ExportWatch = new ExportWatch({
    selectors: { gateway: selectorOf(queries.gateway), flat: selectorOf(queries.flat) },
    onChange: (key) => changed.push(`${key} ${watch.get(key)?.mode ?? 'gone'}`),
    onRelisted: (lost) => lists.push(lost),
    onSlicesRelisted: () => undefined,
    onState: () => undefined,
    onMalformed: (what) => {
      throw new Error(what);
    },
  });
  watch.run(target.client, new AbortController().signal);
  await pass(0);
  changed.length = 0;
  return { watch, changed, lists };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const expired = () => new ApiError(410, { reason: 'Expired' }, 'watch');

describe('a Service that two selectors may select (A1)', () => {
  it('is exported in flat mode where both do', async () => {
    const target = new FakeTarget();
    for (const query of [GATEWAY, FLAT]) target.services.set(query, [service('web')]);
    const { watch } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    expect([...watch.keys()]).toEqual(['shop/web']);
    expect(watch.get('shop/web')?.mode).toBe('remote-discovery');
  });

  it('is never reported as gone on its way from one to the other', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('web')]);
    const { changed } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    target.tell(GATEWAY, { type: 'DELETED', object: service('web', '2') });
    await pass(200);
    target.tell(FLAT, { type: 'ADDED', object: service('web', '2') });
    await pass(1_000);
    expect(new Set(changed)).toEqual(new Set(['shop/web remote-discovery']));
  });

  it('is not known on its way from one to the other, however long the other is not connected', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('web'), service('gone')]);
    const { changed, watch } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    // A watch that ends young is a suspect, and counts as connected again only after a while.
    await pass(30_000);
    changed.length = 0;
    const { promise: connected, resolve: connect } = Promise.withResolvers<void>();
    target.delays.set(FLAT, connected);
    target.tell(FLAT, new Error('the connection was lost'));
    for (const name of ['web', 'gone']) target.tell(GATEWAY, { type: 'DELETED', object: service(name, '2') });
    await pass(60_000);
    expect(changed).toEqual([]);
    expect([watch.isMoving('shop/web'), watch.isMoving('shop/gone')]).toEqual([true, true]);
    target.delays.delete(FLAT);
    connect();
    await pass(200);
    // It is connected, but may be behind.
    expect(changed).toEqual([]);
    target.tell(FLAT, { type: 'ADDED', object: service('web', '2') });
    await pass(1_000);
    expect(changed.sort()).toEqual(['shop/gone gone', 'shop/web remote-discovery']);
    expect([watch.isMoving('shop/web'), watch.isMoving('shop/gone')]).toEqual([false, false]);
  });

  it('is known at once when one of both no longer selects it', async () => {
    const target = new FakeTarget();
    for (const query of [GATEWAY, FLAT]) target.services.set(query, [service('web')]);
    const { changed, watch } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    target.tell(FLAT, { type: 'DELETED', object: service('web', '2') });
    await pass(0);
    expect([changed, watch.isMoving('shop/web')]).toEqual([['shop/web gateway'], false]);
  });

  it('is reported as gone when it enters neither', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('web')]);
    const { changed } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    target.tell(GATEWAY, { type: 'DELETED', object: service('web', '2') });
    await pass(1_000);
    expect(changed).toEqual(['shop/web gone']);
  });

  it('is reported as gone at once where there is but one', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('web')]);
    const { changed } = await watching(target, { gateway: GATEWAY });
    target.tell(GATEWAY, { type: 'DELETED', object: service('web', '2') });
    await pass(0);
    expect(changed).toEqual(['shop/web gone']);
  });

  it('is not known before both lists are', async () => {
    const target = new FakeTarget();
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    target.delays.set(FLAT, answered);
    const { watch, lists } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    expect([watch.synced, lists]).toEqual([false, []]);
    resolve();
    await pass(0);
    expect([watch.synced, lists]).toEqual([true, [false]]);
  });
});

describe('a list of Services (E6)', () => {
  it('reports a loss that nobody asked for', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('web'), service('db')]);
    const { lists } = await watching(target, { gateway: GATEWAY });
    target.services.set(GATEWAY, [service('web')]);
    target.tell(GATEWAY, expired());
    await pass(1_000);
    expect(lists).toEqual([false, true]);
    target.tell(GATEWAY, expired());
    await pass(2_000);
    expect(lists).toEqual([false, true, false]);
  });

  it('that was asked for is awaited, and reports no loss: all namespaces would be counted for ever', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('web'), service('db')]);
    const { watch, lists } = await watching(target, { gateway: GATEWAY });
    target.services.set(GATEWAY, [service('web')]);
    watch.relist();
    expect(watch.current).toBe(false);
    await pass(0);
    expect([watch.current, lists]).toEqual([true, [false, false]]);
    expect([...watch.keys()]).toEqual(['shop/web']);
  });
});

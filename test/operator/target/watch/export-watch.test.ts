import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseSelector } from '../../../../crds/selector.ts';
import type { KubeClient, ListOptions, WatchEvent, WatchOptions } from '../../../../operator/kube/client.ts';
import { ApiError } from '../../../../operator/kube/errors.ts';
import { type KubeObject, type Resource, type Service, SERVICES } from '../../../../operator/kube/objects.ts';
import { ExportWatch } from '../../../../operator/target/watch/export-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const GATEWAY = 'exported=true';
const FLAT = 'exported=flat';
const MEMBER = 'federated=member';

const service = (name: string, resourceVersion = '1', labels: Readonly<Record<string, string>> = {}): Service => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion, labels },
  spec: { selector: { app: name }, ports: [{ port: 80 }] },
});

/** A target of which a test decides what each query lists and hears. */
class FakeTarget {
  /** Services by query. */
  readonly services = new Map<string, readonly Service[]>();
  /** What is listed of one Service, by name. */
  readonly stored = new Map<string, readonly unknown[]>();
  /** The field selectors by which one Service was asked for. */
  readonly asked: string[] = [];
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
    /** Asked before a watch resumes after a failure, and for one Service. */
    list: async (_: Resource, { labelSelector = '', fieldSelector }: ListOptions) => {
      await this.delays.get(fieldSelector ?? labelSelector);
      if (fieldSelector !== undefined) this.asked.push(fieldSelector);
      const items = fieldSelector === undefined ? [] : (this.stored.get(fieldSelector.replace(/.*=/, '')) ?? []);
      return { metadata: { resourceVersion: '1' }, items };
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
async function watching(
  target: FakeTarget,
  queries: { readonly gateway?: string; readonly flat?: string; readonly members?: string },
) {
  const changed: string[] = [];
  const lists: boolean[] = [];
  const answers: string[] = [];
  const watch: ExportWatch = new ExportWatch({
    selectors: {
      gateway: selectorOf(queries.gateway),
      flat: selectorOf(queries.flat),
      members: selectorOf(queries.members),
    },
    listener: {
      memberChanged: (key) => changed.push(`member ${key}`),
      memberAnswered: (key) => changed.push(`member answer ${key}`),
      serviceChanged: (key) => changed.push(`${key} ${watch.mirrored.get(key)?.mode ?? 'gone'}`),
      serviceAnswered: (key) => answers.push(`${key} ${watch.mirrored.confirms(key) ? 'confirmed' : 'not confirmed'}`),
      unanswered: (key, error) => answers.push(`${key} ${String(error)}`),
    },
    lists: { relisted: (lost) => lists.push(lost), slicesRelisted: () => undefined },
    reading: {
      state: () => undefined,
      malformed: (what) => {
        throw new Error(what);
      },
    },
  });
  watch.run(target.client, new AbortController().signal);
  await pass(0);
  changed.length = 0;
  return { watch, changed, lists, answers };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const expired = () => new ApiError(410, { reason: 'Expired' }, 'watch');

describe('a Service that two selectors may select (A1)', () => {
  it('is exported in flat mode where both do', async () => {
    const target = new FakeTarget();
    for (const query of [GATEWAY, FLAT]) target.services.set(query, [service('web')]);
    const { watch } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    expect([...watch.mirrored.keys()]).toEqual(['shop/web']);
    expect(watch.mirrored.get('shop/web')?.mode).toBe('remote-discovery');
  });

  it('that left one watch is not known to be gone before the target has been asked (L66)', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('web'), service('gone')]);
    const { watch, changed, answers } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    const flat = service('web', '2', { exported: 'flat' });
    target.stored.set('web', [flat]);
    // The watch of the other selector is broken, which is not noticed.
    for (const name of ['web', 'gone']) target.tell(GATEWAY, { type: 'DELETED', object: service(name, '2') });
    await pass(0);
    expect(changed).toEqual(['shop/web gone', 'shop/gone gone']);
    expect([watch.mirrored.confirms('shop/web'), watch.mirrored.confirms('shop/gone')]).toEqual([false, false]);
    for (const name of ['web', 'gone']) watch.mirrored.ask(`shop/${name}`);
    await pass(0);
    expect(answers).toEqual(['shop/web not confirmed', 'shop/gone confirmed']);
    target.tell(FLAT, { type: 'ADDED', object: flat });
    await pass(0);
    expect(changed.at(-1)).toBe('shop/web remote-discovery');
  });

  it('is known at once when one of both no longer selects it', async () => {
    const target = new FakeTarget();
    for (const query of [GATEWAY, FLAT]) target.services.set(query, [service('web')]);
    const { changed } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    target.tell(FLAT, { type: 'DELETED', object: service('web', '2') });
    await pass(0);
    expect(changed).toEqual(['shop/web gateway']);
  });

  it('is reported as gone at once when none does any more', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('web')]);
    const { changed } = await watching(target, { gateway: GATEWAY, flat: FLAT });
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
    expect([...watch.mirrored.keys()]).toEqual(['shop/web']);
  });
});

describe('a Service that the target is asked for', () => {
  const ask = async (listed: readonly unknown[], shown?: Service) => {
    const target = new FakeTarget();
    if (shown !== undefined) target.services.set(GATEWAY, [shown]);
    target.stored.set('web', listed);
    const { watch, answers } = await watching(target, { gateway: GATEWAY, flat: FLAT });
    watch.mirrored.ask('shop/web');
    await pass(0);
    expect([target.asked, answers.length]).toEqual([['metadata.name=web'], 1]);
    return watch.mirrored.confirms('shop/web');
  };
  const EXPORTED = { exported: 'true' };

  it('is as it is shown, in its mode and its version', async () => {
    const web = service('web', '2', EXPORTED);
    expect(await ask([web], web)).toBe(true);
    expect(await ask([web], service('web', '1', EXPORTED))).toBe(false);
    expect(await ask([service('web', '2', { exported: 'flat' })], web)).toBe(false);
    expect(await ask([web])).toBe(false);
    expect(await ask([], web)).toBe(false);
  });

  it('is not exported if it is not there, no selector selects it, or the API does not allow it', async () => {
    expect(await ask([])).toBe(true);
    expect(await ask([service('web', '2', { exported: 'false' })])).toBe(true);
    expect(await ask([{ ...service('web', '2', EXPORTED), spec: { ports: 'none' } }])).toBe(true);
  });

  it('is asked for again when it has changed, or Services were listed anew', async () => {
    const target = new FakeTarget();
    target.services.set(GATEWAY, [service('db')]);
    const { watch, answers } = await watching(target, { gateway: GATEWAY });
    watch.mirrored.ask('shop/web');
    await pass(0);
    target.tell(GATEWAY, { type: 'ADDED', object: service('web', '2', EXPORTED) });
    target.tell(GATEWAY, { type: 'DELETED', object: service('web', '3') });
    await pass(0);
    expect([answers, watch.mirrored.confirms('shop/web')]).toEqual([['shop/web confirmed'], false]);
    watch.mirrored.ask('shop/web');
    await pass(0);
    target.stored.set('web', [service('web', '4', EXPORTED)]);
    watch.relist();
    await pass(0);
    // Nothing has called for another answer yet.
    expect([answers.length, watch.mirrored.confirms('shop/web')]).toEqual([2, false]);
    watch.mirrored.ask('shop/web');
    await pass(0);
    expect(answers.at(-1)).toBe('shop/web not confirmed');
    // That settled nothing.
    watch.relist();
    await pass(0);
    expect(answers).toHaveLength(4);
  });

  it('is certainly no member if it is not there, or is not selected as one, and where none is (I6)', async () => {
    const target = new FakeTarget();
    target.services.set(MEMBER, [service('web')]);
    const { watch, changed } = await watching(target, { members: MEMBER });
    target.tell(MEMBER, { type: 'DELETED', object: service('web', '2') });
    await pass(0);
    expect([changed, watch.members.confirms('shop/web')]).toEqual([['member shop/web'], false]);
    for (const [listed, confirms] of [
      [[service('web', '3', { federated: 'member' })], false],
      [[service('web', '4')], true],
      [[], true],
    ] as const) {
      target.stored.set('web', listed);
      watch.members.ask('shop/web');
      await pass(0);
      expect([changed.at(-1), watch.members.confirms('shop/web')]).toEqual(['member answer shop/web', confirms]);
      // It comes and goes.
      target.tell(MEMBER, { type: 'ADDED', object: service('web', '5') });
      target.tell(MEMBER, { type: 'DELETED', object: service('web', '6') });
      await pass(0);
      expect(watch.members.confirms('shop/web')).toBe(false);
    }
    const none = await watching(target, { gateway: GATEWAY });
    expect(none.watch.members.confirms('shop/web')).toBe(true);
  });

  it('is certainly not exported where nothing is selected', async () => {
    const { watch } = await watching(new FakeTarget(), {});
    expect(watch.mirrored.confirms('shop/web')).toBe(true);
  });
});

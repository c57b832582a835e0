import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import type { KubeClient, List, ListOptions, WatchEvent, WatchOptions } from '../../../operator/kube/client.ts';
import { ApiError, ConnectionError, LimitError, SilenceError } from '../../../operator/kube/errors.ts';
import { type KubeObject, SERVICES } from '../../../operator/kube/objects.ts';
import { Interruptions } from '../../../operator/runtime/interruptions.ts';
import { Reflector, type ReflectorState } from '../../../operator/runtime/reflector.ts';
import { Store } from '../../../operator/runtime/store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const object = (name: string, resourceVersion: string): KubeObject => ({ metadata: { name, resourceVersion } });
const added = (name: string, version: string): WatchEvent<KubeObject> => ({
  type: 'ADDED',
  object: object(name, version),
});
const bookmark = (version: string): WatchEvent<KubeObject> => ({ type: 'BOOKMARK', object: object('', version) });
const expired = (): ApiError => new ApiError(410, { reason: 'Expired' }, 'watch');

/** What a watch does next: tell of an event, fail, or end as the server ends it. */
type Step = WatchEvent<KubeObject> | Error | 'end';

/** An API server of which a test decides every answer. */
class Server {
  readonly requests: string[] = [];
  /** Answers to lists, in order; the last stands for all that follow. */
  lists: (List<KubeObject> | Error)[] = [{ metadata: { resourceVersion: '1' }, items: [] }];
  #watch: { readonly push: (step: Step) => void } | undefined;
  /** What each watch was asked for with. */
  readonly watches: WatchOptions[] = [];
  /** What each watch hears as soon as it is open. */
  greeting: readonly Step[] = [];
  /** Answers checks whether a version is still served. */
  versionGone: Error | undefined;
  /** Answers new watches, before they are open, and checks. */
  refusal: Error | undefined;

  readonly client = {
    list: async (_of: unknown, { resourceVersion }: ListOptions) => {
      this.requests.push(`check ${resourceVersion ?? ''}`.trim());
      if (this.refusal !== undefined) throw this.refusal;
      if (this.versionGone !== undefined) throw this.versionGone;
      return { metadata: { resourceVersion }, items: [] };
    },
    listEach: async (_of: unknown, options: ListOptions, take: (object: KubeObject) => void) => {
      this.requests.push(`list ${options.continue ?? ''}`.trim());
      // Hammered, it gives no answer any more.
      if (this.requests.length > 3000) return new Promise(() => undefined);
      if (this.refusal !== undefined) throw this.refusal;
      const answer = this.lists.length > 1 ? this.lists.shift()! : this.lists[0]!;
      if (answer instanceof Error) throw answer;
      answer.items.forEach(take);
      return answer.metadata;
    },
    watch: (_of: unknown, options: WatchOptions) => this.#watching(options),
  } as unknown as KubeClient;

  /** The open watch hears this. */
  tell(step: Step): void {
    if (this.#watch === undefined) throw new Error('no watch is open');
    this.#watch.push(step);
  }

  async *#watching(options: WatchOptions): AsyncGenerator<WatchEvent<KubeObject>> {
    const { resourceVersion, signal, onOpen } = options;
    this.requests.push(`watch ${resourceVersion}`);
    this.watches.push(options);
    if (this.refusal !== undefined) throw this.refusal;
    onOpen?.();
    const steps: Step[] = [...this.greeting];
    let wake: () => void = () => undefined;
    this.#watch = {
      push: (step) => {
        steps.push(step);
        wake();
      },
    };
    signal.addEventListener('abort', () => wake(), { once: true });
    for (;;) {
      const step = steps.shift();
      if (signal.aborted) throw signal.reason;
      if (step === 'end') return;
      if (step instanceof Error) throw step;
      if (step === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield step;
    }
  }
}

function setUp(server = new Server(), maxObjects?: number, maxBytes?: number) {
  const store = new Store<KubeObject>({ weigh: ({ metadata }) => metadata.name.length });
  const states: ReflectorState[] = [];
  const heard = { times: 0 };
  const interruptions = new Interruptions();
  const reflector = new Reflector({
    client: () => server.client,
    resource: SERVICES,
    sink: store.sink(),
    maxObjects,
    maxBytes,
    onState: (state) => states.push(state),
    onHeard: () => (heard.times += 1),
    interruptions,
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  return {
    server,
    store,
    states,
    heard,
    interruptions,
    reflector,
    end,
    names: () => [...store.values()].map(({ metadata }) => metadata.name),
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

const connections = (states: readonly ReflectorState[]) => states.map(({ connected }) => connected);

describe('a reflector (H3)', () => {
  it('lists page by page, then watches from the version of the list', async () => {
    const server = new Server();
    server.lists = [
      { metadata: { resourceVersion: '7', continue: 'more' }, items: [object('a', '3')] },
      { metadata: { resourceVersion: '7', continue: '' }, items: [object('b', '4')] },
    ];
    const { names, end } = setUp(server);
    await pass(0);
    expect(names()).toEqual(['a', 'b']);
    expect(server.requests).toEqual(['list', 'list more', 'watch 7']);
    await end();
  });

  it('follows the events of the watch, and resumes after the last one, bookmarks included', async () => {
    const { server, names, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    server.tell(added('b', '6'));
    server.tell({ type: 'DELETED', object: object('a', '7') });
    server.tell(bookmark('40'));
    await pass(10_000);
    server.tell('end');
    await pass(0);
    expect(names()).toEqual(['b']);
    expect(server.requests).toEqual(['list', 'watch 1', 'watch 40']);
    await end();
  });

  test.each([
    ['the answer to a watch', (server: Server) => server.tell(expired())],
    [
      'an event of a watch',
      (server: Server) =>
        server.tell({ type: 'ERROR', object: { code: 410, reason: 'Expired' } as unknown as KubeObject }),
    ],
  ])('lists anew at once when %s says that the version has expired', async (_, expire) => {
    const { server, names, states, end } = setUp();
    await pass(0);
    server.tell(added('gone', '5'));
    await pass(0);
    server.lists = [{ metadata: { resourceVersion: '90' }, items: [object('new', '80')] }];
    expire(server);
    await pass(0);
    expect(names()).toEqual(['new']);
    expect(server.requests).toEqual(['list', 'watch 1', 'list', 'watch 90']);
    expect(states).toEqual([{ connected: true }, { connected: true }]);
    await end();
  });

  it('begins a list anew that expires half way, and shows nothing of the half (L29)', async () => {
    const server = new Server();
    server.lists = [
      { metadata: { resourceVersion: '7', continue: 'more' }, items: [object('ghost', '3')] },
      expired(),
      { metadata: { resourceVersion: '9' }, items: [object('a', '8')] },
    ];
    const { names, end } = setUp(server);
    await pass(0);
    expect(names()).toEqual(['a']);
    expect(server.requests).toEqual(['list', 'list more', 'list', 'watch 9']);
    await end();
  });

  it('does not hammer a server on which everything has expired', async () => {
    const server = new Server();
    server.lists = [expired()];
    const { end } = setUp(server);
    await pass(10_000);
    expect(server.requests.length).toBeLessThan(20);
    await end();
  });

  it('lists anew when the server has yet to reach where the watch was, as after a restore (L22)', async () => {
    const { server, names, end } = setUp();
    await pass(0);
    server.tell(added('a', '5000'));
    await pass(0);
    server.lists = [{ metadata: { resourceVersion: '9' }, items: [object('old', '8')] }];
    server.refusal = new ApiError(504, { message: 'Too large resource version: 5000, current: 9' }, 'list');
    server.tell(new ConnectionError('reset'));
    await pass(1_000);
    server.refusal = undefined;
    await pass(60_000);
    expect(names()).toEqual(['old']);
    expect(server.requests.at(-1)).toBe('watch 9');
    await end();
  });

  it.each([
    ['gave no answer', new ConnectionError('refused')],
    ['was not available', new ApiError(503, {}, 'watch')],
  ])('lists anew when the server %s: restored, it may have outgrown what it lost (L55)', async (_, refusal) => {
    const { server, names, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    // The watch ends in the ordinary course: what follows is a new one, from where this was.
    await pass(20_000);
    server.refusal = refusal;
    server.tell('end');
    await pass(1_000);
    server.lists = [{ metadata: { resourceVersion: '9' }, items: [object('old', '8')] }];
    server.refusal = undefined;
    await pass(60_000);
    expect(names()).toEqual(['old']);
    expect(server.requests.at(-1)).toBe('watch 9');
    await end();
  });

  it('lists anew after a watch that falls silent, which is not reported (L22, L30)', async () => {
    const { server, states, names, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    server.lists = [{ metadata: { resourceVersion: '9' }, items: [object('old', '8')] }];
    server.tell(new SilenceError('nothing heard'));
    await pass(600);
    expect(server.requests).toEqual(['list', 'watch 1', 'check', 'list', 'watch 9']);
    expect(names()).toEqual(['old']);
    expect(states.map(({ connected }) => connected)).toEqual([true, true]);
    await end();
  });

  it('takes an event that it does not know for a failure, and lists anew', async () => {
    const { server, states, names, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    server.tell({ type: 'PONDERED' as 'ADDED', object: object('b', '6') });
    await pass(0);
    expect(states.at(-1)?.connected).toBe(false);
    expect(names()).toEqual(['a']);
    await pass(1_000);
    expect(server.requests.slice(-2)).toEqual(['list', 'watch 1']);
    await end();
  });

  it('tries again when a server is away, after a pause that grows to its cap, without limit', async () => {
    const { server, store, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    await pass(0);
    server.refusal = new ConnectionError('refused');
    server.tell(new ConnectionError('reset'));
    await pass(1_000);
    expect(server.requests.slice(2)).toContain('check');
    const before = server.requests.length;
    await pass(3_600_000);
    const tries = server.requests.length - before;
    // Between 15 and 30 s each.
    expect(tries).toBeGreaterThan(110);
    expect(tries).toBeLessThan(250);
    expect(store.size).toBe(1);
    server.refusal = undefined;
    server.lists = [{ metadata: { resourceVersion: '5' }, items: [object('a', '5')] }];
    await pass(30_000);
    server.tell(added('b', '6'));
    await pass(0);
    expect(store.size).toBe(2);
    expect(server.requests.at(-1)).toBe('watch 5');
    await end();
  });

  it('lists anew when a connection breaks, however soon the server answers again (L55)', async () => {
    const { server, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    server.tell(new ConnectionError('reset'));
    await pass(1_000);
    expect(server.requests).toEqual(['list', 'watch 1', 'check', 'list', 'watch 1']);
    await end();
  });

  it.each([
    ['breaks', new ConnectionError('reset')],
    ['falls silent', new SilenceError('nothing heard')],
    ['is ended by an error', new ApiError(503, {}, 'watch')],
  ])('notices once that the server was away when its watch %s (L62)', async (_, error) => {
    const { server, interruptions, end } = setUp();
    const noticed = vi.spyOn(interruptions, 'noticed');
    await pass(0);
    server.refusal = new ConnectionError('refused');
    server.tell(error);
    await pass(60_000);
    expect(noticed).toHaveBeenCalledTimes(1);
    server.refusal = undefined;
    await pass(60_000);
    server.tell(new ConnectionError('reset'));
    await pass(0);
    expect(noticed).toHaveBeenCalledTimes(2);
    await end();
  });

  it.each([
    ['that expired', new ApiError(410, {}, 'watch')],
    ['that was ended in time', 'end'],
  ] as const)('notices no interruption after a watch %s', async (_, step) => {
    const { server, interruptions, end } = setUp();
    await pass(20_000);
    server.tell(step);
    await pass(1_000);
    expect(interruptions.lastMs).toBe(-Infinity);
    await end();
  });

  it('lists anew after a refusal during which another watch found that the server had been away (L84)', async () => {
    const { server, interruptions, end } = setUp();
    await pass(0);
    server.refusal = new ApiError(403, {}, 'watch');
    server.tell(new ApiError(403, {}, 'watch'));
    await pass(10_000);
    interruptions.noticed();
    server.refusal = undefined;
    server.requests.length = 0;
    await pass(60_000);
    expect(server.requests).toEqual(['check 1', 'list', 'watch 1']);
    await end();
  });

  it('lists anew what was not served for a while, before its watch is open (L138)', async () => {
    const { server, states, end } = setUp();
    await pass(20_000);
    server.refusal = new ApiError(404, {}, 'watch');
    server.tell('end');
    await pass(120_000);
    server.refusal = undefined;
    server.requests.length = 0;
    states.length = 0;
    await pass(60_000);
    expect([server.requests, states]).toEqual([['list', 'watch 1'], [{ connected: true }]]);
    await end();
  });

  it('goes on from where it was after a refusal, if the server was there all along', async () => {
    const { server, interruptions, end } = setUp();
    interruptions.noticed();
    await pass(1);
    server.tell(new ApiError(403, {}, 'watch'));
    await pass(1_000);
    expect(server.requests).toEqual(['list', 'watch 1', 'check 1', 'watch 1']);
    await end();
  });

  it('waits as long as the server asks', async () => {
    const server = new Server();
    server.lists = [new ApiError(429, {}, 'list', 60_000), { metadata: { resourceVersion: '1' }, items: [] }];
    const { end } = setUp(server);
    await pass(59_000);
    expect(server.requests).toEqual(['list']);
    await pass(2_000);
    expect(server.requests).toEqual(['list', 'check', 'list', 'watch 1']);
    await end();
  });

  it('takes a watch that ends as soon as it is opened for a failure', async () => {
    const { server, states, end } = setUp();
    await pass(0);
    server.tell('end');
    await pass(0);
    expect(states.at(-1)?.connected).toBe(false);
    expect(server.requests).toEqual(['list', 'watch 1']);
    await pass(1000);
    expect(server.requests).toEqual(['list', 'watch 1', 'check', 'list', 'watch 1']);
    await end();
  });

  it('reports each watch that is open, and each failure with its error (E4)', async () => {
    const { server, states, end } = setUp();
    await pass(0);
    const refusal = new ConnectionError('refused');
    server.refusal = refusal;
    server.tell(refusal);
    await pass(600_000);
    expect(states[0]).toEqual({ connected: true });
    expect(states.length).toBeGreaterThan(2);
    expect(states.slice(1).every((state) => !state.connected && state.error === refusal)).toBe(true);
    server.refusal = undefined;
    await pass(60_000);
    expect(states.at(-1)).toEqual({ connected: true });
    await end();
  });

  it.each([
    ['breaks', new ConnectionError('reset')],
    ['is ended by an error', new ApiError(503, {}, 'watch')],
  ])('does not report that a watch %s until the next attempt fails (E4)', async (_, error) => {
    const { server, states, end } = setUp();
    for (let time = 0; time < 3; time += 1) {
      await pass(20_000);
      server.tell(error);
    }
    await pass(20_000);
    expect(server.watches).toHaveLength(4);
    expect(connections(states)).not.toContain(false);
    server.refusal = new ConnectionError('refused');
    server.tell(error);
    await pass(500);
    expect(states.at(-1)).toEqual({ connected: false, error: server.refusal });
    await end();
  });

  it('does not report that a watch breaks after another fell silent (E4)', async () => {
    const { server, states, end } = setUp();
    await pass(20_000);
    server.tell(new SilenceError('nothing heard'));
    await pass(20_000);
    server.tell(new ConnectionError('reset'));
    await pass(20_000);
    expect(connections(states)).not.toContain(false);
    await end();
  });

  it('does not report that a watch breaks soon after a version has expired (E4)', async () => {
    const { server, states, end } = setUp();
    await pass(20_000);
    server.tell(expired());
    await pass(1_000);
    server.tell(new ConnectionError('reset'));
    await pass(20_000);
    expect(connections(states)).not.toContain(false);
    await end();
  });

  it('reports a watch that breaks again before it has lived for ten seconds (E4, E11)', async () => {
    const { server, states, end } = setUp();
    await pass(20_000);
    server.tell(new ConnectionError('reset'));
    await pass(1_000);
    expect(connections(states)).not.toContain(false);
    server.tell(new ConnectionError('reset'));
    await pass(0);
    expect(connections(states).at(-1)).toBe(false);
    await end();
  });

  it('reconnects at once, from where it was, when it is told to', async () => {
    const { server, reflector, states, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    await pass(0);
    reflector.reconnect({ resume: true });
    await pass(0);
    expect(server.requests).toEqual(['list', 'watch 1', 'watch 5']);
    expect(states).toEqual([{ connected: true }, { connected: true }]);
    await end();
  });

  it('reconnects at once also when it waits after a failure', async () => {
    const server = new Server();
    server.lists = [new ApiError(401, {}, 'list', 300_000), { metadata: { resourceVersion: '1' }, items: [] }];
    const { reflector, store, end } = setUp(server);
    await pass(0);
    reflector.reconnect({ resume: true });
    await pass(0);
    expect(store.synced).toBe(true);
    await end();
  });

  it('lists anew at once when it is told to, also what it was still hearing of', async () => {
    const { server, reflector, names, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    server.tell(added('b', '6'));
    reflector.reconnect({ resume: false });
    await pass(0);
    expect(server.requests).toEqual(['list', 'watch 1', 'list', 'watch 1']);
    expect(names()).toEqual([]);
    await end();
  });

  it('asks the server to end each watch before it would count as silent', async () => {
    const { server, end } = setUp();
    await pass(0);
    const { timeoutSeconds = 0, idleTimeoutMs } = server.watches[0] ?? {};
    expect(timeoutSeconds).toBeGreaterThan(100);
    expect(timeoutSeconds * 1000).toBeLessThan(Number(idleTimeoutMs));
    await end();
  });

  it('reports whenever the server is heard: a list, an event, a bookmark, the regular end of a watch', async () => {
    const { server, heard, end } = setUp();
    await pass(0);
    expect(heard.times).toBe(1);
    server.tell(added('a', '2'));
    server.tell(bookmark('3'));
    await pass(0);
    expect(heard.times).toBe(3);
    await pass(120_000);
    expect(heard.times).toBe(3);
    server.tell('end');
    await pass(0);
    expect(heard.times).toBe(4);
    await end();
  });

  it('takes the regular end of a watch without bookmarks for a sign of life, and checks its version', async () => {
    const { server, states, end } = setUp();
    for (let time = 0; time < 3; time += 1) {
      await pass(130_000);
      server.tell('end');
    }
    await pass(0);
    expect(server.requests).toEqual([
      'list',
      'watch 1',
      'check 1',
      'watch 1',
      'check 1',
      'watch 1',
      'check 1',
      'watch 1',
    ]);
    expect(connections(states)).not.toContain(false);
    await end();
  });

  it('reports silence when it comes a second time in a row, until something is heard', async () => {
    const { server, states, end } = setUp();
    await pass(0);
    server.tell(added('a', '5'));
    const silence = new SilenceError('nothing heard');
    await pass(150_000);
    server.tell(silence);
    await pass(150_000);
    expect(connections(states)).not.toContain(false);
    server.tell(silence);
    await pass(150_000);
    expect(connections(states).at(-1)).toBe(false);
    server.tell(bookmark('6'));
    await pass(0);
    expect(connections(states).at(-1)).toBe(true);
    await end();
  });

  it('ends when it is aborted, without a timer left', async () => {
    const server = new Server();
    server.lists = [new ConnectionError('refused')];
    const { end } = setUp(server);
    await pass(0);
    await end();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a reflector that a server would keep busy (E11)', () => {
  test.each<[string, readonly Step[]]>([
    ['closes each watch after its first event', [bookmark('1'), 'end']],
    ['answers each watch that its version has expired, after a bookmark', [bookmark('1'), expired()]],
    ['breaks each connection after its first event', [bookmark('1'), new ConnectionError('reset')]],
  ])('waits longer and longer for one that %s (L51)', async (_, greeting) => {
    const server = new Server();
    server.greeting = greeting;
    const { states, end } = setUp(server);
    await pass(5_000);
    expect(server.watches.length).toBeLessThan(8);
    const before = server.watches.length;
    await pass(600_000);
    expect(server.watches.length - before).toBeLessThan(50);
    // It is reported once, not with each watch that opens.
    expect(connections(states).slice(connections(states).indexOf(false))).not.toContain(true);
    server.greeting = [];
    await pass(60_000);
    expect(connections(states).at(-1)).toBe(true);
    await end();
  });

  it('does not wait after a single early end, nor long after a watch that has lived for ten seconds', async () => {
    const { server, states, end } = setUp();
    for (let time = 0; time < 20; time += 1) {
      await pass(10_000);
      server.tell(bookmark('2'));
      server.tell(expired());
      await pass(0);
    }
    await pass(10_000);
    server.tell('end');
    await pass(0);
    expect(server.watches).toHaveLength(22);
    await pass(9_000);
    server.tell(bookmark('3'));
    server.tell('end');
    await pass(499);
    expect(server.watches).toHaveLength(22);
    await pass(501);
    expect(server.watches).toHaveLength(23);
    expect(connections(states)).not.toContain(false);
    await end();
  });

  it('does not report that a version has expired at the end of an outage as another obstacle', async () => {
    const { server, states, end } = setUp();
    await pass(20_000);
    server.lists = [expired(), ...server.lists];
    server.refusal = new ConnectionError('refused');
    server.tell(new ConnectionError('reset'));
    await pass(60_000);
    const failures = connections(states).filter((connected) => !connected).length;
    server.refusal = undefined;
    await pass(30_000);
    expect(server.requests.slice(-3)).toEqual(['list', 'list', 'watch 1']);
    expect(connections(states).filter((connected) => !connected)).toHaveLength(failures);
    expect(connections(states).at(-1)).toBe(true);
    await end();
  });
});

describe('a reflector with a limit (E10)', () => {
  const page = (items: readonly KubeObject[], next: string): List<KubeObject> => ({
    metadata: { resourceVersion: '7', continue: next },
    items,
  });

  test.each<[string, readonly List<KubeObject>[], string]>([
    [
      'has more objects',
      [page([object('a', '1'), object('b', '2')], 'x'), page([object('c', '3')], '')],
      'list services: there are more than 2 objects',
    ],
    ['repeats a page', [page([], 'x'), page([], 'x')], 'list services: the list does not end (0 objects on 2 pages)'],
    ['has a continue token of any length', [page([], 'x'.repeat(10_000))], 'the list does not end'],
  ])('does not read a list that %s (L50)', async (_, lists, message) => {
    const server = new Server();
    server.lists = [...lists, new ConnectionError('refused')];
    const { states, store, end } = setUp(server, 2);
    await pass(0);
    expect(states).toEqual([{ connected: false, error: expect.any(LimitError) as Error }]);
    expect(states).toMatchObject([{ error: { message: expect.stringContaining(message) as string } }]);
    expect(store.synced).toBe(false);
    await end();
  });

  it('does not read pages without end (L50)', async () => {
    const server = new Server();
    let pages = 0;
    server.lists = new Proxy([page([], '')], {
      get: (lists, at, all) => (at === '0' ? page([], `p-${(pages += 1)}`) : (Reflect.get(lists, at, all) as unknown)),
    });
    const { states, end } = setUp(server);
    await pass(0);
    expect(server.requests).toHaveLength(1000);
    expect(states).toMatchObject([{ connected: false, error: expect.any(LimitError) as Error }]);
    await end();
  });

  it('keeps nothing of a list that is too long', async () => {
    const server = new Server();
    server.lists = [page([object('a', '1'), object('b', '2'), object('c', '3')], ''), new ConnectionError('refused')];
    const inits: number[] = [];
    const held: string[] = [];
    const sink = {
      size: 0,
      bytes: 0,
      init: () => void inits.push(held.splice(0).length),
      listed: ({ metadata }: KubeObject) => void held.push(metadata.name),
      initDone: () => undefined,
      applied: () => undefined,
      removed: () => undefined,
    };
    const stop = new AbortController();
    const running = new Reflector({ client: () => server.client, resource: SERVICES, sink, maxObjects: 2 }).run(
      stop.signal,
    );
    await pass(0);
    expect([inits, held]).toEqual([[0, 2], []]);
    stop.abort();
    await running;
  });

  it('does not read a list whose objects take more memory than they may, on however many pages (L50)', async () => {
    const server = new Server();
    server.lists = [page([object('four', '1')], 'x'), page([object('four2', '2')], ''), new ConnectionError('refused')];
    const { states, store, end } = setUp(server, undefined, 8);
    await pass(0);
    const message = 'list services: the objects take more than';
    expect(states).toMatchObject([{ error: { message: expect.stringContaining(message) as string } }]);
    expect([states[0]?.connected, store.synced]).toEqual([false, false]);
    await end();
  });

  it('reads no more of a watch once the objects take more memory than they may, and lists anew', async () => {
    const { server, states, names, end } = setUp(new Server(), undefined, 8);
    await pass(0);
    // The same object again, and one in place of another, take no more.
    for (let version = 2; version < 20; version += 1) server.tell(added('four', String(version)));
    server.tell({ type: 'DELETED', object: object('four', '20') });
    for (const name of ['eight678', 'b', 'c']) server.tell(added(name, '21'));
    await pass(0);
    expect(names()).toEqual(['eight678', 'b']);
    expect(states.at(-1)).toMatchObject({ connected: false, error: expect.any(LimitError) as Error });
    server.lists = [page([object('c', '22')], '')];
    await pass(1_000);
    expect(names()).toEqual(['c']);
    await end();
  });

  it('keeps what it has when a watch brings more, and lists anew what there is', async () => {
    const { server, states, names, end } = setUp(new Server(), 2);
    await pass(0);
    for (const [at, name] of ['a', 'b', 'c'].entries()) server.tell(added(name, String(at + 2)));
    await pass(0);
    expect(names()).toEqual(['a', 'b']);
    expect(states.at(-1)).toMatchObject({ connected: false, error: expect.any(LimitError) as Error });
    server.lists = [page([object('c', '4')], '')];
    await pass(1_000);
    expect(names()).toEqual(['c']);
    await end();
  });
});

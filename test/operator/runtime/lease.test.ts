import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { untilAborted } from '../../../operator/kube/abort.ts';
import { sleep } from '../../../operator/kube/backoff.ts';
import { ApiError, ConnectionError } from '../../../operator/kube/errors.ts';
import { Interruptions } from '../../../operator/runtime/interruptions.ts';
import { LeaseLock, type LeaseHandlers, type LeaseLockOptions } from '../../../operator/runtime/lease.ts';
import type { Lease } from '../../../operator/kube/objects.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Client = LeaseLockOptions['client'];

/** One Lease, as an API server keeps it; `answer` decides how it behaves. */
class LeaseServer {
  lease: Lease | undefined;
  writes = 0;
  /** `stall` never answers; `lose` does the write and never answers; `fail` answers 500. */
  answer: 'well' | 'stall' | 'lose' | 'fail' = 'well';
  /** How long what was done remains unanswered. */
  delayMs = 0;
  /** How long until a write is done, be it given up or not. */
  lateMs = 0;
  #version = 0;

  put(spec: Lease['spec'], metadata: Partial<Lease['metadata']> = {}): void {
    const uid = this.lease?.metadata.uid ?? `uid-${this.#version}`;
    this.lease = {
      metadata: {
        name: 'lock',
        namespace: 'ns',
        ...this.lease?.metadata,
        uid,
        ...metadata,
        resourceVersion: `${++this.#version}`,
      },
      ...(spec !== undefined && { spec }),
    };
  }

  readonly client = { ...this.#verbs(true), fenced: () => this.#verbs(false) } as unknown as Client;

  /** @param mayBeGivenUp whether a write ends with its signal; it is done all the same */
  #verbs(mayBeGivenUp: boolean): object {
    const write = <T>(signal: AbortSignal | undefined, act: () => T): Promise<T> =>
      this.#respond(mayBeGivenUp ? signal : undefined, true, act);
    return {
      read: (_of: unknown, _namespace: unknown, _name: unknown, signal?: AbortSignal) =>
        this.#respond(signal, false, () => this.#there('get')),
      create: (_of: unknown, object: Lease, signal?: AbortSignal) =>
        write(signal, () => {
          if (this.lease !== undefined) throw new ApiError(409, { reason: 'AlreadyExists' }, 'create');
          this.put(object.spec, object.metadata);
          return this.#there('create');
        }),
      replace: (_of: unknown, object: Lease, signal?: AbortSignal) =>
        write(signal, () => {
          if (this.#there('update').metadata.resourceVersion !== object.metadata.resourceVersion) {
            throw new ApiError(409, { reason: 'Conflict' }, 'update');
          }
          this.put(object.spec, object.metadata);
          return this.#there('update');
        }),
      delete: (_of: unknown, _target: unknown, preconditions: Record<string, unknown>, signal?: AbortSignal) =>
        write(signal, () => {
          const { metadata } = this.#there('delete');
          const { uid, resourceVersion } = preconditions;
          if (metadata.uid !== uid || metadata.resourceVersion !== resourceVersion) {
            throw new ApiError(409, { reason: 'Conflict' }, 'delete');
          }
          this.lease = undefined;
        }),
    };
  }

  #there(what: string): Lease {
    if (this.lease === undefined) throw new ApiError(404, { reason: 'NotFound' }, what);
    return this.lease;
  }

  async #respond<T>(signal: AbortSignal | undefined, isWrite: boolean, act: () => T): Promise<T> {
    const { answer, lateMs } = this;
    if (answer === 'fail') throw new ApiError(500, {}, 'request');
    const done = isWrite && lateMs > 0 ? sleep(lateMs).then(() => act()) : answer === 'stall' ? undefined : act();
    if (isWrite && answer !== 'stall') this.writes += 1;
    if (answer === 'well') {
      if (this.delayMs > 0) await sleep(this.delayMs, signal);
      return (await (signal === undefined ? done : untilAborted(Promise.resolve(done), signal))) as T;
    }
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new ConnectionError('aborted')), { once: true });
    });
  }
}

/** A lock that runs, and a record of what it said. */
function run(server: LeaseServer, over: Partial<LeaseLockOptions> = {}) {
  const lock = new LeaseLock({
    client: server.client,
    namespace: 'ns',
    name: 'lock',
    identity: 'us',
    leaseDurationMs: 30_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
    ...over,
  });
  const said: string[] = [];
  const state: { holds: boolean; lostAt: number | undefined } = { holds: false, lostAt: undefined };
  const handlers: LeaseHandlers = {
    held: (lost) => {
      said.push('held');
      state.holds = true;
      lost.addEventListener('abort', () => {
        state.holds = false;
        state.lostAt = performance.now();
      });
    },
    heldByAnother: (holder) => said.push(`held by ${holder}`),
    lost: (reason) => said.push(`lost: ${reason}`),
    failing: (message) => said.push(`failing: ${message}`),
  };
  const stop = new AbortController();
  const ended = lock.run(stop.signal, handlers);
  return { lock, said, state, stop, ended };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('acquiring', () => {
  it('creates the Lease when there is none, in the form that client-go reads', async () => {
    vi.setSystemTime('2026-01-01T12:00:00.123Z');
    const server = new LeaseServer();
    const { said } = run(server);
    await pass(0);
    expect(said).toEqual(['held']);
    expect(server.lease?.spec).toEqual({
      holderIdentity: 'us',
      leaseDurationSeconds: 30,
      acquireTime: '2026-01-01T12:00:00.123000Z',
      renewTime: '2026-01-01T12:00:00.123000Z',
      leaseTransitions: 0,
    });
  });

  it('takes a Lease without a spec', async () => {
    const server = new LeaseServer();
    server.put(undefined);
    const { said } = run(server);
    await pass(0);
    expect(said).toEqual(['held']);
    expect(server.lease?.spec?.leaseTransitions).toBe(0);
  });

  it('takes a released Lease at once and counts the transition', async () => {
    const server = new LeaseServer();
    server.put({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 4 });
    run(server);
    await pass(0);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'us', leaseTransitions: 5 });
  });

  it('regains its own Lease at once after a restart, as the same holding', async () => {
    const server = new LeaseServer();
    const acquireTime = '2025-12-31T00:00:00.000000Z';
    server.put({ holderIdentity: 'us', leaseDurationSeconds: 30, acquireTime, leaseTransitions: 4 });
    const { said } = run(server);
    await pass(0);
    expect(said).toEqual(['held']);
    expect(server.lease?.spec).toMatchObject({ acquireTime, leaseTransitions: 4 });
  });

  it('leaves the Lease of another that is renewed, however wrong its clock, and names the holder once (H1)', async () => {
    const server = new LeaseServer();
    const theirs = (n: number) => ({
      holderIdentity: 'other',
      leaseDurationSeconds: 30,
      renewTime: `1999-01-01T00:00:${String(n).padStart(2, '0')}.000000Z`,
    });
    server.put(theirs(0));
    const { said } = run(server);
    for (let n = 1; n <= 20; n += 1) {
      await pass(29_000);
      server.put(theirs(n));
    }
    expect(said).toEqual(['held by other']);
  });

  it('takes the Lease of another as soon as it was seen unchanged for its duration, and no sooner (H1)', async () => {
    const server = new LeaseServer();
    server.put({ holderIdentity: 'other', leaseDurationSeconds: 30, renewTime: '2099-01-01T00:00:00.000000Z' });
    const { state } = run(server, { retryPeriodMs: 8_000 });
    await pass(29_900);
    expect(state.holds).toBe(false);
    await pass(300);
    expect(state.holds).toBe(true);
  });

  it.each([
    ['longer', 60],
    ['shorter', 10],
  ])('honours the duration that the holder announces, also when it is %s than ours (H1)', async (_, seconds) => {
    const server = new LeaseServer();
    server.put({ holderIdentity: 'other', leaseDurationSeconds: seconds });
    const { state } = run(server);
    await pass(seconds * 1000 - 100);
    expect(state.holds).toBe(false);
    await pass(300);
    expect(state.holds).toBe(true);
  });

  it('waits its full time for a Lease that was deleted and made anew, though it says the same (H1)', async () => {
    const server = new LeaseServer();
    const theirs = { holderIdentity: 'other', leaseDurationSeconds: 30, renewTime: '2026-01-01T12:00:00.000000Z' };
    server.put(theirs);
    const { state } = run(server);
    await pass(20_000);
    server.lease = undefined;
    server.put(theirs);
    await pass(29_000);
    expect(state.holds).toBe(false);
    await pass(4_000);
    expect(state.holds).toBe(true);
  });

  it('takes the Lease of one that has ceased to write at once, and that of no other (H1, L64)', async () => {
    const server = new LeaseServer();
    let ceased: readonly string[] = ['other'];
    server.put({ holderIdentity: 'former', leaseDurationSeconds: 30, renewTime: '2026-01-01T00:00:00.000000Z' });
    const { lock, said } = run(server, { hasCeased: (identity) => ceased.includes(identity) });
    await pass(5_000);
    expect(said).toEqual(['held by former']);
    ceased = ['former'];
    await pass(3_000);
    expect(said).toEqual(['held by former', 'held']);
    expect(lock.predecessor).toBe('former');
  });

  it('names as its predecessor only one whose Lease had expired', async () => {
    const server = new LeaseServer();
    server.put({ holderIdentity: '', leaseDurationSeconds: 1 });
    const { lock, said } = run(server);
    await pass(1_000);
    expect([said, lock.predecessor]).toEqual([['held'], undefined]);
  });

  it('is not taken back from another while it is held, even if that one had ceased', async () => {
    const server = new LeaseServer();
    const { said } = run(server, { hasCeased: () => true });
    await pass(1_000);
    server.put({ holderIdentity: 'thief', leaseDurationSeconds: 30 });
    await pass(3_000);
    expect(said.slice(0, 2)).toEqual(['held', 'lost: taken by thief']);
  });

  it('is not hurried by a wall clock that jumps', async () => {
    const server = new LeaseServer();
    server.put({ holderIdentity: 'other', leaseDurationSeconds: 30, renewTime: new Date().toISOString() });
    const { state } = run(server);
    await pass(5_000);
    vi.setSystemTime(Date.now() + 86_400_000);
    await pass(20_000);
    expect(state.holds).toBe(false);
  });

  it('lets one of two candidates have it', async () => {
    const server = new LeaseServer();
    const [one, two] = [run(server, { identity: 'one' }), run(server, { identity: 'two' })];
    await pass(60_000);
    expect([one.state.holds, two.state.holds].filter(Boolean)).toHaveLength(1);
  });

  it('goes on trying while requests fail, and says so once', async () => {
    const server = new LeaseServer();
    server.answer = 'fail';
    const { said } = run(server);
    await pass(60_000);
    expect(said).toEqual(['failing: request: HTTP 500 (500)']);
    server.answer = 'well';
    await pass(2_500);
    expect(said.at(-1)).toBe('held');
  });
});

describe('keeping', () => {
  it('renews every retry period, or as often as asked', async () => {
    const [often, seldom] = [new LeaseServer(), new LeaseServer()];
    run(often);
    run(seldom, { renewEveryMs: 10_000 });
    await pass(60_000);
    expect(often.writes).toBe(31);
    expect(seldom.writes).toBe(7);
    expect(seldom.lease?.spec?.leaseTransitions).toBe(0);
  });

  it('is renewed at once, and once, when its notes have changed, also while it is being written (E7)', async () => {
    const server = new LeaseServer();
    let note = 'a';
    const { lock } = run(server, { notes: () => ({ note }) });
    const change = (to: string): void => {
      note = to;
      void lock.renew();
    };
    await pass(500);
    const before = server.writes;
    change('b');
    await pass(0);
    expect([server.lease?.metadata.annotations, server.writes]).toEqual([{ note: 'b' }, before + 1]);
    server.delayMs = 300;
    change('c');
    await pass(100);
    change('d');
    await pass(700);
    expect([server.lease?.metadata.annotations, server.writes]).toEqual([{ note: 'd' }, before + 3]);
  });

  it('keeps what others put on the Lease, and its own annotations, also when released', async () => {
    const server = new LeaseServer();
    server.put({}, { labels: { app: 'x' }, annotations: { theirs: '1', ours: 'old' } });
    const { stop, ended } = run(server, { annotations: { ours: '2' } });
    await pass(10_000);
    server.put(server.lease?.spec, { annotations: { theirs: '3' } });
    await pass(10_000);
    const expected = { labels: { app: 'x' }, annotations: { theirs: '3', ours: '2' } };
    expect(server.lease?.metadata).toMatchObject(expected);
    stop.abort();
    await ended;
    expect(server.lease?.metadata).toMatchObject(expected);
    expect(server.lease?.spec?.holderIdentity).toBe('');
  });

  it('is lost before it can have expired when the server stalls, and regained when it is back (H1, L21)', async () => {
    const server = new LeaseServer();
    const { said, state } = run(server);
    await pass(20_100);
    server.answer = 'stall';
    await pass(15_000);
    expect(state.holds).toBe(false);
    expect(state.lostAt! - 20_000).toBeLessThan(30_000);
    expect(said).toEqual(['held', 'failing: no answer in time', 'lost: not renewed for 12 s: no answer in time']);
    server.answer = 'well';
    await pass(10_000);
    expect(state.holds).toBe(true);
    expect(server.lease?.spec?.leaseTransitions).toBe(0);
  });

  it.each([
    [
      'renewed seldom, with a tenth of its duration to spare',
      { renewEveryMs: 20_000, renewDeadlineMs: 15_000 },
      27_000,
    ],
    ['in the middle of an attempt to renew it', {}, 12_000],
  ])('is lost on time, %s (H1)', async (_, over, lostAfterMs) => {
    const server = new LeaseServer();
    const { state } = run(server, over);
    const renewedMs = performance.now();
    await pass(0);
    server.answer = 'stall';
    await pass(60_000);
    // Timers are set to whole milliseconds.
    expect(state.lostAt! - renewedMs).toBeLessThan(lostAfterMs + 2);
  });

  it('may be written under while it is certainly held, and not a moment longer (H2)', async () => {
    const server = new LeaseServer();
    const { lock, stop, ended } = run(server);
    expect(lock.mayWrite).toBe(false);
    await pass(20_100);
    expect(lock.mayWrite).toBe(true);
    server.answer = 'stall';
    await pass(11_000);
    expect(lock.mayWrite).toBe(true);
    await pass(1_100);
    expect(lock.mayWrite).toBe(false);
    server.answer = 'well';
    await pass(10_000);
    expect(lock.mayWrite).toBe(true);
    stop.abort();
    await pass(0);
    expect(lock.mayWrite).toBe(false);
    await ended;
  });

  it.each([
    ['the process', 'performance'],
    ['the machine, whose monotonic clock stands still', 'Date'],
  ] as const)('L54 may not be written under after a pause of %s, before any timer fires (H2)', async (_, clock) => {
    const server = new LeaseServer();
    const { lock, state } = run(server);
    await pass(20_100);
    const now = clock === 'Date' ? Date.now() : performance.now();
    const spied = clock === 'Date' ? vi.spyOn(Date, 'now') : vi.spyOn(performance, 'now');
    spied.mockImplementation(() => now + 60_000);
    expect([lock.mayWrite, state.holds]).toEqual([false, true]);
    spied.mockRestore();
    // A clock that jumped is believed again from the next renewal on.
    await pass(5_000);
    expect(lock.mayWrite).toBe(true);
  });

  it('is renewed at once after an interruption, and not written under until then (H1, H3, L62)', async () => {
    const server = new LeaseServer();
    const interruptions = new Interruptions();
    const { lock, said } = run(server, { interruptions, renewEveryMs: 10_000 });
    await pass(1_000);
    // A restored server has no Lease.
    server.lease = undefined;
    server.delayMs = 100;
    interruptions.noticed();
    expect(lock.mayWrite).toBe(false);
    await pass(50);
    expect(lock.mayWrite).toBe(false);
    // One that is noticed while it is renewed puts that in doubt, too.
    interruptions.noticed();
    await pass(100);
    expect(lock.mayWrite).toBe(false);
    await pass(300);
    expect([lock.mayWrite, server.lease]).toMatchObject([true, { spec: { holderIdentity: 'us' } }]);
    expect(said).toEqual(['held']);
  });

  it('is lost after an interruption if another has it, whatever version that is of (H1, L62)', async () => {
    const server = new LeaseServer();
    const interruptions = new Interruptions();
    const { said } = run(server, { interruptions });
    await pass(1_000);
    const { resourceVersion = '' } = server.lease!.metadata;
    server.lease = undefined;
    server.put({ holderIdentity: 'standby', leaseDurationSeconds: 30 });
    server.lease = { ...server.lease!, metadata: { ...server.lease!.metadata, resourceVersion } };
    interruptions.noticed();
    await pass(100);
    expect(said).toContain('lost: taken by standby');
  });

  it('is not renewed without a pause while the server is away', async () => {
    const server = new LeaseServer();
    const interruptions = new Interruptions();
    const { said } = run(server, { interruptions, renewEveryMs: 10_000 });
    await pass(1_000);
    server.answer = 'fail';
    const reads = vi.spyOn(server.client, 'read');
    for (let second = 0; second < 8; second += 1) {
      interruptions.noticed();
      await pass(1_000);
    }
    expect(reads.mock.calls.length).toBeLessThan(8);
    expect(said).toEqual(['held', 'failing: request: HTTP 500 (500)']);
  });

  it('counts its time from when a renewal was sent, not from when it was answered (H1)', async () => {
    const server = new LeaseServer();
    server.delayMs = 2_000;
    const { state } = run(server);
    // Created from 0 to 2 s, renewed from 4 to 6 s, and never again.
    await pass(5_000);
    expect(state.holds).toBe(true);
    server.answer = 'stall';
    await pass(60_000);
    expect(state.lostAt).toBeLessThan(4_000 + 12_000 + 2);
  });

  it('outlives a stall that is shorter than the renew deadline', async () => {
    const server = new LeaseServer();
    const { said, state } = run(server);
    await pass(20_100);
    server.answer = 'stall';
    await pass(6_000);
    server.answer = 'well';
    await pass(20_000);
    expect(state.holds).toBe(true);
    expect(said.filter((line) => !line.startsWith('failing'))).toEqual(['held']);
  });

  it('goes on with a renewal that was done but not answered', async () => {
    const server = new LeaseServer();
    const { state, said } = run(server);
    await pass(3_000);
    server.answer = 'lose';
    await pass(4_000);
    server.answer = 'well';
    await pass(60_000);
    expect(state.holds).toBe(true);
    expect(said.some((line) => line.startsWith('lost'))).toBe(false);
  });

  it('is lost at once when taken by another, who is then waited for', async () => {
    const server = new LeaseServer();
    const { said, state } = run(server);
    await pass(5_000);
    server.put({ holderIdentity: 'thief', leaseDurationSeconds: 30 });
    await pass(3_000);
    expect(state.holds).toBe(false);
    expect(said.filter((line) => !line.startsWith('failing'))).toEqual([
      'held',
      'lost: taken by thief',
      'held by thief',
    ]);
    await pass(31_000);
    expect(state.holds).toBe(true);
  });

  it('is lost when a backup of the cluster brings back its former holder', async () => {
    const server = new LeaseServer();
    const former = { holderIdentity: 'former', leaseDurationSeconds: 30, renewTime: '2026-01-01T12:00:00.000000Z' };
    server.put(former);
    const { said, state } = run(server);
    await pass(60_000);
    expect(state.holds).toBe(true);
    server.put(former);
    await pass(3_000);
    expect(said).toContain('lost: taken by former');
  });

  it('is created anew when it was deleted, without being lost', async () => {
    const server = new LeaseServer();
    const { said, state } = run(server);
    await pass(5_000);
    server.lease = undefined;
    await pass(5_000);
    expect(server.lease).toMatchObject({ spec: { holderIdentity: 'us' } });
    expect(state.holds).toBe(true);
    expect(said.some((line) => line.startsWith('lost'))).toBe(false);
  });

  it('is taken over by another, that never holds it at the same time, after the holder froze', async () => {
    const server = new LeaseServer();
    const one = run(server, { identity: 'one' });
    await pass(1_000);
    const two = run(otherConnection(server), { identity: 'two' });
    // From here on, the first one's requests go nowhere.
    server.answer = 'stall';
    for (let second = 0; second < 60; second += 1) {
      await pass(1_000);
      expect(one.state.holds && two.state.holds).toBe(false);
    }
    expect(two.state.holds).toBe(true);
  });
});

/** The same Lease over another connection. */
function otherConnection(server: LeaseServer): LeaseServer {
  const lease = { get: () => server.lease, set: (next: Lease) => (server.lease = next) };
  return Object.defineProperty(new LeaseServer(), 'lease', lease);
}

describe('leaving', () => {
  it('releases as client-go does, after the lost signal and without calling it lost (H2)', async () => {
    const server = new LeaseServer();
    const { stop, ended, said, state } = run(server);
    await pass(5_000);
    const before = server.lease;
    stop.abort();
    await ended;
    expect(state.holds).toBe(false);
    expect(said).toEqual(['held']);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(server.lease?.metadata.uid).toBe(before?.metadata.uid);
  });

  it('leaves the Lease of another alone', async () => {
    const server = new LeaseServer();
    server.put({ holderIdentity: 'other', leaseDurationSeconds: 30 });
    const { stop, ended } = run(server);
    await pass(5_000);
    stop.abort();
    await ended;
    expect(server.writes).toBe(0);
  });

  it('releases what an interrupted try had acquired', async () => {
    const server = new LeaseServer();
    server.answer = 'lose';
    const { stop, ended } = run(server);
    await pass(100);
    server.put({ holderIdentity: 'us', leaseDurationSeconds: 30 });
    server.answer = 'well';
    stop.abort();
    await ended;
    expect(server.lease?.spec?.holderIdentity).toBe('');
  });

  it('releases what is acquired after it was stopped, by a write that was under way (H2, L72)', async () => {
    const server = new LeaseServer();
    server.lateMs = 1_500;
    const { said, stop, ended } = run(server);
    await pass(1_000);
    stop.abort();
    await pass(100);
    server.lateMs = 0;
    await pass(1_900);
    await ended;
    expect([server.lease?.spec?.holderIdentity, said]).toEqual(['', []]);
  });

  it('ends within 2 s though the server does not answer (H2)', async () => {
    const server = new LeaseServer();
    const { stop, ended } = run(server);
    await pass(5_000);
    server.answer = 'stall';
    stop.abort();
    const done = vi.fn();
    void ended.then(done);
    await pass(2_000);
    expect(done).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('removes the Lease it holds, and only that one', async () => {
    const [ours, theirs] = [new LeaseServer(), new LeaseServer()];
    theirs.put({ holderIdentity: 'other', leaseDurationSeconds: 30 });
    const [holder, candidate] = [run(ours), run(theirs)];
    await pass(5_000);
    for (const { lock, ended } of [holder, candidate]) {
      await lock.remove(new AbortController().signal);
      await ended;
    }
    expect(holder.state.holds).toBe(false);
    expect(ours.lease).toBeUndefined();
    expect(theirs.lease?.spec?.holderIdentity).toBe('other');
  });

  it('says why a Lease could not be removed, and leaves it to the next holder (H1)', async () => {
    const server = new LeaseServer();
    const { lock, state, ended } = run(server);
    await pass(5_000);
    server.answer = 'fail';
    const removed = expect(lock.remove(new AbortController().signal)).rejects.toThrow('HTTP 500');
    await pass(2_000);
    await removed;
    await ended;
    expect([state.holds, lock.mayWrite, vi.getTimerCount()]).toEqual([false, false, 0]);
    server.answer = 'well';
    const [{ writes }, next] = [server, run(server, { identity: 'next' })];
    await pass(29_000);
    expect([server.writes, next.state.holds]).toEqual([writes, false]);
    await pass(3_000);
    expect(next.state.holds).toBe(true);
  });
});

it('refuses durations that do not fit into each other', () => {
  const lock = (over: Partial<LeaseLockOptions>) => () => run(new LeaseServer(), over);
  expect(lock({ renewDeadlineMs: 30_000 })).toThrow(RangeError);
  expect(lock({ retryPeriodMs: 10_000 })).toThrow(RangeError);
  expect(lock({ renewEveryMs: 28_000 })).toThrow(RangeError);
});

describe('a failure that lasts', () => {
  it('is reported at once, and then every minute (H5)', async () => {
    const server = new LeaseServer();
    server.answer = 'fail';
    const { said, lock } = run(server);
    await pass(1_000);
    expect(said).toHaveLength(1);
    await pass(58_000);
    expect(said).toHaveLength(1);
    await pass(5_000);
    expect(said).toHaveLength(2);
    expect(lock.heardMs).toBeUndefined();
    server.answer = 'well';
    await pass(5_000);
    expect(performance.now() - lock.heardMs!).toBeLessThan(5_000);
  });
});

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Handler, type Result, Workqueue } from '../../../operator/runtime/workqueue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A queue at work, and what it handled. */
function running(
  handler: (key: string) => Promise<Result | undefined> | Result | undefined = () => undefined,
  concurrency = 2,
) {
  const handled: string[] = [];
  const ended = new AbortController();
  const queue = new Workqueue({ backoff: { baseMs: 100, capMs: 1000 } });
  const run: Handler = async (key) => {
    handled.push(key);
    return (await handler(key)) ?? {};
  };
  const done = queue.run(concurrency, run, ended.signal);
  return { queue, handled, ended, done };
}

/** A promise, and how it is fulfilled. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a workqueue', () => {
  it('handles a key once, however often it was added before', async () => {
    const { queue, handled } = running();
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    await pass(0);
    expect(handled).toEqual(['a', 'b']);
    expect(queue.depth).toBe(0);
  });

  it('handles a key again when it is added while it is handled, and never twice at once', async () => {
    const first = gate();
    const { queue, handled } = running(() => first.opened as Promise<undefined>);
    queue.add('a');
    await pass(0);
    queue.add('a');
    queue.add('a');
    await pass(10_000);
    expect(handled).toEqual(['a']);
    first.open();
    await pass(0);
    expect(handled).toEqual(['a', 'a']);
  });

  it('does not forget that a key has failed while nothing can be done for it', async () => {
    // By the least of the fourth wait and the most of the first, the one is just four times the other.
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    let failures = 0;
    const { queue, handled } = running(() => {
      // Each failure is followed by a time in which nothing can be done.
      failures += 1;
      return failures % 2 === 1 ? { retryAfterMs: 0 } : { isPending: true };
    });
    const after: number[] = [];
    for (let times = 0; times < 4; times += 1) {
      queue.add('a');
      await pass(0);
      const beganMs = Date.now();
      const before = handled.length;
      while (handled.length === before) await pass(50);
      after.push(Date.now() - beganMs);
      expect(handled).toHaveLength((times + 1) * 2);
    }
    expect(after.at(-1)! > after[0]! * 4).toBe(true);
  });

  it('handles other keys while one takes long', async () => {
    const first = gate();
    const { queue, handled } = running((key) => (key === 'slow' ? (first.opened as Promise<undefined>) : undefined));
    for (const key of ['slow', 'b', 'c']) queue.add(key);
    await pass(0);
    expect(handled).toEqual(['slow', 'b', 'c']);
  });

  it('retries a failure after its backoff, doubled up to the cap, and forgets it after a success (H4)', async () => {
    let failing = true;
    const { queue, handled } = running(() => (failing ? { retryAfterMs: 0 } : undefined));
    queue.add('a');
    const times: number[] = [];
    for (let ms = 0; ms < 5000; ms += 10) {
      const before = handled.length;
      await pass(10);
      if (handled.length > before) times.push(ms);
    }
    const pauses = times.slice(1).map((at, index) => at - times[index]!);
    for (const [index, full] of [100, 200, 400, 800, 1000].entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(full / 2 - 20);
      expect(pauses[index]).toBeLessThanOrEqual(full + 20);
    }
    failing = false;
    await pass(1000);
    const succeeded = handled.length;
    failing = true;
    queue.add('a');
    await pass(100);
    expect(handled).toHaveLength(succeeded + 2);
  });

  it('handles a key again at once when a pass made only a step, and counts that as one handling', async () => {
    let steps = 0;
    const { queue, handled } = running(() => ({ again: ++steps < 4 }), 1);
    queue.add('a');
    queue.add('b');
    await pass(0);
    expect(handled).toEqual(['a', 'a', 'a', 'a', 'b']);
  });

  it('does not handle a key once more for a change that the next pass has seen', async () => {
    const { queue, handled } = running((): Result => {
      if (handled.length > 1) return {};
      queue.add('a');
      return { again: true };
    }, 1);
    queue.add('a');
    await pass(0);
    expect(handled).toEqual(['a', 'a']);
  });

  it('lets other keys have their turn after a key that asks for another pass again and again', async () => {
    const { queue, handled } = running((key) => ({ again: key === 'a' && handled.length < 50 }), 1);
    queue.add('a');
    queue.add('b');
    await pass(0);
    expect(handled.indexOf('b')).toBe(9);
    expect(handled.filter((key) => key === 'a').length).toBeGreaterThan(40);
  });

  it('waits as long as a server asked for, if that is longer', async () => {
    const { queue, handled } = running(() => ({ retryAfterMs: 30_000 }));
    queue.add('a');
    await pass(29_000);
    expect(handled).toEqual(['a']);
    await pass(2000);
    expect(handled).toEqual(['a', 'a']);
  });

  it('comes back to a key at the earliest of the times that its failures asked for', async () => {
    const requeues = [5_000, 1_000, 3_000];
    const { queue, handled } = running(() => {
      const requeueAfterMs = requeues.shift();
      return requeueAfterMs === undefined ? undefined : { requeueAfterMs, retryAfterMs: 60_000 };
    });
    for (let times = 0; times < 3; times += 1) {
      queue.add('a');
      await pass(0);
    }
    await pass(999);
    expect(handled).toHaveLength(3);
    await pass(1);
    expect(handled).toHaveLength(4);
    await pass(100_000);
    expect(handled).toHaveLength(4);
  });

  it('comes back no more for what failed before a handling that succeeded (L94)', async () => {
    let failing = true;
    const { queue, handled } = running(() => (failing ? { retryAfterMs: 1_000 } : { requeueAfterMs: 60_000 }));
    queue.add('a');
    await pass(0);
    failing = false;
    queue.add('a');
    await pass(59_999);
    expect(handled).toHaveLength(2);
    await pass(1);
    expect(handled).toHaveLength(3);
  });

  it('comes back to what failed while nothing could be done since', async () => {
    const results: Result[] = [{ retryAfterMs: 1_000 }, { isPending: true }];
    const { queue, handled } = running(() => results.shift());
    queue.add('a');
    await pass(0);
    queue.add('a');
    await pass(999);
    expect(handled).toHaveLength(2);
    await pass(1);
    expect(handled).toHaveLength(3);
  });

  it('comes back to a key after each handling that asks for it, without backoff', async () => {
    const { queue, handled } = running(() => ({ requeueAfterMs: 1000 }));
    queue.add('a');
    await pass(999);
    expect(handled).toHaveLength(1);
    await pass(2002);
    expect(handled).toHaveLength(4);
  });

  it('does not wait for the backoff when the key changes meanwhile', async () => {
    const { queue, handled } = running(() => ({ retryAfterMs: 300_000 }));
    queue.add('a');
    await pass(0);
    queue.add('a');
    await pass(0);
    expect(handled).toEqual(['a', 'a']);
  });

  it('ends when handlers have returned, and leaves no timer', async () => {
    const first = gate();
    const { queue, ended, done } = running((key) =>
      key === 'b' ? { requeueAfterMs: 1_000 } : (first.opened as Promise<undefined>),
    );
    const over = vi.fn();
    void done.then(over);
    queue.add('a');
    queue.add('b');
    await pass(0);
    ended.abort();
    await pass(0);
    expect(over).not.toHaveBeenCalled();
    first.open();
    await pass(0);
    expect(over).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps nothing that was queued when it ended: a Lease was lost, and with it the reason (H1)', async () => {
    const first = gate();
    const { queue, handled, ended, done } = running(() => first.opened as Promise<undefined>, 1);
    queue.add('a');
    await pass(0);
    queue.add('b');
    ended.abort();
    first.open();
    await done;
    expect(queue.depth).toBe(0);
    const stop = new AbortController();
    const again = queue.run(1, async (key) => (handled.push(key), {}), stop.signal);
    await pass(1000);
    expect(handled).toEqual(['a']);
    stop.abort();
    await again;
  });

  it('does not count a handling that its end interrupted as a failure', async () => {
    const first = gate();
    const failing = async () => {
      await first.opened;
      return { retryAfterMs: 0 };
    };
    const { queue, handled, ended, done } = running(failing);
    queue.add('a');
    await pass(0);
    ended.abort();
    first.open();
    await done;
    const stop = new AbortController();
    const again = queue.run(1, async (key) => (handled.push(key), failing()), stop.signal);
    queue.add('a');
    // The wait after a first failure, not after a second.
    await pass(100);
    expect(handled).toEqual(['a', 'a', 'a']);
    stop.abort();
    await again;
  });

  it('can be run again after it has ended, as a Lease that comes back asks for', async () => {
    const { queue, ended, done, handled } = running();
    ended.abort();
    await done;
    const stop = new AbortController();
    const again = queue.run(1, async (key) => (handled.push(key), {}), stop.signal);
    queue.add('a');
    await pass(0);
    expect(handled).toEqual(['a']);
    stop.abort();
    await again;
  });

  it('tells when it is idle', async () => {
    const first = gate();
    const { queue } = running(() => first.opened as Promise<undefined>);
    const idle = vi.fn();
    queue.add('a');
    void queue.idle().then(idle);
    await pass(0);
    expect(idle).not.toHaveBeenCalled();
    first.open();
    await pass(0);
    expect(idle).toHaveBeenCalledOnce();
  });
});

describe('whatever is added, and however long handling takes', () => {
  const step = fc.oneof(
    fc.record({ op: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(20) }),
    fc.record({ op: fc.constant('pass' as const), key: fc.constant(''), ms: fc.nat(20) }),
  );

  it('no key is handled twice at once, and each addition is followed by a handling that starts after it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(15),
        async (steps, concurrency, takesMs) => {
          const active = new Set<string>();
          /** What was added when, in steps of a counter that also counts starts of handling. */
          let clock = 0;
          const added = new Map<string, number>();
          const started = new Map<string, number>();
          let twice = false;
          const queue = new Workqueue();
          const ended = new AbortController();
          const done = queue.run(
            concurrency,
            async (key) => {
              twice ||= active.has(key);
              active.add(key);
              started.set(key, ++clock);
              await new Promise((resolve) => setTimeout(resolve, takesMs));
              active.delete(key);
              return {};
            },
            ended.signal,
          );
          for (const { op, key, ms } of steps) {
            if (op === 'pass') await pass(ms);
            else {
              added.set(key, ++clock);
              queue.add(key);
            }
          }
          await pass(10_000);
          const missed = [...added].filter(([key, at]) => (started.get(key) ?? 0) < at);
          const depth = queue.depth;
          ended.abort();
          await done;
          return !twice && missed.length === 0 && depth === 0;
        },
      ),
      { numRuns: 200 },
    );
  });
});

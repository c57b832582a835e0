import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { ApiError, ConnectionError } from '../../../operator/kube/errors.ts';
import { FencedError } from '../../../operator/runtime/fence.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import { Controller, retryAfterMs } from '../../../operator/runtime/controller.ts';
import type { Outcome } from '../../../operator/runtime/outcome.ts';
import { recordingLog } from '../link/recorded.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

const CAP_MS = 10_000;
const CONFLICT = new ApiError(409, { reason: 'Conflict' }, 'apply');
const FORBIDDEN = new ApiError(403, { reason: 'Forbidden' }, 'apply');
const INVALID = new ApiError(422, { reason: 'Invalid' }, 'apply');
const BUSY = new ApiError(429, { reason: 'TooManyRequests' }, 'apply', 7000);
const BROKEN = new ConnectionError('reset');

/** A controller at work, and what it reconciled. */
function running(reconcile: (key: string, signal: AbortSignal) => Promise<Outcome | undefined>, concurrency = 1) {
  const metrics = createMetrics({ process: false });
  const lines: string[] = [];
  const reconciled: string[] = [];
  const ended = new AbortController();
  const controller = new Controller({
    name: 'mirrors',
    reconcile: (key, signal) => {
      reconciled.push(key);
      return reconcile(key, signal);
    },
    concurrency,
    metrics,
    log: recordingLog(lines),
    backoff: { baseMs: 100, capMs: CAP_MS },
  });
  const done = controller.run(ended.signal);
  return {
    controller,
    reconciled,
    lines,
    ended,
    done,
    series: async (): Promise<readonly string[]> =>
      (await metrics.registry.metrics()).split('\n').filter((line) => line.includes('"mirrors"')),
  };
}

describe('the error policy (H4)', () => {
  test.each<[string, readonly unknown[], number]>([
    ['waits for the backoff alone after a conflict', [CONFLICT], 0],
    ['waits for the backoff alone without an answer', [BROKEN], 0],
    ['waits for the backoff alone after a 500', [new ApiError(500, {}, 'apply')], 0],
    ['waits as long as the server asks for', [BUSY], 7000],
    ['waits as long as the server asks for, also with a 403', [new ApiError(403, {}, 'apply', 3000)], 3000],
    ['waits for the cap after a 403, which only a change can mend', [FORBIDDEN], CAP_MS],
    ['waits for the cap after a 422', [INVALID], CAP_MS],
    ['waits for the cap after a 400', [new ApiError(400, {}, 'apply')], CAP_MS],
    ['waits for the first that may be tried again of several', [FORBIDDEN, BUSY, INVALID], 7000],
    ['waits for the backoff alone if one of several needs no more', [FORBIDDEN, CONFLICT], 0],
  ])('%s', (_, errors, expected) => {
    expect(retryAfterMs(errors, CAP_MS, () => 1)).toBe(expected);
  });

  it('spreads those who wait for the cap, and lets none wait longer', () => {
    expect(retryAfterMs([FORBIDDEN], CAP_MS, () => 0)).toBe(CAP_MS / 1.2);
    expect(retryAfterMs([FORBIDDEN], CAP_MS, () => 0.5)).toBe((CAP_MS * 1.1) / 1.2);
  });
});

describe('a controller', () => {
  it('does not try a key sooner that has failed, since nothing can be done for it yet', async () => {
    let times = 0;
    const { controller, reconciled } = running(() => {
      times += 1;
      return Promise.resolve(times % 2 === 1 ? { errors: [BROKEN] } : { isPending: true });
    });
    for (let failures = 0; failures < 5; failures += 1) {
      controller.add('a');
      await pass(CAP_MS * 2);
    }
    // Its first pause would be over by now.
    controller.add('a');
    await pass(1000);
    expect(reconciled).toHaveLength(11);
  });

  it('tries a key again after an error that its reconcile returns, and does not log it', async () => {
    let errors: readonly unknown[] = [BROKEN];
    const { controller, reconciled, lines } = running(async () => ({ errors }));
    controller.add('a');
    await pass(0);
    errors = [];
    await pass(100);
    expect(reconciled).toEqual(['a', 'a']);
    await pass(CAP_MS * 2);
    expect([reconciled, lines]).toEqual([['a', 'a'], []]);
  });

  it('tries a key again at the cap after what only a change can mend, and at once when it changes', async () => {
    const { controller, reconciled } = running(async () => ({ errors: [FORBIDDEN] }));
    controller.add('a');
    await pass(CAP_MS / 1.2 - 1);
    expect(reconciled).toHaveLength(1);
    await pass(CAP_MS - CAP_MS / 1.2 + 1);
    expect(reconciled).toHaveLength(2);
    controller.add('a');
    await pass(0);
    expect(reconciled).toHaveLength(3);
  });

  it('catches what a reconcile throws, logs it, and tries the key again', async () => {
    let failing = true;
    const { controller, reconciled, lines } = running(async (key) => {
      if (failing && key === 'bad') throw new Error('a defect');
      return undefined;
    });
    controller.add('bad');
    controller.add('good');
    await pass(0);
    expect([reconciled, lines]).toEqual([['bad', 'good'], ['warn reconcile failed']]);
    failing = false;
    await pass(100);
    expect(reconciled).toEqual(['bad', 'good', 'bad']);
  });

  it('catches what a reconcile throws before it returns a promise', async () => {
    const { controller, reconciled, lines } = running(() => {
      throw new Error('a defect');
    });
    controller.add('a');
    await pass(100);
    expect([reconciled, lines]).toEqual([['a', 'a'], Array(2).fill('warn reconcile failed')]);
  });

  it('tries a key again every second while its writes are held back, and reports nothing (H4, L144)', async () => {
    const { controller, reconciled, lines } = running(async () => Promise.reject(new FencedError('held back')));
    controller.add('a');
    await pass(10_000);
    expect(reconciled.length).toBeGreaterThan(7);
    expect(lines).toEqual([]);
  });

  it('does not log a conflict, which says that the view was old', async () => {
    const { controller, reconciled, lines } = running(async () => Promise.reject(CONFLICT));
    controller.add('a');
    await pass(100);
    expect([reconciled, lines]).toEqual([['a', 'a'], []]);
  });

  it('does not log what its end interrupts', async () => {
    const { controller, lines, ended, done } = running((_, signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      return promise;
    });
    controller.add('a');
    await pass(0);
    ended.abort();
    await done;
    expect(lines).toEqual([]);
  });

  it('makes one pass after the other as long as each leaves something to the next', async () => {
    let left = 3;
    const { controller, reconciled } = running(async () => ({ again: --left > 0 }));
    controller.add('a');
    await pass(0);
    expect(reconciled).toHaveLength(3);
  });

  it('goes on at once after a pass that made a step and met an error, and waits after one that made none', async () => {
    let steps = 1;
    const { controller, reconciled } = running(async () => ({ again: steps-- > 0, errors: [FORBIDDEN] }));
    controller.add('a');
    await pass(0);
    expect(reconciled).toHaveLength(2);
    await pass(CAP_MS / 1.2 - 1);
    expect(reconciled).toHaveLength(2);
  });

  it('comes back to a key after so long when that is asked for, however often that succeeds', async () => {
    const { controller, reconciled } = running(async () => ({ requeueAfterMs: 5000 }));
    controller.add('a');
    await pass(4999);
    expect(reconciled).toHaveLength(1);
    await pass(5001);
    expect(reconciled).toHaveLength(3);
  });

  it('comes back at the earlier time of a retry and of what is asked for', async () => {
    const { controller, reconciled } = running(async () => ({ requeueAfterMs: 300, errors: [FORBIDDEN] }));
    controller.add('a');
    await pass(300);
    expect(reconciled).toHaveLength(2);
  });

  it('reconciles so many keys at once, and no more', async () => {
    const { controller, reconciled } = running(() => new Promise(() => undefined), 2);
    for (const key of ['a', 'b', 'c']) controller.add(key);
    await pass(1000);
    expect(reconciled).toEqual(['a', 'b']);
  });

  it('is idle when no key waits for a worker or is being reconciled', async () => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const { controller } = running(() => promise);
    controller.add('a');
    const idle = vi.fn();
    void controller.idle().then(idle);
    await pass(1000);
    expect(idle).not.toHaveBeenCalled();
    resolve({ requeueAfterMs: 60_000 });
    await pass(0);
    expect(idle).toHaveBeenCalledOnce();
  });

  it("measures itself under controller-runtime's names, and forgets it all when asked to", async () => {
    const { controller, ended, done, series } = running(async (key) => {
      if (key === 'bad') throw BROKEN;
      return undefined;
    });
    controller.add('good');
    controller.add('bad');
    await pass(0);
    expect(await series()).toEqual(
      expect.arrayContaining([
        'controller_runtime_reconcile_total{controller="mirrors",result="success"} 1',
        'controller_runtime_reconcile_total{controller="mirrors",result="error"} 1',
        'controller_runtime_reconcile_errors_total{controller="mirrors"} 1',
        'controller_runtime_reconcile_time_seconds_count{controller="mirrors"} 2',
        'controller_runtime_active_workers{controller="mirrors"} 0',
        'workqueue_depth{name="mirrors"} 0',
        'workqueue_adds_total{name="mirrors"} 2',
        'workqueue_retries_total{name="mirrors"} 1',
        'workqueue_queue_duration_seconds_count{name="mirrors"} 2',
        'workqueue_work_duration_seconds_count{name="mirrors"} 2',
      ]),
    );
    ended.abort();
    await done;
    await controller.forget();
    expect(await series()).toEqual([]);
  });

  it('counts the reconciles that are under way', async () => {
    const { controller, series } = running(() => new Promise(() => undefined));
    controller.add('a');
    await pass(0);
    expect(await series()).toContain('controller_runtime_active_workers{controller="mirrors"} 1');
  });
});

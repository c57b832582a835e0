import { describe, expect, it } from 'vitest';
import { FairSemaphore } from '../../../operator/kube/semaphore.ts';

/** Tasks that end when they are told to, and the order in which they began. */
function setUp(places: number) {
  const semaphore = new FairSemaphore(places);
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (group: string, name: string, signal?: AbortSignal): Promise<void> =>
    semaphore.run(group, signal, async () => {
      began.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { semaphore, began, run, end };
}

describe('a fair semaphore (H7)', () => {
  it('lets as many tasks run at once as it has places, and the next when one has ended', async () => {
    const { began, run, end } = setUp(2);
    const running = ['a', 'b', 'c'].map((name) => run('x', name));
    expect(began).toEqual(['a', 'b']);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
    for (const name of ['a', 'c']) await end(name);
    await Promise.all(running);
  });

  it('serves groups in turn, however much one of them wants, and each in the order of its tasks', async () => {
    const { began, run, end } = setUp(1);
    const running = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
    running.push(run('b', 'b1'), run('b', 'b2'), run('c', 'c1'));
    const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'];
    for (const name of order) await end(name);
    expect(began).toEqual(order);
    await Promise.all(running);
  });

  it('goes on after a task that fails', async () => {
    const { semaphore, began, run, end } = setUp(1);
    const failing = semaphore.run('x', undefined, () => Promise.reject(new Error('failed')));
    const next = run('x', 'next');
    await expect(failing).rejects.toThrow('failed');
    await end('next');
    await next;
    expect(began).toEqual(['next']);
  });

  it('does not keep a place for a task that was given up while it waited', async () => {
    const { began, run, end } = setUp(1);
    const stop = new AbortController();
    const first = run('x', 'first');
    const given = run('y', 'given up', stop.signal);
    const last = run('y', 'last');
    stop.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await expect(run('y', 'late', stop.signal)).rejects.toThrow('enough');
    await end('first');
    expect(began).toEqual(['first', 'last']);
    await end('last');
    await Promise.all([first, last]);
    const again = run('z', 'again');
    expect(began.at(-1)).toBe('again');
    await end('again');
    await again;
  });
});

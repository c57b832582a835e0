import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Gathering } from '../../../operator/runtime/gathering.ts';

describe('keys that are gathered', () => {
  let keys: readonly string[];
  let taken: string[];
  let gathering: Gathering;

  beforeEach(() => {
    vi.useFakeTimers();
    keys = ['a', 'b'];
    taken = [];
    gathering = new Gathering({ all: () => keys, add: (key) => taken.push(key), quietMs: 100 });
  });
  afterEach(() => {
    gathering.stop();
    vi.useRealTimers();
  });

  it('are handed on once, when nobody has asked for all of them for a moment', () => {
    for (let times = 0; times < 4; times += 1) {
      gathering.addAll();
      vi.advanceTimersByTime(99);
    }
    expect(taken).toEqual([]);
    keys = ['a', 'b', 'c'];
    vi.advanceTimersByTime(1);
    expect(taken).toEqual(['a', 'b', 'c']);
    vi.advanceTimersByTime(10_000);
    expect(taken).toHaveLength(3);
  });

  it('wait no longer than five times as long, however often all are asked for (E1)', () => {
    for (let ms = 0; ms < 1_000; ms += 10) {
      gathering.addAll();
      vi.advanceTimersByTime(10);
    }
    expect(taken).toEqual(['a', 'b', 'a', 'b']);
  });

  it('are handed on at once after the loop was held for longer than they may wait', () => {
    // Under fake timers, a spy that is restored would leave them behind.
    vi.useRealTimers();
    gathering.addAll();
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_000);
    const wait = vi.spyOn(globalThis, 'setTimeout');
    gathering.addAll();
    expect(wait).toHaveBeenLastCalledWith(expect.any(Function), 0);
    now.mockRestore();
    wait.mockRestore();
  });

  it('do not wait one by one, but go with all while these wait, gone or not', () => {
    gathering.add('x');
    expect(taken).toEqual(['x']);
    gathering.addAll();
    gathering.add('a');
    gathering.add('gone');
    expect(taken).toEqual(['x']);
    vi.advanceTimersByTime(100);
    expect(taken.toSorted()).toEqual(['a', 'b', 'gone', 'x']);
    gathering.add('a');
    expect(taken.at(-1)).toBe('a');
  });

  it('can be handed on at once, and forgotten', () => {
    gathering.flush();
    expect(taken).toEqual([]);
    gathering.addAll();
    gathering.flush();
    vi.advanceTimersByTime(10_000);
    expect(taken).toEqual(['a', 'b']);
    gathering.addAll();
    gathering.add('x');
    gathering.stop();
    vi.advanceTimersByTime(10_000);
    expect(taken).toEqual(['a', 'b']);
    gathering.addAll();
    gathering.flush();
    expect(taken).toEqual(['a', 'b', 'a', 'b']);
  });
});

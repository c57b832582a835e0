import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { Repairs } from '../../../operator/runtime/repairs.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const version = (resourceVersion: string): KubeObject => ({ metadata: { name: 'a', resourceVersion } });

describe('content that is written to an object again and again', () => {
  /** As often as it is written at once. */
  const writtenOften = (times: number): Repairs => {
    const repairs = new Repairs();
    for (let written = 0; written < times; written += 1) repairs.wrote('a', 'content');
    return repairs;
  };

  it('is repeated three times at once, then after longer and longer waits, of at most five minutes', () => {
    expect([0, 1, 2, 3].map((times) => writtenOften(times).waitMs('a', 'content'))).toEqual([0, 0, 0, 0]);
    const waits = [4, 8, 11, 40].map((times) => writtenOften(times).waitMs('a', 'content'));
    expect(waits[0]).toBeGreaterThanOrEqual(500);
    expect(waits[0]).toBeLessThanOrEqual(1_000);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[3]).toBeLessThanOrEqual(300_000);
    expect(waits[3]).toBeGreaterThanOrEqual(150_000);
  });

  it('is written when the wait is over', () => {
    const repairs = writtenOften(4);
    vi.advanceTimersByTime(repairs.waitMs('a', 'content') + 1);
    expect(repairs.waitMs('a', 'content')).toBe(0);
  });

  it('is forgotten after a minute where it was written once, as most is', () => {
    const repairs = new Repairs();
    for (let at = 0; at < 1_000; at += 1) repairs.wrote(`shop/web-${at}`, 'content');
    for (let times = 0; times < 4; times += 1) repairs.wrote('a', 'content');
    vi.advanceTimersByTime(60_001);
    repairs.wrote('b', 'content');
    expect(repairs.size).toBe(2);
  });

  it('delays neither other content nor another object', () => {
    const repairs = writtenOften(20);
    expect([repairs.waitMs('a', 'other content'), repairs.waitMs('b', 'content')]).toEqual([0, 0]);
  });

  it('is free again after ten quiet minutes, and when the object was gone', () => {
    const repairs = writtenOften(4);
    vi.advanceTimersByTime(repairs.waitMs('a', 'content') + 600_001);
    repairs.wrote('a', 'content');
    expect(repairs.waitMs('a', 'content')).toBe(0);
    const forgotten = writtenOften(20);
    forgotten.forget('a');
    expect(forgotten.waitMs('a', 'content')).toBe(0);
  });
});

describe('content that an object does not come to have', () => {
  it('waits an hour, if it is that version of the object and that content, and is not gone', () => {
    const repairs = new Repairs();
    const waits = (id = 'a', content = 'content', resourceVersion = '5'): number =>
      repairs.inVainMs(id, content, version(resourceVersion));
    expect(repairs.inVain('a', 'content', version('5'), false)).toBe(3_600_000);
    expect(waits()).toBe(3_600_000);
    expect([waits('a', 'content', '6'), waits('a', 'other content'), waits('b')]).toEqual([0, 0, 0]);
    vi.advanceTimersByTime(3_599_000);
    expect(waits()).toBe(1_000);
    vi.advanceTimersByTime(1_000);
    expect(waits()).toBe(0);
    repairs.inVain('a', 'content', version('5'), false);
    expect(waits()).toBe(3_600_000);
    repairs.inVain('a', 'content', version('5'), true);
    expect(waits()).toBe(86_400_000);
    repairs.forget('a');
    expect(waits()).toBe(0);
  });

  it('is forgotten where it says nothing any more, as of objects that went with their namespace', () => {
    const repairs = new Repairs();
    for (let at = 0; at < 1_000; at += 1) repairs.wrote(`pr-${at}/web`, 'content');
    vi.advanceTimersByTime(600_001);
    repairs.wrote('a', 'content');
    expect(repairs.size).toBe(1);
  });

  it('is forgotten in the end of objects that nobody writes any more, and of no other', () => {
    const repairs = new Repairs();
    for (let at = 0; at < 1_000; at += 1) repairs.inVain(`pr-${at}/web`, 'content', version('5'), false);
    vi.advanceTimersByTime(1_800_000);
    repairs.inVain('a', 'content', version('5'), false);
    vi.advanceTimersByTime(1_800_000);
    repairs.wrote('b', 'content');
    expect([repairs.size, repairs.inVainMs('a', 'content', version('5'))]).toEqual([2, 1_800_000]);
  });
});

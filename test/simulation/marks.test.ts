import { expect, it } from 'vitest';

import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import { Marks } from './marks.ts';
import { Serving } from './parts/failover-serving.ts';

const named = (operator?: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'web',
    uid: 'u',
    resourceVersion: '1',
    annotations: operator ? { 'linkspan.dev/operator': operator } : {},
  },
});
const event = (before: string | undefined, after: string | undefined): StorageEvent =>
  ({ type: 'MODIFIED', object: named(after), previous: named(before) }) as unknown as StorageEvent;

it('lets another operator take a second to learn whose an object is, and what is in its way besides (I9, K7)', () => {
  let undisturbedMs = 0;
  const marks = new Marks(() => undisturbedMs);
  marks.saw(event(undefined, 'a'), 10_000);
  expect([10_999, 11_000].map((sentMs) => marks.isNews(named('a'), sentMs))).toEqual([true, false]);
  // What it knows it knows through later disturbances.
  undisturbedMs = 60_000;
  marks.saw(event('a', 'a'), 12_000);
  expect(marks.isNews(named('a'), 12_000)).toBe(false);
  marks.saw(event('a', 'b'), 20_000);
  expect([60_999, 61_000].map((sentMs) => marks.isNews(named('b'), sentMs))).toEqual([true, false]);
  expect(marks.isNews({ ...named(), metadata: { name: 'other', uid: 'v' } }, 0)).toBe(false);
});

it('knows when a ServiceFailover was created in place of another, whoever serves it by now (J6)', () => {
  const serving = new Serving();
  serving.saw('shop/web', undefined, true, 1_000);
  serving.saw('shop/web', 'a', false, 2_000);
  serving.saw('shop/web', undefined, false, 3_000);
  serving.saw('shop/web', undefined, true, 4_000);
  serving.saw('shop/web', 'a', false, 5_000);
  expect(serving.of('shop/web')).toEqual({
    operator: 'a',
    sinceMs: 5_000,
    createdMs: 4_000,
    untilMs: new Map([['a', 3_000]]),
  });
});

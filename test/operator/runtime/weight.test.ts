import { expect, test } from 'vitest';
import { weightOf } from '../../../operator/runtime/weight.ts';

const TEXT = 'x'.repeat(100_000);

test.each<[string, unknown, number]>([
  ['a text', TEXT, 100_000],
  ['a text of longer characters', 'ä'.repeat(100_000), 200_000],
  ['texts in objects and lists', { a: { b: [TEXT, { c: TEXT }] } }, 200_000],
  ['names of fields', { [TEXT]: '' }, 100_000],
  ['many short values', { a: Array.from({ length: 10_000 }, () => ({ b: [], c: null, d: 1 })) }, 640_000],
])('%s weighs what it holds in memory, or somewhat more (E10)', (_, value, bytes) => {
  expect(weightOf(value)).toBeGreaterThanOrEqual(bytes);
  expect(weightOf(value)).toBeLessThan(1.1 * bytes);
});

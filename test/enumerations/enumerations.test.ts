/** Plans of all classes, spread over each; all of them with LINKSPAN_ENUMERATE=all, as `npm run fuzz -- --enumerate` plays them. */
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { CLASSES } from './classes/index.ts';
import { explained, search } from './search.ts';

const isWhole = process.env['LINKSPAN_ENUMERATE'] === 'all';
/** Of each class: some twenty seconds in all. */
const SAMPLE = 14;
/** What is listed of each property, in lives/, must follow the schema at once. */
const WHOLE: ReadonlySet<string> = new Set(['A1']);

test.for(CLASSES)('$id: $about', { timeout: 1_800_000 }, async ({ id }, { signal }) => {
  const count = isWhole || WHOLE.has(id) ? Infinity : SAMPLE;
  const threads = Math.min(4, availableParallelism());
  for await (const result of search({ classes: [id], threads, count, signal })) {
    expect(result.played).toBeGreaterThan(0);
    expect(result.failures.map(explained)).toEqual([]);
  }
});

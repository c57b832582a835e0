/** What makes a failure worth its seed: the same seed plays the same history to the last byte. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { type History, historyOf } from './history.ts';
import { run } from './run.ts';
import { World } from './world/world.ts';

/** The number of requests and answers in a history, and a digest of all of them with their times. */
async function traceOf(seed: number): Promise<string> {
  const digest = createHash('sha256');
  let messages = 0;
  await run(historyOf(seed), seed, (message) => {
    digest.update(`${message}\n`);
    messages += 1;
  });
  return `${messages} ${digest.digest('hex')}`;
}

test('a seed plays one history, each time', async () => {
  for (const seed of [1, 2, 3, 4, 5]) expect(await traceOf(seed)).toBe(await traceOf(seed));
});

test('different seeds play different histories', async () => {
  expect(await traceOf(6)).not.toBe(await traceOf(7));
});

test('nothing is left of a history, even if its operator was killed', async () => {
  const history: History = { ...historyOf(1), commands: [{ do: 'wait', ms: 5_000 }, { do: 'kill operator' }] };
  for (const seed of [1, 2, 3]) await run(history, seed);
  await setImmediate();
  // The last one may still be on the stack.
  expect(queryObjects(World, { format: 'count' })).toBeLessThanOrEqual(1);
});

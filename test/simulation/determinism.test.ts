/** What makes a failure worth its seed: the same seed plays the same history to the last byte. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { historyOf } from './command.ts';
import { run } from './run.ts';

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

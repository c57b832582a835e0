/**
 * `npm run fuzz`: as many histories as one likes, from a printed seed, on all cores. Exits 1 if one failed, after
 * shrinking it.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Command } from 'commander';
import { historyOf } from './command.ts';
import { type Failure, report, shrink } from './run.ts';
import type { Batch, BatchResult } from './worker.ts';

const program = new Command('fuzz')
  .option('--histories <count>', 'how many', '1000')
  .option('--seed <number>', 'of the first; the next ones follow', String(Date.now() % 1_000_000_000))
  .option('--workers <count>', 'threads that play them', String(availableParallelism()))
  .option('--no-shrink', 'show failures as they are')
  .parse();
const options = program.opts<{ histories: string; seed: string; workers: string; shrink: boolean }>();
const [count, seed, workers] = [options.histories, options.seed, options.workers].map(Number) as [
  number,
  number,
  number,
];

/** Histories that a worker is given at once. */
const BATCH = 25;
/** Failures that are shrunk; more of them mostly have the same cause. */
const SHRUNK = 3;

console.log(`${count} histories from seed ${seed}`);
const began = performance.now();
const failures = new Map<number, Failure>();
let next = 0;
let done = 0;

/** Plays batches in a thread of its own until none is left. */
function work(): Promise<void> {
  // A young generation in which a history ends before it is collected.
  const resourceLimits = { maxYoungGenerationSizeMb: 192 };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { resourceLimits });
  return new Promise((resolve, reject) => {
    const give = (): void => {
      if (next >= count) {
        void worker.terminate();
        resolve();
        return;
      }
      const batch: Batch = { seed: seed + next, count: Math.min(BATCH, count - next) };
      next += batch.count;
      worker.postMessage(batch);
    };
    worker.on('error', reject);
    worker.on('message', (result: BatchResult) => {
      for (const [failed, failure] of result) {
        failures.set(failed, failure);
        console.log(`history ${failed} fails: ${failure.problems[0]}`);
      }
      const before = done;
      done = Math.min(count, done + BATCH);
      if (Math.floor(done / 1000) > Math.floor(before / 1000)) console.log(`${done} done, ${rate()} a second`);
      give();
    });
    give();
  });
}

const rate = (): number => Math.round(done / ((performance.now() - began) / 1000));

await Promise.all(Array.from({ length: Math.min(workers, Math.ceil(count / BATCH)) }, work));
console.log(`${count} histories, ${rate()} a second`);
for (const [failed, failure] of [...failures].slice(0, SHRUNK)) {
  const history = historyOf(failed);
  console.log(report(failed, failure, options.shrink ? await shrink(history, failed) : history));
}
console.log(`${count - failures.size} of ${count} histories came to rest as they must`);
process.exitCode = failures.size === 0 ? 0 : 1;

/**
 * `npm run fuzz`: as many histories as one likes, from a printed seed, on all cores. Exits 1 if one failed, after
 * shrinking it.
 */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { explain, play } from './threads.ts';

const program = new Command('fuzz')
  .option('--histories <count>', 'how many', '1000')
  .option('--seed <number>', 'of the first; the next ones follow', String(Date.now() % 1_000_000_000))
  .option('--workers <count>', 'threads that play them', String(availableParallelism()))
  .option('--no-shrink', 'show failures as they are')
  .parse();
const options = program.opts<{ histories: string; seed: string; workers: string; shrink: boolean }>();
const [count, seed, threads] = [options.histories, options.seed, options.workers].map(Number) as [
  number,
  number,
  number,
];

/** Failures that are shrunk; more of them mostly have the same cause. */
const SHRUNK = 3;
const SHRINKING_MS = 60_000;
/** After how many histories the rate is printed. */
const REPORTED = 1000;

console.log(`${count} histories from seed ${seed}`);
const began = performance.now();
const rate = (done: number): string => `${(done / ((performance.now() - began) / 1000)).toFixed(1)} a second`;
const failures = await play({
  ...{ seed, count, threads },
  onDone: (current, failure, done) => {
    if (failure !== undefined) console.log(`history ${current} fails: ${failure.problems[0]}`);
    if (done % REPORTED === 0) console.log(`${done} done, ${rate(done)}`);
  },
});
console.log(`${count} histories, ${rate(count)}`);
const budgetMs = options.shrink ? SHRINKING_MS : 0;
const reports = [...failures].slice(0, SHRUNK).map(([failed, failure]) => explain(failed, failure, { budgetMs }));
for (const report of reports) console.log(await report);
console.log(`${count - failures.size} of ${count} histories came to rest as they must`);
process.exitCode = failures.size === 0 ? 0 : 1;

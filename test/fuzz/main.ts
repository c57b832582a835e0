/**
 * `npm run fuzz`: as many histories as one likes, from a printed seed. Exits 1 if one failed, after shrinking it.
 */
import { Command } from 'commander';
import { historyOf } from './command.ts';
import { report, runMany, shrink } from './run.ts';

const program = new Command('fuzz')
  .option('--histories <count>', 'how many', '1000')
  .option('--seed <number>', 'of the first; the next ones follow', String(Date.now() % 1_000_000_000))
  .option('--concurrency <count>', 'how many at once', '12')
  .option('--no-shrink', 'show failures as they are')
  .parse();
const options = program.opts<{ histories: string; seed: string; concurrency: string; shrink: boolean }>();
const [count, seed, concurrency] = [options.histories, options.seed, options.concurrency].map(Number) as [
  number,
  number,
  number,
];

console.log(`${count} histories from seed ${seed}`);
const began = performance.now();
let done = 0;
const failures = await runMany({ seed, count, concurrency }, (current, failure) => {
  done += 1;
  if (failure !== undefined) console.log(report(current, failure, historyOf(current)));
  if (done % 100 === 0) console.log(`${done} done, ${Math.round((performance.now() - began) / done)} ms each`);
});
for (const [current, failure] of failures) {
  const history = historyOf(current);
  console.log(report(current, failure, options.shrink ? await shrink(history, current) : history));
}
console.log(`${count - failures.size} of ${count} histories came to rest as they must`);
process.exitCode = failures.size === 0 ? 0 : 1;

/**
 * `npm run fuzz`: as many histories as one likes, from a printed seed, on all cores. Exits 1 if one failed, after
 * shrinking it. Or what histories are worth: how many it takes until they find a defect that the operator is given.
 *
 *     npm run fuzz -- --histories 10000
 *     npm run fuzz -- --with-defect 'a watch resumes on another cluster'
 *     npm run fuzz -- --defects
 *     npm run fuzz -- --defects D3 L86
 *
 * Or all that can be enumerated, class by class (test/enumerations), or those plans whose names contain a text.
 *
 *     npm run fuzz -- --enumerate
 *     npm run fuzz -- --enumerate S1 E1 --plan 'headless'
 */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { endWithNpm } from '../cluster/real/npm-parent.ts';
import { printSearch } from '../enumerations/print.ts';
import { FAULTS } from '../mutants/faults.ts';
import { printDefect, printFaults } from './broken.ts';
import { explain, play } from './threads.ts';

const program = new Command('fuzz')
  .option('--histories <count>', 'how many; with defects, how many at most', Number)
  .option('--seed <number>', 'of the first; the next ones follow', Number, Date.now() % 1_000_000_000)
  .option('--feature <name>', 'only those histories that have it, as in test/simulation/parts')
  .option('--workers <count>', 'threads that play them', Number, availableParallelism())
  .option('--with-defect <names...>', 'play them with defects of test/mutants/defects in the operator, until one fails')
  .option('--defects [rules...]', 'the same for each fault of test/mutants/faults.ts, or for those of these rules')
  .option('--enumerate [classes...]', 'play the plans of test/enumerations, of all classes or of these')
  .option('--plan <text>', 'of these, those whose names contain it')
  .option('--plans <count>', 'of these, so many of each class at most, spread evenly', Number)
  .option('--no-shrink', 'show failures as they are')
  .parse();
const options = program.opts<{
  histories?: number;
  seed: number;
  feature?: string;
  workers: number;
  withDefect?: string[];
  defects?: true | string[];
  enumerate?: true | string[];
  plan?: string;
  plans?: number;
  shrink: boolean;
}>();
const {
  seed,
  feature,
  workers: threads,
  withDefect,
  histories = withDefect ? 20_000 : options.defects ? 500 : 1000,
} = options;
const played = { seed, threads, count: histories, ...(feature !== undefined && { feature }) };

/** Failures that are shrunk; more of them mostly have the same cause. */
const SHRUNK = 3;
const budgetMs = options.shrink ? 60_000 : 0;
/** After how many histories the rate is printed. */
const REPORTED = 1000;

async function fuzz(): Promise<void> {
  const began = performance.now();
  const rate = (done: number): string => `${(done / ((performance.now() - began) / 1000)).toFixed(1)} a second`;
  const failures = await play({
    ...played,
    onDone: (current, failure, done) => {
      if (failure !== undefined) console.log(`history ${current} fails: ${failure.problems[0]}`);
      if (done % REPORTED === 0) console.log(`${done} done, ${rate(done)}`);
    },
  });
  console.log(`${histories} histories, ${rate(histories)}`);
  const reports = [...failures].slice(0, SHRUNK).map(([failed, failure]) => explain(failed, failure, { budgetMs }));
  for (const report of reports) console.log(await report);
  console.log(`${histories - failures.size} of ${histories} histories came to rest as they must`);
  process.exitCode = failures.size === 0 ? 0 : 1;
}

endWithNpm();
async function enumerate(classes: readonly string[]): Promise<void> {
  const { plan: named, plans: count } = options;
  const chosen = { ...(named !== undefined && { named }), ...(count !== undefined && { count }) };
  const isSound = await printSearch({ classes, threads, ...chosen, ...(withDefect && { defects: withDefect }) });
  process.exitCode = isSound ? 0 : 1;
}

async function faults(rules: readonly string[]): Promise<void> {
  const unknown = rules.find((rule) => FAULTS.every((fault) => fault.rule !== rule));
  if (unknown !== undefined) program.error(`no fault of test/mutants/faults.ts is against rule ${unknown}`);
  const chosen = rules.length === 0 ? FAULTS : FAULTS.filter(({ rule }) => rules.includes(rule));
  process.exitCode = (await printFaults(chosen, played)) ? 0 : 1;
}

if (options.enumerate === undefined) console.log(`${histories} histories from seed ${seed}`);
if (options.enumerate !== undefined) await enumerate(options.enumerate === true ? [] : options.enumerate);
else if (options.defects !== undefined) await faults(options.defects === true ? [] : options.defects);
else if (withDefect !== undefined) await printDefect(withDefect, budgetMs, played);
else await fuzz();

/**
 * `npm run mutants`: breaks the operator in one way after another, as it once was broken, and runs the tests that must
 * notice. Exits 1 if a defect survives: either its test is missing, or the code that it breaks is needless.
 *
 *     npm run mutants -- [--only TEXT] [--jobs N]
 */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { endWithNpm } from '../cluster/real/npm-parent.ts';
import type { Defect } from './defect.ts';
import { DEFECTS } from './defects/index.ts';
import { type Outcome, runTests } from './run.ts';
import { Tree } from './tree.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const { values } = parseArgs({
  options: {
    /** Part of the name or the file of the defects to try; may be given several times. */
    only: { type: 'string', multiple: true, default: [''] },
    /** Defects tried at once. */
    jobs: { type: 'string', default: String(Math.min(availableParallelism(), 4)) },
  },
});
const jobs = Number(values.jobs);
if (!(Number.isInteger(jobs) && jobs > 0)) throw new RangeError(`--jobs ${values.jobs}: must be an integer above 0`);
const defects = DEFECTS.filter(({ name, file }) => values.only.some((part) => `${file} ${name}`.includes(part)));
if (defects.length === 0)
  throw new RangeError(`--only ${values.only.join(', ')}: no defect has that in its name or file`);

endWithNpm();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
}

/** What became of a defect, and whether that is well. */
function verdictOf(outcome: Outcome): { readonly ok: boolean; readonly text: string } {
  switch (outcome.result) {
    case 'passed':
      return { ok: false, text: 'SURVIVED' };
    case 'failed':
      return { ok: true, text: outcome.test };
    case 'timed out':
      return { ok: false, text: 'DOES NOT END' };
    case 'broken':
      return { ok: false, text: `DOES NOT LOAD: ${outcome.output.slice(0, 1000)}` };
  }
}

const widest = (of: 'name' | 'file'): number => Math.max(...defects.map((each) => each[of].length));
const [nameWidth, fileWidth] = [widest('name'), widest('file')];

const row = (name: string, file: string, seconds: string, by: string): string =>
  `${name.padEnd(nameWidth)}  ${file.padEnd(fileWidth)}  ${seconds.padStart(7)}  ${by}`;

/** Tries the defects in one tree, as long as there are any. Returns what is not well. */
async function work(tree: Tree, queue: Defect[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let defect = queue.shift(); defect !== undefined; defect = queue.shift()) {
    const { name, file, tests } = defect;
    const began = performance.now();
    const outcome = await tree.broken(defect, () => runTests(tree, tests, { signal: stop.signal }));
    const { ok, text } = verdictOf(outcome);
    console.log(row(name, file, ((performance.now() - began) / 1000).toFixed(1), text));
    if (!ok) problems.push(`${name}: ${text}`);
  }
  return problems;
}

/** Time that all tests of the chosen defects may take together, on the code as it is. */
const ALL_MS = 900_000;

const trees: Tree[] = [];
try {
  for (let job = 0; job < jobs; job += 1) trees.push(await Tree.copyOf(ROOT));
  const began = performance.now();
  const tests = [...new Set(defects.flatMap((defect) => defect.tests))];
  const sound = await runTests(trees[0]!, tests, { signal: stop.signal, workers: jobs, deadlineMs: ALL_MS });
  if (sound.result !== 'passed') throw new Error(`the tests do not pass as it is: ${JSON.stringify(sound)}`);
  console.log(row('defect', 'file', 'seconds', 'noticed by'));
  const queue = [...defects];
  const problems = (await Promise.all(trees.map((tree) => work(tree, queue)))).flat();
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(`\n${defects.length - problems.length} of ${defects.length} defects were noticed, in ${minutes} minutes`);
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await Promise.all(trees.map((tree) => tree.remove()));
}

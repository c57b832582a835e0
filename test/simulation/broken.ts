/** Histories of an operator with a defect: how many it takes until one fails is what they are worth. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Defect } from '../mutants/defect.ts';
import { defectOf, FAULTS } from '../mutants/faults.ts';
import { Tree } from '../mutants/tree.ts';
import type { Failure } from './run.ts';
import { explain, play } from './threads.ts';

export interface BrokenOptions {
  /** Of the first history. */
  readonly seed: number;
  /** Most histories for each defect. */
  readonly count: number;
  readonly threads: number;
}

const ROOT = resolve(import.meta.dirname, '../..');

/** The first history that failed. */
interface Found {
  readonly seed: number;
  readonly failure: Failure;
}

/** Works in a copy of this tree. */
async function inTree<T>(work: (tree: Tree) => Promise<T>): Promise<T> {
  const tree = await Tree.copyOf(ROOT);
  try {
    return await work(tree);
  } finally {
    await tree.remove();
  }
}

const workerOf = (tree: Tree): URL => pathToFileURL(resolve(tree.folder, 'test/simulation/worker.ts'));

/**
 * Plays histories with all of the defects in the operator, until one fails. One that fails without them too, as such do
 * at times, says nothing of them.
 */
async function find(tree: Tree, defects: readonly Defect[], options: BrokenOptions): Promise<Found | undefined> {
  const worker = workerOf(tree);
  const end = options.seed + options.count;
  for (let { seed } = options; seed < end;) {
    const rest = { ...options, seed, count: end - seed };
    const [first] = await tree.allBroken(defects, () => play({ ...rest, worker, untilFailure: true }));
    if (first === undefined) return undefined;
    const sound = await play({ seed: first[0], count: 1, threads: 1 });
    if (sound.size === 0) return { seed: first[0], failure: first[1] };
    seed = first[0] + 1;
  }
  return undefined;
}

const row = (rule: string, defects: string, histories: string, seconds: string, by: string): string =>
  `${rule.padEnd(4)}  ${defects.padEnd(100)}  ${histories.padStart(9)}  ${seconds.padStart(7)}  ${by}`;

/** @returns a row: how many histories it took, the seconds, and what was wrong in the last */
async function tryOut(tree: Tree, rule: string, names: readonly string[], options: BrokenOptions): Promise<string> {
  const began = performance.now();
  const found = await find(tree, names.map(defectOf), options);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const [histories, by] =
    found === undefined
      ? ['not found', `in ${options.count}`]
      : [String(found.seed - options.seed + 1), found.failure.problems[0] ?? ''];
  return row(rule, names.join(' + '), histories, seconds, by.replaceAll(/\s+/g, ' ').slice(0, 120));
}

/** Prints for each fault how many histories it takes to find it, or why they cannot. */
export async function printFaults(options: BrokenOptions): Promise<void> {
  console.log(row('rule', 'defect', 'histories', 'seconds', 'noticed by'));
  await inTree(async (tree) => {
    for (const { rule, defects, outside } of FAULTS) {
      if (outside === undefined) console.log(await tryOut(tree, rule, defects, options));
      else {
        const tests = new Set(defects.map(defectOf).flatMap((each) => each.tests));
        console.log(row(rule, defects.join(' + '), '-', '-', `${outside}; ${[...tests].join(', ')}`));
      }
    }
  });
}

/**
 * Prints how many histories it takes to find a defect, or several at once, and the one that did.
 * @param shrinkMs time for which that is shrunk
 */
export async function printDefect(names: readonly string[], shrinkMs: number, options: BrokenOptions): Promise<void> {
  const defects = names.map(defectOf);
  await inTree(async (tree) => {
    const began = performance.now();
    const found = await find(tree, defects, options);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    if (found === undefined) console.log(`not found in ${options.count} histories, ${seconds} s`);
    else {
      const { seed, failure } = found;
      console.log(`found by history ${seed - options.seed + 1} of ${options.count}, after ${seconds} s`);
      console.log(
        `each time: --histories 1 --seed ${seed} --with-defect ${names.map((name) => `'${name}'`).join(' ')}`,
      );
      const shrunk = { budgetMs: shrinkMs, worker: workerOf(tree) };
      console.log(await tree.allBroken(defects, () => explain(seed, failure, shrunk)));
    }
  });
}

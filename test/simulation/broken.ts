/** Histories, and plans, of an operator with a defect: how many it takes until one fails is what they are worth. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Defect } from '../mutants/defect.ts';
import { search } from '../enumerations/search.ts';
import { defectOf } from '../mutants/faults.ts';
import type { Fault } from '../mutants/faults/fault.ts';
import { Tree } from '../mutants/tree.ts';
import type { Failure } from './run.ts';
import { explain, play } from './threads.ts';

export interface BrokenOptions {
  /** Of the first history. */
  readonly seed: number;
  /** Most histories for each defect. */
  readonly count: number;
  readonly threads: number;
  /** Only histories that have this feature are played. @default - all */
  readonly feature?: string;
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

const row = (rule: string, defects: string, needed: string, seconds: string, by: string): string =>
  `${rule.padEnd(4)}  ${defects.padEnd(100)}  ${needed.padStart(9)}  ${seconds.padStart(7)}  ${by}`;

/** What a search for a fault came to: how many histories or plans it took, and what was wrong in the last. */
interface Search {
  /** Undefined: it was not found. */
  readonly needed: number | undefined;
  readonly noticed: string;
}

async function inHistories(tree: Tree, { defects }: Fault, options: BrokenOptions): Promise<Search> {
  const found = await find(tree, defects.map(defectOf), options);
  if (found === undefined) return { needed: undefined, noticed: `not in ${options.count} histories` };
  return { needed: found.seed - options.seed + 1, noticed: found.failure.problems[0] ?? '' };
}

async function inPlans(tree: Tree, { defects, plans }: Fault, threads: number): Promise<Search> {
  const { class: id, named } = plans!;
  const worker = pathToFileURL(resolve(tree.folder, 'test/enumerations/worker.ts'));
  const play = async (): Promise<Search> => {
    for await (const { played, failures } of search({ classes: [id], named, threads, untilFailure: true, worker })) {
      const [first] = failures;
      if (first !== undefined) return { needed: played, noticed: first.problems[0] ?? '' };
    }
    return { needed: undefined, noticed: `not in the plans of ${id} named ${named}` };
  };
  return tree.allBroken(defects.map(defectOf), play);
}

/**
 * Prints for each fault how many histories or plans it takes to find it, or why they cannot.
 * @returns whether all were found that can be
 */
export async function printFaults(faults: readonly Fault[], options: BrokenOptions): Promise<boolean> {
  console.log(row('rule', 'defect', 'needed', 'seconds', 'noticed by'));
  let areFound = true;
  await inTree(async (tree) => {
    for (const fault of faults) {
      const { rule, defects, outside, plans, needed: last = 0 } = fault;
      const began = performance.now();
      if (outside !== undefined) {
        const tests = new Set(defects.map(defectOf).flatMap((each) => each.tests));
        console.log(row(rule, defects.join(' + '), '-', '-', `${outside}; ${[...tests].join(', ')}`));
        continue;
      }
      // One that took many is not expected to take fewer.
      const count = Math.max(options.count, MARGIN * last);
      const { needed, noticed } =
        plans === undefined
          ? await inHistories(tree, fault, { ...options, count })
          : await inPlans(tree, fault, options.threads);
      areFound &&= needed !== undefined;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const text = noticed.replaceAll(/\s+/g, ' ').slice(0, 120);
      const how = plans === undefined ? '' : `${plans.class} `;
      console.log(row(rule, defects.join(' + '), `${how}${needed ?? 'NOT FOUND'}`, seconds, text));
    }
  });
  return areFound;
}

/** Histories are drawn: it may take so many times as many as it took last. */
const MARGIN = 4;

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

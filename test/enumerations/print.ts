/** `npm run fuzz -- --enumerate`: plays plans and prints what came of them, class by class. */
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import type { Defect } from '../mutants/defect.ts';
import { defectOf } from '../mutants/faults.ts';
import { Tree } from '../mutants/tree.ts';
import { classOf, CLASSES } from './classes/index.ts';
import { explained, type Result, search, type SearchOptions } from './search.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Failures of one class that are printed in full: more of them mostly have the same cause. */
const SHOWN = 8;

export interface PrintOptions extends Omit<SearchOptions, 'classes' | 'worker'> {
  /** Ids of classes; none: all. */
  readonly classes: readonly string[];
  /** Names of defects of test/mutants/defects that the operator is given. @default none */
  readonly defects?: readonly string[];
}

const row = (id: string, plans: string, seconds: string, failures: string, about: string): string =>
  `${id.padEnd(5)}  ${plans.padStart(12)}  ${seconds.padStart(7)}  ${failures.padStart(8)}  ${about}`;

const rowOf = ({ id, plans, played, seconds, failures }: Result): string =>
  row(
    id,
    played === plans ? `${plans}` : `${played} of ${plans}`,
    seconds.toFixed(1),
    `${failures.length}`,
    classOf(id).about,
  );

/** @returns whether none failed */
export async function printSearch({ classes, defects = [], ...options }: PrintOptions): Promise<boolean> {
  const ids = classes.length === 0 ? CLASSES.map(({ id }) => id) : classes.map((id) => classOf(id).id);
  const print = async (worker?: URL): Promise<readonly Result[]> => {
    const results: Result[] = [];
    console.log(row('class', 'plans', 'seconds', 'failures', 'what'));
    for await (const result of search({ ...options, classes: ids, ...(worker && { worker }) })) {
      results.push(result);
      console.log(rowOf(result));
      for (const note of result.notes) console.log(`       ${note}`);
      for (const failure of result.failures.slice(0, SHOWN)) console.log(explained(failure));
    }
    return results;
  };
  const results = defects.length === 0 ? await print() : await withDefects(defects.map(defectOf), print);
  const played = results.reduce((sum, result) => sum + result.played, 0);
  const failed = results.reduce((sum, { failures }) => sum + failures.length, 0);
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  console.log(`${played} plans in ${seconds.toFixed(0)} s, ${failed} failed`);
  return failed === 0;
}

/** Does the work with the module of a copy of this tree that has the defects. */
export async function withDefects<T>(defects: readonly Defect[], work: (worker: URL) => Promise<T>): Promise<T> {
  const tree = await Tree.copyOf(ROOT);
  try {
    const worker = pathToFileURL(resolve(tree.folder, 'test/enumerations/worker.ts'));
    return await tree.allBroken(defects, () => work(worker));
  } finally {
    await tree.remove();
  }
}

/** A thread that plays histories, one after the other. */
import { parentPort } from 'node:worker_threads';
import { historyOf } from './history.ts';
import { type Failure, report, run, shrink } from './run.ts';

export type Task =
  /** Answered with its failure, or undefined. */
  | { readonly do: 'play'; readonly seed: number }
  /** Answered with a report for a person, of a history that was shrunk for so long at most. */
  | { readonly do: 'explain'; readonly seed: number; readonly failure: Failure; readonly budgetMs: number };

/** Errors are made by the hundred in a history; a person reads where one came from, once. */
const FRAMES = 10;

async function perform(task: Task): Promise<Failure | string | undefined> {
  const { seed } = task;
  const history = historyOf(seed);
  Error.stackTraceLimit = task.do === 'play' ? 0 : FRAMES;
  if (task.do === 'play') return run(history, seed);
  const { budgetMs } = task;
  const failure = (await run(history, seed)) ?? task.failure;
  return report(seed, failure, budgetMs === 0 ? history : await shrink(history, seed, { budgetMs }));
}

parentPort?.on('message', (task: Task) => {
  void perform(task).then((answer) => parentPort?.postMessage(answer));
});

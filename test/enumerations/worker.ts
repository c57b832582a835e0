/** A thread that lists and plays plans, one after the other. */
import { parentPort } from 'node:worker_threads';
import { classOf } from './classes/index.ts';
import { type Plan, plansOf } from './plan.ts';

export type Task =
  /** Answered with its plans, and what there is to print of them. */
  | { readonly do: 'list'; readonly class: string }
  /** Answered with what is wrong. */
  | { readonly do: 'play'; readonly plan: Plan };

/** The answer to a list. */
export interface Listed {
  readonly plans: readonly Plan[];
  readonly notes: readonly string[];
}

async function perform(task: Task): Promise<Listed | readonly string[]> {
  // Errors are made by the hundred, and nobody reads where from.
  Error.stackTraceLimit = 0;
  if (task.do === 'play') return classOf(task.plan.class).play(task.plan.data);
  const found = classOf(task.class);
  return { plans: await plansOf(found), notes: (await found.notes?.()) ?? [] };
}

parentPort?.on('message', (task: Task) => {
  perform(task)
    .catch((error: unknown) => [String(error)])
    .then((answer) => parentPort?.postMessage(answer))
    .catch(() => undefined);
});

/** Plays all plans of classes, or a sample of them, on several threads. */
import { Thread } from '../simulation/threads.ts';
import { type Plan, spread } from './plan.ts';
import type { Listed, Task } from './worker.ts';

export interface SearchOptions {
  /** Ids of the classes. */
  readonly classes: readonly string[];
  readonly threads: number;
  /** Most plans of each class, spread evenly. @default all */
  readonly count?: number;
  /** A text that the names of the plans contain. @default any */
  readonly named?: string;
  /** Whether the first failure of a class is enough. @default false */
  readonly untilFailure?: boolean;
  /** The module that plays them, which may be that of another copy of this tree. @default this tree's */
  readonly worker?: URL;
  readonly signal?: AbortSignal;
}

/** What came of one class. */
export interface Result {
  readonly id: string;
  /** How many plans there are, and how many of them were played. */
  readonly plans: number;
  readonly played: number;
  readonly seconds: number;
  readonly notes: readonly string[];
  readonly failures: readonly { readonly plan: Plan; readonly problems: readonly string[] }[];
}

const WORKER = new URL('./worker.ts', import.meta.url);

/** Plays them class by class. @returns what came of each, as it is known */
export async function* search(options: SearchOptions): AsyncGenerator<Result> {
  const { classes, threads: count, worker = WORKER } = options;
  const threads = Array.from({ length: count }, () => new Thread(worker));
  try {
    for (const id of classes) yield await searchClass(id, threads, options);
  } finally {
    for (const thread of threads) thread.end();
  }
}

async function searchClass(id: string, threads: readonly Thread[], options: SearchOptions): Promise<Result> {
  const { count = Infinity, named = '', untilFailure = false, signal } = options;
  const began = performance.now();
  const { plans, notes } = await threads[0]!.perform<Listed>({ do: 'list', class: id } satisfies Task, signal);
  const chosen = spread(
    plans.filter((plan) => plan.name.includes(named)),
    count,
  );
  const failures: { readonly plan: Plan; readonly problems: readonly string[] }[] = [];
  const queue = chosen.values();
  let played = 0;
  const work = async (thread: Thread): Promise<void> => {
    for (const plan of queue) {
      if (untilFailure && failures.length > 0) return;
      const task: Task = { do: 'play', plan };
      const problems = await thread
        .perform<readonly string[]>(task, signal)
        .catch((error: unknown): readonly string[] => [String(error)]);
      signal?.throwIfAborted();
      played += 1;
      if (problems.length > 0) failures.push({ plan, problems });
    }
  };
  await Promise.all(threads.map(work));
  return { id, plans: plans.length, played, seconds: (performance.now() - began) / 1000, notes, failures };
}

/** A failure as a person reads it, with the way to see it again. */
export const explained = ({ plan, problems }: Result['failures'][number]): string =>
  [
    `${plan.class}: ${plan.name}`,
    `  see it again with: npm run fuzz -- --enumerate ${plan.class} --plan '${plan.name}'`,
    ...problems.slice(0, MOST_PROBLEMS).map((problem) => `  ${problem.slice(0, MOST_CHARACTERS)}`),
  ].join('\n');

const MOST_PROBLEMS = 6;
const MOST_CHARACTERS = 600;

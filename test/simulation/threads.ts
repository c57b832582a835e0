/** Plays histories on several threads, in the order of their seeds. */
import { Worker } from 'node:worker_threads';
import { historyOf } from './history.ts';
import { FEATURES } from './parts/index.ts';
import type { Failure } from './run.ts';
import type { Task } from './worker.ts';

export interface PlayOptions {
  /** Of the first history; the next ones follow. */
  readonly seed: number;
  readonly count: number;
  readonly threads: number;
  /** Only histories that have this feature are played. @default - all */
  readonly feature?: string;
  /** The module that plays them, which may be that of another copy of this tree. @default this tree's */
  readonly worker?: URL;
  /** Whether the first failure is enough. @default false */
  readonly untilFailure?: boolean;
  readonly signal?: AbortSignal;
  /** Called after each history; `done` counts them. */
  readonly onDone?: (seed: number, failure: Failure | undefined, done: number) => void;
}

/** Time after which a history counts as one that does not end: most take a twentieth of a second. */
const ENDLESS_MS = 120_000;

const WORKER = new URL('./worker.ts', import.meta.url);

/**
 * Plays histories. One that does not end has failed, and so has one that ends its thread, as it would end a process.
 * @returns the failures by seed, in its order
 */
export async function play(options: PlayOptions): Promise<ReadonlyMap<number, Failure>> {
  const { seed, count, threads, feature, worker = WORKER, untilFailure = false, signal, onDone } = options;
  const failures = new Map<number, Failure>();
  const wanted = FEATURES.find(({ name }) => name === feature);
  let [next, done] = [seed, 0];
  const work = async (): Promise<void> => {
    const thread = new Thread(worker);
    try {
      while (next < seed + count && !(untilFailure && failures.size > 0)) {
        signal?.throwIfAborted();
        const current = next;
        next += 1;
        if (wanted?.isIn(historyOf(current)) === false) continue;
        const failure = await thread
          .perform<Failure | undefined>({ do: 'play', seed: current } satisfies Task, signal)
          .catch(asFailure);
        signal?.throwIfAborted();
        if (failure !== undefined) failures.set(current, failure);
        onDone?.(current, failure, ++done);
      }
    } finally {
      thread.end();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, count) }, work));
  return new Map([...failures].sort(([a], [b]) => a - b));
}

/** Shrinks a history that fails, for `budgetMs` at most. @returns the report about it, for a person */
export async function explain(
  seed: number,
  failure: Failure,
  { budgetMs, worker = WORKER }: { readonly budgetMs: number; readonly worker?: URL },
): Promise<string> {
  const thread = new Thread(worker);
  try {
    const task: Task = { do: 'explain', seed, failure, budgetMs };
    return await thread.perform<string>(task, undefined, ENDLESS_MS + budgetMs);
  } catch (error) {
    return `history ${seed} fails: ${[...failure.problems, String(error)].join('\n  ')}`;
  } finally {
    thread.end();
  }
}

const asFailure = (error: unknown): Failure => ({ problems: [String(error)], log: [] });

/** A thread that does one thing at a time. A new one takes its place when it has ended. */
export class Thread {
  readonly #module: URL;
  #worker: Worker | undefined;
  #answer: PromiseWithResolvers<unknown> | undefined;

  constructor(module: URL) {
    this.#module = module;
  }

  /**
   * @param task as its module takes it
   * @throws Error if the task ends the thread, or does not end; the reason of the signal
   */
  async perform<T>(task: object, signal?: AbortSignal, limitMs = ENDLESS_MS): Promise<T> {
    const answer = (this.#answer = Promise.withResolvers<unknown>());
    this.#worker ??= this.#begin();
    this.#worker.postMessage(task);
    const timer = setTimeout(() => answer.reject(new Error(`it does not end in ${limitMs / 1000} s`)), limitMs);
    const abort = (): void => answer.reject(signal?.reason as Error);
    signal?.addEventListener('abort', abort);
    try {
      return (await answer.promise) as T;
    } catch (error) {
      this.end();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  #begin(): Worker {
    // A young generation in which a history ends before it is collected.
    const worker = new Worker(this.#module, { resourceLimits: { maxYoungGenerationSizeMb: 192 } });
    worker.on('message', (answer) => this.#answer?.resolve(answer));
    worker.on('error', (error) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#answer?.reject(new Error(`it ends the process: ${String(error)}`));
    });
    return worker;
  }

  end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}

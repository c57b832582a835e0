/** The longest time for which the operator's event loop answered nothing, as /healthz shows it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { askAdmin } from '../../test/support/metrics.ts';
import type { OperatorProcess } from '../../test/support/operator-process.ts';

const SAMPLE_MS = 20;

export class Silence {
  readonly #ended = new AbortController();
  readonly #sampled: Promise<number>;

  private constructor(operator: Pick<OperatorProcess, 'up'>) {
    this.#sampled = sample(operator, this.#ended.signal);
    // What went wrong is thrown by end().
    this.#sampled.catch(() => undefined);
  }

  /** Begins to ask. */
  static async watch(operator: Pick<OperatorProcess, 'up'>): Promise<Silence> {
    await operator.up();
    return new Silence(operator);
  }

  /** Returns the longest time without an answer, in milliseconds. */
  async end(): Promise<number> {
    this.#ended.abort();
    return this.#sampled;
  }
}

const sample = async (operator: Pick<OperatorProcess, 'up'>, signal: AbortSignal): Promise<number> => {
  const address = await operator.up();
  let silentMs = 0;
  while (!signal.aborted) {
    const began = performance.now();
    await askAdmin(address, '/healthz');
    silentMs = Math.max(silentMs, performance.now() - began);
    await sleep(SAMPLE_MS);
  }
  return silentMs;
};

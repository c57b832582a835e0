/** A thread that plays batches of histories. */
import { parentPort } from 'node:worker_threads';
import { type Failure, runMany } from './run.ts';

export interface Batch {
  /** Of the first history; the next ones follow. */
  readonly seed: number;
  readonly count: number;
}

/** The failures of a batch, by seed. */
export type BatchResult = readonly (readonly [number, Failure])[];

parentPort?.on('message', (batch: Batch) => {
  void runMany(batch).then((failures) => parentPort?.postMessage([...failures] satisfies BatchResult));
});

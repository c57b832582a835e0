/** One run of vitest over a few test files of a tree, and what came of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tree } from './tree.ts';

export type Outcome =
  | { readonly result: 'passed' }
  /** A test failed: the first of them, and what it printed. */
  | { readonly result: 'failed'; readonly test: string; readonly message: string }
  /** The run did not end in time. Whether it would have failed is not known. */
  | { readonly result: 'timed out' }
  /** No test ran to its end: the files do not load, or vitest failed. */
  | { readonly result: 'broken'; readonly output: string };

/** The part of vitest's JSON report that is read. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const DEADLINE_MS = 240_000;

export interface RunOptions {
  readonly signal: AbortSignal;
  /** @default 1 */
  readonly workers?: number;
  /** Time after which the tests count as not ending. @default 240000 */
  readonly deadlineMs?: number;
}

/** Runs the test files, until the first failure. Aborting the signal ends vitest and rejects. */
export async function runTests(
  tree: Tree,
  tests: readonly string[],
  { signal, workers = 1, deadlineMs = DEADLINE_MS }: RunOptions,
): Promise<Outcome> {
  const report = join(tree.folder, 'report.json');
  await rm(report, { force: true });
  const vitest = spawn(
    process.execPath,
    [
      join('node_modules', 'vitest', 'vitest.mjs'),
      ...['run', '--config', 'test/mutants/vitest.config.ts', `--maxWorkers=${workers}`],
      ...['--reporter=json', `--outputFile=${report}`, ...tests],
    ],
    // A group of its own: its workers end with it, also those that loop.
    { cwd: tree.folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output = Promise.all([text(vitest.stdout), text(vitest.stderr)]);
  const over = new AbortController();
  const deadline = AbortSignal.any([signal, over.signal]);
  const ended = once(vitest, 'close').finally(() => over.abort());
  const isLate = await Promise.race([
    ended.then(() => false),
    sleep(deadlineMs, true, { signal: deadline }).catch(() => signal.aborted),
  ]);
  if (isLate && vitest.pid !== undefined) process.kill(-vitest.pid, 'SIGKILL');
  await ended;
  signal.throwIfAborted();
  if (isLate) return { result: 'timed out' };
  const failure = await firstFailure(report);
  if (failure !== undefined) return { result: 'failed', ...failure };
  if (vitest.exitCode === 0) return { result: 'passed' };
  return { result: 'broken', output: (await output).join('\n') };
}

async function firstFailure(path: string): Promise<{ test: string; message: string } | undefined> {
  const json = await readFile(path, 'utf8').catch(() => undefined);
  if (json === undefined) return undefined;
  const { testResults } = JSON.parse(json) as Report;
  const failed = testResults.flatMap((file) => file.assertionResults).find(({ status }) => status === 'failed');
  return failed && { test: failed.fullName, message: failed.failureMessages.join('\n') };
}

/** What the operator takes of memory while nobody changes anything, as it says itself when it is asked. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperatorProcess } from '../../test/support/operator-process.ts';

/** Environment variable of the operator: the file that it writes its memory to. */
export const MEMORY_FILE = 'SOAK_MEMORY_FILE';
/** Asks for it. */
export const MEMORY_SIGNAL = 'SIGUSR2';

/** Memory in MiB, and open files. */
export interface Memory {
  /** Resident, before any garbage is collected. */
  readonly residentMegabytes: number;
  /** Of the heap and of what its objects hold outside of it, once garbage is collected. */
  readonly liveMegabytes: number;
  /** Open files, connections among them. */
  readonly files: number;
}

const PROBE = join(import.meta.dirname, 'memory-probe.ts');
/** A snapshot of the heap takes seconds. */
const DEADLINE_MS = 60_000;
const POLL_MS = 50;

/** Of the node of an operator that can be asked. */
export const memoryFlags: readonly string[] = ['--expose-gc', `--import=${PROBE}`];

/** Asks an operator, which knows the file; undefined if it has not answered. */
export async function memoryOf(operator: OperatorProcess, file: string): Promise<Memory | undefined> {
  rmSync(file, { force: true });
  operator.signal(MEMORY_SIGNAL);
  const end = performance.now() + DEADLINE_MS;
  while (!existsSync(file)) {
    if (performance.now() > end) return undefined;
    await sleep(POLL_MS);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Memory;
}

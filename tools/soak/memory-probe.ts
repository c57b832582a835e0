/**
 * Runs within the operator that is soaked, which node loads it into (`--import`): a signal asks for its memory. What is
 * resident is read first; then garbage is collected, and what is left of the heap is what something holds on to.
 */
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { writeHeapSnapshot } from 'node:v8';
import { HEAP_VARIABLE, snapshotsOf } from './heap.ts';
import { type Memory, MEMORY_FILE, MEMORY_SIGNAL } from './memory.ts';

const MEBI = 1024 ** 2;
/** How often it was asked. */
let rests = 0;

process.on(MEMORY_SIGNAL, () => {
  const file = process.env[MEMORY_FILE];
  if (file === undefined || gc === undefined) return;
  const residentMegabytes = process.memoryUsage.rss() / MEBI;
  // What waits for a finalizer is garbage of the second time.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  const files = readdirSync('/proc/self/fd').length;
  const memory: Memory = { residentMegabytes, liveMegabytes: (heapUsed + external) / MEBI, files };
  rests += 1;
  if (process.env[HEAP_VARIABLE] !== undefined) takeSnapshot(file);
  // Whoever waits for the file finds all of it.
  writeFileSync(`${file}.new`, JSON.stringify(memory));
  renameSync(`${file}.new`, file);
});

/** The first rest proves nothing: caches and pools are filled after it. */
function takeSnapshot(memoryFile: string): void {
  const { base, latest } = snapshotsOf(memoryFile);
  if (rests > 1) writeHeapSnapshot(existsSync(base) ? latest : base);
}

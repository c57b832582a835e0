/**
 * Runs within the operator that is soaked, which node loads it into (`--import`): a signal asks for its memory. What is
 * resident is read first; then garbage is collected, and what is left of the heap is what something holds on to.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { type Memory, MEMORY_FILE, MEMORY_SIGNAL } from './memory.ts';

const MEBI = 1024 ** 2;

process.on(MEMORY_SIGNAL, () => {
  const file = process.env[MEMORY_FILE];
  if (file === undefined || gc === undefined) return;
  const residentMegabytes = process.memoryUsage.rss() / MEBI;
  // What waits for a finalizer is garbage of the second time.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  const memory: Memory = { residentMegabytes, liveMegabytes: (heapUsed + external) / MEBI };
  // Whoever waits for the file finds all of it.
  writeFileSync(`${file}.new`, JSON.stringify(memory));
  renameSync(`${file}.new`, file);
});

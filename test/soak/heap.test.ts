import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { growthOf, growthTable, kindsIn, readSnapshot } from '../../tools/soak/heap.ts';

/** In a heap of its own: that of the thread of the tests is large, and its snapshot takes a minute. */
const LEAKING = `
  const { workerData: files } = require('node:worker_threads');
  const { writeHeapSnapshot } = require('node:v8');
  class Leaked { value = Math.random(); }
  globalThis.kept = [new Leaked()];
  writeHeapSnapshot(files[0]);
  globalThis.kept.push(...Array.from({ length: 1000 }, () => new Leaked()));
  writeHeapSnapshot(files[1]);
`;

test('what is kept between two snapshots is named by its class, with how many and how much more there is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'linkspan-heap-'));
  try {
    const files = [join(folder, 'before.heapsnapshot'), join(folder, 'after.heapsnapshot')] as const;
    const [code] = (await once(new Worker(LEAKING, { eval: true, workerData: files }), 'exit')) as [number];
    expect(code).toBe(0);
    const [before, after] = files.map((file) => kindsIn(readSnapshot(file)));
    const grown = growthOf(before!, after!);
    const leaked = grown.find(({ name }) => name === 'Leaked (object)');
    expect(leaked?.count).toBe(1000);
    expect(leaked!.bytes / leaked!.count).toBeGreaterThan(15);
    expect(growthTable(grown.filter((each) => each === leaked))).toMatch(/kB +\+1000 {2}Leaked \(object\)$/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('what was given back is negative, and what is as it was is not named', () => {
  const [many, few, same] = [
    { count: 9, bytes: 900 },
    { count: 2, bytes: 200 },
    { count: 1, bytes: 8 },
  ];
  const grown = growthOf(
    new Map([
      ['A', many],
      ['B', few],
      ['C', same],
    ]),
    new Map([
      ['A', few],
      ['C', same],
      ['D', few],
    ]),
  );
  expect(grown).toEqual([
    { name: 'A', count: -7, bytes: -700 },
    { name: 'B', count: -2, bytes: -200 },
    { name: 'D', count: 2, bytes: 200 },
  ]);
});

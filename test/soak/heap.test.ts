import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeHeapSnapshot } from 'node:v8';
import { expect, test } from 'vitest';
import { growthOf, growthTable, kindsIn, readSnapshot } from '../../tools/soak/heap.ts';

class Leaked {
  readonly value = Math.random();
}

test('what is kept between two snapshots is named by its class, with how many and how much more there is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'linkspan-heap-'));
  const snapshot = () => kindsIn(readSnapshot(writeHeapSnapshot(join(folder, `${Math.random()}.heapsnapshot`))));
  try {
    const kept = [new Leaked()];
    const before = snapshot();
    kept.push(...Array.from({ length: 1_000 }, () => new Leaked()));
    const grown = growthOf(before, snapshot());
    const leaked = grown.find(({ name }) => name === 'Leaked (object)');
    expect(leaked?.count).toBe(kept.length - 1);
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

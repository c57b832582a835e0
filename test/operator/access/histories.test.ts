/** Who may come through the gateway, at every write of random histories, by a model of Linkerd's proxies. */
import { expect, it } from 'vitest';
import { play } from './histories.ts';

/** Uniform in [0, 1), the same for the same seed. */
const seeded = (seed: number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

const HISTORIES = Number(process.env['ACCESS_HISTORIES'] ?? 100);

it(`M4 refuses nothing that stays exported and lets in nothing else, at every write of ${HISTORIES} histories`, async () => {
  let writes = 0;
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const { violation, writes: made } = await play(seeded(seed));
    expect(violation, `history ${seed}`).toBeUndefined();
    writes += made;
  }
  expect(writes).toBeGreaterThan(HISTORIES * 10);
  if (process.env['ACCESS_HISTORIES'] !== undefined) console.log(`${HISTORIES} histories, ${writes} writes`);
});

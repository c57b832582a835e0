/** Draws a headless Service of many pods into a history, and what becomes of its pods; drawn after the rest of the history. */
import fc from 'fast-check';
import type { Command } from '../command.ts';
import type { History } from '../history.ts';
import { insert } from './lots.ts';

const change = fc
  .tuple(fc.constantFrom(40, 90, 150, 250), fc.constantFrom(0, 0.5, 1, 1))
  .map(([pods, part]): Command => ({ do: 'change crowd', pods, ready: Math.floor(pods * part) }));

/** Draws what is added to a history. */
export const crowded: fc.Arbitrary<(history: History) => History> = fc
  .tuple(
    fc.record({ pods: fc.constantFrom(60, 120, 250), renderMs: fc.constantFrom(0, 2, 5) }),
    fc.array(fc.tuple(fc.nat(), change), { maxLength: 4 }),
  )
  .map(([crowd, changes]) => (history: History): History => ({
    ...history,
    crowd,
    commands: insert(
      history.commands,
      changes.map(([place, what]) => [place, [what]]),
    ),
  }));

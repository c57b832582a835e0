/**
 * Draws into a history that users give our Services selectors, and what of slices says whose they are (rule C3): the source
 * cluster has pods which these select, and Kubernetes' controllers. All of it is drawn after the rest of a history, which stays as it was.
 */
import fc from 'fast-check';
import type { Command } from '../command.ts';
import type { History } from '../history.ts';
import { insert } from './lots.ts';

const edit = fc
  .record({
    index: fc.nat({ max: 7 }),
    how: fc.constantFrom(...(['selector', 'selector', 'selector', 'slice', 'unlabel', 'manager'] as const)),
  })
  .map(({ index, how }): Command => ({
    ...{ do: 'edit mirror', index, how },
    kind: how === 'selector' || how === 'slice' ? 'Service' : 'EndpointSlice',
  }));

const waiting = fc.constantFrom(5, 1_000, 4_000).map((ms): Command => ({ do: 'wait', ms }));

/** Draws what is added to a history. */
export const selectors: fc.Arbitrary<(history: History) => History> = fc
  .array(fc.tuple(fc.nat(), waiting, edit), { minLength: 3, maxLength: 8, size: 'max' })
  .map((edits) => (history: History): History => ({
    ...history,
    hasPods: true,
    commands: insert(
      history.commands,
      edits.map(([place, before, one]) => [place, [before, one]]),
    ),
  }));

/** A mirror gets a selector while its deletion is held (E6). */
const held = fc
  .record({
    index: fc.nat({ max: 15 }),
    before: fc.constantFrom(4_000, 35_000),
    after: fc.constantFrom(15_000, 60_000),
  })
  .map(({ index, before, after }): readonly Command[] => [
    { do: 'put many', link: 'west' },
    { do: 'wait', ms: 4_000 },
    { do: 'lose all', link: 'west' },
    { do: 'wait', ms: before },
    { do: 'edit mirror', kind: 'Service', index, how: 'selector' },
    { do: 'wait', ms: after },
  ]);

/** Draws what is added to a history. */
export const selectedWhileHeld: fc.Arbitrary<(history: History) => History> = fc
  .tuple(fc.nat(), held)
  .map((episode) => (history: History): History => ({
    ...history,
    hasPods: true,
    commands: insert(history.commands, [episode]),
  }));

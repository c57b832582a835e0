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

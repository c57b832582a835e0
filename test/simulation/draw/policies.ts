/** Draws into a history that Links get import policies (rules N1, N2), after the rest of it, which stays as it was. */
import fc from 'fast-check';
import type { Command } from '../command.ts';
import type { History } from '../history.ts';
import { type PolicyName, POLICIES } from '../import-policy.ts';
import { link } from './fields.ts';
import { insert } from './lots.ts';

const NAMES = Object.keys(POLICIES) as PolicyName[];

const given = fc.record({ link, value: fc.constantFrom(...NAMES) }).map(({ link: name, value }): Command => ({
  ...{ do: 'edit link', link: name },
  edit: { field: 'importPolicy', value },
}));

/** Draws what is added to a history. */
export const choosy: fc.Arbitrary<(history: History) => History> = fc
  .array(fc.tuple(fc.nat(), given), { minLength: 2, maxLength: 6, size: 'max' })
  .map((policies) => (history: History): History => ({
    ...history,
    commands: insert(
      history.commands,
      policies.map(([place, one]) => [place, [one]]),
    ),
  }));

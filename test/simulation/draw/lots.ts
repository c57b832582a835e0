/** Lots of commands that belong together, and how they are put into a history that has been drawn. */
import fc from 'fast-check';
import type { Command } from '../command.ts';

export type Lot = readonly Command[];
/** What is drawn of lots, and how often. */
export type WeightedLots = readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Lot>])[];
/** Lots, each with its place modulo the number of commands. */
export type Placed = readonly (readonly [place: number, lot: Lot])[];

/** One of these waits, in milliseconds. */
export const wait = (...ms: readonly number[]): fc.Arbitrary<Command> =>
  fc.constantFrom(...ms).map((each): Command => ({ do: 'wait', ms: each }));

export const single = (commands: fc.Arbitrary<Command>): fc.Arbitrary<Lot> => commands.map((one) => [one]);

/** Some lots, each at any place. */
export const placed = (
  happens: WeightedLots,
  { minLength, maxLength }: { readonly minLength: number; readonly maxLength: number },
): fc.Arbitrary<Placed> =>
  fc.array(fc.tuple(fc.nat(), fc.oneof(...happens.map(([weight, arbitrary]) => ({ weight, arbitrary })))), {
    ...{ minLength, maxLength },
    size: 'max',
  });

/** @param first what the history begins with, after Linkerd's controller. @default - as it began */
export function insert(commands: readonly Command[], more: Placed, first: Lot = []): readonly Command[] {
  // Linkerd's controller is there before all else.
  const begun = commands[0]?.do === 'linkerd' ? 1 : 0;
  const rest = commands
    .slice(begun)
    .flatMap((command, at, { length }) => [
      ...more.filter(([place]) => place % length === at).flatMap(([, lot]) => lot),
      command,
    ]);
  return [...commands.slice(0, begun), ...first, ...rest];
}

/** Many of a kind are lost at once, once they are there. @param loss commands of which each loses some */
export const lost = (there: Lot, loss: fc.Arbitrary<Command>): fc.Arbitrary<Lot> =>
  fc
    .array(fc.tuple(loss, wait(5, 1_000, 4_000)), { minLength: 1, maxLength: 2, size: 'max' })
    .map((each): Lot => [...there, { do: 'wait', ms: 4_000 }, ...each.flat()]);

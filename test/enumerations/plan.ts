/** Plans: what one class of the search tries, each a plain value that a thread can be given. */

/** One thing to try. */
export interface Plan {
  /** Id of its class. */
  readonly class: string;
  /** Unique in its class: what is done, as a person reads it. */
  readonly name: string;
  /** What the class makes of it. */
  readonly data: object;
}

/** A way of enumerating what may go wrong, and what must be true all the same. */
export interface PlanClass<T extends object = object> {
  readonly id: string;
  /** What is tried, and what must be true, in one line. */
  readonly about: string;
  /** All plans. May play reference runs. @returns each with its name */
  readonly list: () => Promise<readonly { readonly name: string; readonly data: T }[]>;
  /** Plays a plan. @returns what is wrong */
  readonly play: (data: T) => Promise<readonly string[]>;
  /** What to print besides the number of plans, as what was enumerated or left out. */
  readonly notes?: () => Promise<readonly string[]>;
}

/** Plans of a class, in the order of its list. */
export const plansOf = async ({ id, list }: PlanClass): Promise<readonly Plan[]> =>
  (await list()).map(({ name, data }) => ({ class: id, name, data }));

/** So many of them, spread evenly over all. */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (count >= all.length) return all;
  return Array.from({ length: count }, (_, index) => all[Math.floor(((index + 0.5) * all.length) / count)]!);
}

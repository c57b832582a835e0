/** What two lists do not share. Where most of both is the same, in the same order, hardly anything is looked at. */

export interface Changes<T> {
  readonly gone: readonly T[];
  readonly come: readonly T[];
}

/** @param before a list that has each object once, as `after` has */
export function changesOf<T>(before: readonly T[], after: readonly T[]): Changes<T> {
  if (before === after) return { gone: [], come: [] };
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from += 1;
  let [wasTo, isTo] = [before.length, after.length];
  while (wasTo > from && isTo > from && before[wasTo - 1] === after[isTo - 1]) {
    wasTo -= 1;
    isTo -= 1;
  }
  const was = new Set(before.slice(from, wasTo));
  const is = new Set(after.slice(from, isTo));
  return { gone: [...was].filter((each) => !is.has(each)), come: [...is].filter((each) => !was.has(each)) };
}

/** The known word that a misspelt one is nearest to, for "did you mean". */

/** The most alike of `known`, or undefined if none is: at most two edits of five letters apart, or one in the other. */
export const didYouMean = (word: string, known: readonly string[]): string | undefined => {
  const lower = word.toLowerCase();
  if (lower.length > LONGEST) return undefined;
  const [nearest] = known
    .map((each) => ({ each, distance: distance(lower, each.toLowerCase()) }))
    .filter(
      ({ each, distance }) => distance <= Math.max(1, each.length * TOLERANCE) || isPart(lower, each.toLowerCase()),
    )
    .sort((a, b) => a.distance - b.distance);
  return nearest?.each;
};

const TOLERANCE = 0.4;
/** Longer words are not compared: they may be foreign. */
const LONGEST = 64;
const SHORTEST_PART = 4;

const isPart = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) >= SHORTEST_PART && (a.includes(b) || b.includes(a));

/** Least number of letters to insert, delete, replace, or swap with the next. */
const distance = (a: string, b: string): number => {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
};

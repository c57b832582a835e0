/** Uniform in [0, 1). */
export type Random = () => number;

/** A small seeded generator (mulberry32): one seed, one sequence. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A generator that shares nothing with others of the seed: what one part draws changes nothing for another. */
export function randomFor(seed: number, part: string): Random {
  let mixed = seed | 0;
  for (let index = 0; index < part.length; index += 1) mixed = Math.imul(mixed ^ part.charCodeAt(index), 0x01000193);
  return randomOf(mixed);
}

/** A UUID of version 4 out of a generator. */
export function uuidOf(random: Random): string {
  const hex = (digits: number): string =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(8)}${hex(4)}`;
}

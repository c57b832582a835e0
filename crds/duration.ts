/**
 * Durations and ports written as strings, as Linkerd writes them in a Link. Durations are those of Go's
 * `time.ParseDuration` without its limit of 292 years: every caller has a lower limit.
 */

/** Nanoseconds of each unit. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['\u00b5s', 1e3], // micro sign
  ['\u03bcs', 1e3], // Greek mu
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3_600e9],
]);

/** One term of a duration: a decimal number and a unit. Each may be missing; {@link parseDuration} says which. */
const TERM = /(?<number>[0-9]*\.?[0-9]*)(?<unit>[^0-9.]*)/y;

/**
 * Milliseconds of a Go duration: terms such as `300ms`, `1.5h`, `1m30s`, with an optional sign, or `0`.
 * Units are ns, us (µs), ms, s, m and h.
 * @throws RangeError with the reason: not a duration, or a unit missing or unknown
 */
export const parseDuration = (text: string): number => {
  const terms = /^[-+]/.test(text) ? text.slice(1) : text;
  if (terms === '0') return 0;
  if (terms === '') throw new RangeError(INVALID);

  let total = 0;
  for (TERM.lastIndex = 0; TERM.lastIndex < terms.length;) total += nanoseconds(TERM.exec(terms)?.groups ?? {});
  return (text.startsWith('-') ? -total : total) / 1e6;
};

const INVALID = 'must be a valid duration';

const nanoseconds = ({ number = '', unit = '' }: Readonly<Record<string, string | undefined>>): number => {
  if (!/[0-9]/.test(number)) throw new RangeError(INVALID);
  if (unit === '') throw new RangeError('must have a unit');
  const scale = UNITS.get(unit);
  if (scale === undefined) {
    throw new RangeError(`must have units ns, us, ms, s, m or h, not ${JSON.stringify(unit.slice(0, 16))}`);
  }
  return Math.round(Number(number) * scale);
};

const MAX_PORT = 65_535;

/**
 * Port number in a text of digits.
 * @throws RangeError if it is not a whole number between 1 and 65535
 */
export const parsePort = (text: string): number => {
  const port = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  if (!(port >= 1 && port <= MAX_PORT)) throw new RangeError(`must be between 1 and ${MAX_PORT}`);
  return port;
};

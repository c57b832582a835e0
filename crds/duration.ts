/**
 * Durations and ports written as strings, as Linkerd writes them in a Link.
 * Durations follow Go's `time.ParseDuration` to the letter, down to what overflows, so that a text means here what it
 * means to Linkerd's controller.
 */

const MAX_INT64 = (1n << 63n) - 1n;
const MIN_INT64_MAGNITUDE = 1n << 63n;

const NANOSECONDS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n], // micro sign
  ['\u03bcs', 1_000n], // Greek mu
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

/** One term of a duration: digits, a fraction, a unit. Each may be missing; {@link parseDuration} says which. */
const TERM = /(?<whole>[0-9]*)(?<point>\.(?<fraction>[0-9]*))?(?<unit>[^0-9.]*)/y;

/**
 * Milliseconds of a Go duration: terms such as `300ms`, `1.5h`, `1m30s`, with an optional sign, or `0`.
 * Units are ns, us (µs), ms, s, m and h.
 * @throws RangeError with the reason: no duration, a unit missing or unknown, or over Go's ±2⁶³ ns (about 292 years)
 */
export const parseDuration = (text: string): number => {
  const negative = text.startsWith('-');
  const terms = negative || text.startsWith('+') ? text.slice(1) : text;
  if (terms === '0') return 0;
  if (terms === '') throw new RangeError('is no duration');

  let total = 0n;
  for (TERM.lastIndex = 0; TERM.lastIndex < terms.length;) {
    total += nanoseconds(TERM.exec(terms)?.groups ?? {});
    if (total > MIN_INT64_MAGNITUDE) throw new RangeError('is longer than a duration can be');
  }
  if (!negative && total > MAX_INT64) throw new RangeError('is longer than a duration can be');
  return Number(negative ? -total : total) / 1e6;
};

const nanoseconds = ({
  whole = '',
  fraction = '',
  unit = '',
}: Readonly<Record<string, string | undefined>>): bigint => {
  if (whole === '' && fraction === '') throw new RangeError('is no duration');
  if (unit === '') throw new RangeError('lacks a unit');
  const scale = NANOSECONDS.get(unit);
  if (scale === undefined) throw new RangeError(`has an unknown unit ${JSON.stringify(unit.slice(0, 16))}`);
  return BigInt(whole || '0') * scale + fractionOf(scale, fraction);
};

/** The part of a unit that a fraction's digits are: in floating point, and without digits past 63 bits, as in Go. */
const fractionOf = (scale: bigint, fraction: string): bigint => {
  let digits = 0n;
  let divisor = 1;
  for (const digit of fraction) {
    const more = digits * 10n + BigInt(digit);
    if (digits > MAX_INT64 / 10n || more > MIN_INT64_MAGNITUDE) break;
    digits = more;
    divisor *= 10;
  }
  return BigInt(Math.trunc(Number(digits) * (Number(scale) / divisor)));
};

const MAX_PORT = 65_535;

/**
 * Port number of a text of digits only.
 * @throws RangeError with the reason: no whole number, or not between 1 and 65535
 */
export const parsePort = (text: string): number => {
  if (!/^[0-9]+$/.test(text)) throw new RangeError('is no port number');
  const port = Number(text);
  if (port < 1 || port > MAX_PORT) throw new RangeError(`is not between 1 and ${MAX_PORT}`);
  return port;
};

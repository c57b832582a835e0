/** How much memory a JSON value takes, roughly: what a target makes us hold is limited by this (rule E10). */

/** What a value costs besides its text. */
const VALUE_BYTES = 16;

/**
 * Returns the bytes that a JSON value takes in memory: its texts, names of fields among them, and a bit for each value.
 */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  let bytes = VALUE_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += weightOf(item);
  else for (const [name, item] of Object.entries(value)) bytes += name.length + weightOf(item);
  return bytes;
}

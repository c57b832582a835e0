/** Parses the JSON of a server that is not trusted: text that is short enough may still take long to parse. */
import { LimitError } from './errors.ts';

/** Every value takes two characters or more, with what separates it from the next. */
const CHARACTERS_OF_A_VALUE = 2;

/**
 * Parses JSON. What takes time is the number of values: 4 MiB of small ones stall the process for more than a second,
 * and 4 MiB of a few long ones for milliseconds.
 * @param what is read, for errors
 * @param maxValues most values in it: objects, arrays, and what they hold
 * @throws LimitError if there are more, SyntaxError if it is not JSON
 */
export function parseJson<T>(text: string, what: string, maxValues: number): T {
  if (text.length / CHARACTERS_OF_A_VALUE > maxValues && countValues(text) > maxValues) {
    throw new LimitError(`${what}: an object has more than ${maxValues} values`);
  }
  return JSON.parse(text) as T;
}

/** Counts the commas and opening brackets outside of strings. */
function countValues(text: string): number {
  let values = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === 0x22) isInString = !isInString;
    else if (isInString) at += character === 0x5c ? 1 : 0;
    else if (character === 0x2c || character === 0x5b || character === 0x7b) values += 1;
  }
  return values;
}

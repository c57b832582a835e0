/**
 * A plausible defect of the operator: a small edit of one file that breaks one rule, and the tests that must fail for
 * it. The edit is found by its text, so that it fails loudly when the code has moved on.
 */

export interface Defect {
  /** What the operator does wrong, in one sentence. */
  readonly name: string;
  /** The file that it is in, from the root of the repository. */
  readonly file: string;
  /** Id of the rule in docs/behaviour.md that it breaks; none for what only costs time, memory or sense. */
  readonly rule?: string;
  /** The code that is replaced. It must be in the file exactly once; white space does not count. */
  readonly find: string;
  readonly replace: string;
  /** The test files that must see it, fewest and fastest first. */
  readonly tests: readonly string[];
}

/**
 * The text of the file with the defect in it.
 * @throws Error if the code to replace is not in the text exactly once
 */
export function withDefect({ name, file, find, replace }: Defect, text: string): string {
  const found = [...text.matchAll(new RegExp(patternOf(find), 'g'))];
  const [only] = found;
  if (only === undefined || found.length > 1) {
    throw new Error(`"${name}": ${file} contains the code to replace ${found.length} times, not once: ${find}`);
  }
  return text.slice(0, only.index) + replace + text.slice(only.index + only[0].length);
}

const patternOf = (code: string): string =>
  Array.from(code.replaceAll(/\s/g, ''), (character) => character.replace(/[.*+?^${}()|[\]\\]/, '\\$&')).join('\\s*');

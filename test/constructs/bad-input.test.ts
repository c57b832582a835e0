/** No bad input passes in silence, and none fails in words of the runtime: the tables of docs/bad-input.md. */
import { describe, expect, test } from 'vitest';
import { FILES, saidOfCode, saidOfFile, TYPED, UNTYPED } from '../release/docs/bad-props.ts';

test('there are 120 bad inputs and more, of each kind many', () => {
  expect(TYPED.length + UNTYPED.length + FILES.length).toBeGreaterThanOrEqual(120);
});

describe.each([
  ['TypeScript lets pass', TYPED, saidOfCode],
  ['plain JavaScript lets pass', UNTYPED, saidOfCode],
  ['is in a cluster file', FILES, saidOfFile],
] as const)('what %s is refused in words of the user', (_, inputs, said) => {
  test.each(inputs)('$input', ({ input, expected }) => {
    const message = said(input);
    expect(message).toContain(expected);
    expect(message).not.toMatch(/TypeError|undefined \(reading|is not a function|is not iterable/);
  });
});

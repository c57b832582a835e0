/** No bad input passes in silence, and none fails with an error of the runtime: the tables of docs/bad-input.md. */
import { describe, expect, test } from 'vitest';
import { FILES, messageForCode, messageForFile, TYPED, UNTYPED } from '../release/docs/bad-props.ts';

test('there are at least 120 bad inputs', () => {
  expect(TYPED.length + UNTYPED.length + FILES.length).toBeGreaterThanOrEqual(120);
});

describe.each([
  ['TypeScript lets pass', TYPED, messageForCode],
  ['plain JavaScript lets pass', UNTYPED, messageForCode],
  ['is in a cluster file', FILES, messageForFile],
] as const)('what %s is refused with a message for users', (_, inputs, messageFor) => {
  test.each(inputs)('$input', ({ input, expected }) => {
    const message = messageFor(input);
    expect(message).toContain(expected);
    expect(message).not.toMatch(/TypeError|undefined \(reading|is not a function|is not iterable/);
  });
});

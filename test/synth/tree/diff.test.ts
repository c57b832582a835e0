import { expect, it } from 'vitest';

import { unifiedDiff } from '../../../synth/tree/diff.ts';

const text = (...lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

it('nothing is said of a file that stays as it is', () => {
  expect(unifiedDiff('a', text('1'), text('1'))).toBe('');
});

it('a change stands between three lines of what is around it', () => {
  expect(
    unifiedDiff(
      'f',
      text('1', '2', '3', '4', 'x', '6', '7', '8', '9'),
      text('1', '2', '3', '4', 'y', 'z', '6', '7', '8', '9'),
    ),
  ).toBe(text('--- a/f', '+++ b/f', '@@ -2,7 +2,8 @@', ' 2', ' 3', ' 4', '-x', '+y', '+z', ' 6', ' 7', ' 8'));
});

it('a repeated line that is added or taken is counted once', () => {
  expect(unifiedDiff('f', text('a', 'a'), text('a', 'a', 'a'))).toBe(
    text('--- a/f', '+++ b/f', '@@ -1,2 +1,3 @@', ' a', ' a', '+a'),
  );
});

it('a new file and a removed one have nothing on the other side', () => {
  expect(unifiedDiff('f', undefined, text('1'))).toBe(text('--- /dev/null', '+++ b/f', '@@ -0,0 +1,1 @@', '+1'));
  expect(unifiedDiff('f', text('1'), undefined)).toBe(text('--- a/f', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-1'));
});

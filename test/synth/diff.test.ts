import { expect, it } from 'vitest';

import { unifiedDiff } from '../../synth/diff.ts';

const text = (...lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

it('is empty for a file that stays as it is', () => {
  expect(unifiedDiff('a', text('1'), text('1'))).toBe('');
});

it('shows three lines around a change', () => {
  expect(
    unifiedDiff(
      'f',
      text('1', '2', '3', '4', 'x', '6', '7', '8', '9'),
      text('1', '2', '3', '4', 'y', 'z', '6', '7', '8', '9'),
    ),
  ).toBe(text('--- a/f', '+++ b/f', '@@ -2,7 +2,8 @@', ' 2', ' 3', ' 4', '-x', '+y', '+z', ' 6', ' 7', ' 8'));
});

it('counts a repeated line that is added once', () => {
  expect(unifiedDiff('f', text('a', 'a'), text('a', 'a', 'a'))).toBe(
    text('--- a/f', '+++ b/f', '@@ -1,2 +1,3 @@', ' a', ' a', '+a'),
  );
});

it('has nothing on the other side of a new file, and of a removed one', () => {
  expect(unifiedDiff('f', undefined, text('1'))).toBe(text('--- /dev/null', '+++ b/f', '@@ -0,0 +1,1 @@', '+1'));
  expect(unifiedDiff('f', text('1'), undefined)).toBe(text('--- a/f', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-1'));
});

it('has a hunk for each of two changes that are far apart', () => {
  const around = ['1', '2', '3', '4', '5', '6', '7', '8'];
  expect(unifiedDiff('f', text('a', ...around, 'b'), text('x', ...around, 'y'))).toBe(
    text(
      ...['--- a/f', '+++ b/f', '@@ -1,4 +1,4 @@', '-a', '+x', ' 1', ' 2', ' 3'],
      ...['@@ -7,4 +7,4 @@', ' 6', ' 7', ' 8', '-b', '+y'],
    ),
  );
});

import { expect, test } from 'vitest';
import { type Column, tableText } from '../../../../synth/commands/common/table.ts';

interface Gate {
  readonly cluster: string;
  readonly note: string;
}
const COLUMNS: readonly Column<Gate>[] = [
  { heading: 'CLUSTER', value: ({ cluster }) => cluster },
  { heading: 'NOTE', value: ({ note }) => note, isWide: true },
];

test('align columns, leave no blank at the end of a line, and mark what has no value', () => {
  const rows = [
    { cluster: 'a-long-name', note: '' },
    { cluster: 'west', note: 'b' },
  ];
  expect(tableText(rows, COLUMNS, 'wide')).toBe(
    ['CLUSTER       NOTE', 'a-long-name   <none>', 'west          b', ''].join('\n'),
  );
});

test('show wide columns only when asked', () => {
  expect(tableText([{ cluster: 'west', note: 'b' }], COLUMNS)).toBe('CLUSTER\nwest\n');
});

test('print the headings of an empty table', () => {
  expect(tableText([], COLUMNS)).toBe('CLUSTER\n');
});

test('print as many rows as a cluster has Services (L214)', () => {
  const rows = Array.from({ length: 150_000 }, () => ({ cluster: 'west', note: '' }));
  expect(tableText(rows, COLUMNS)).toHaveLength('CLUSTER\n'.length + rows.length * 'west\n'.length);
});

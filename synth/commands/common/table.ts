/** Tables, as kubectl prints them: headings in capitals, columns three spaces apart, no line longer than it must be. Pure. */

/** One column of a table of `Row`s. */
export interface Column<Row> {
  /** In capitals. */
  readonly heading: string;
  readonly value: (row: Row) => string;
  /** Shown by `-o wide` alone. */
  readonly isWide?: true;
}

/** What a cell without a value shows. */
export const NO_VALUE = '<none>';

/** The table, a line for each row; headings alone if there is no row. Values must have no control characters. */
export const tableText = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  format: 'table' | 'wide' = 'table',
): string => {
  const shown = columns.filter(({ isWide }) => format === 'wide' || !isWide);
  const lines = [shown.map(({ heading }) => heading), ...rows.map((row) => shown.map(({ value }) => value(row)))].map(
    (line) => line.map((cell) => (cell === '' ? NO_VALUE : cell)),
  );
  const widths = shown.map((_, index) => lines.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), 0));
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd((widths[index] ?? 0) + GAP))
        .join('')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
};

/** Spaces between two columns. */
const GAP = 3;

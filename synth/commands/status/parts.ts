/** What the parts of a status are printed with. Pure. */
import type { LinkCondition } from '../common/link-status.ts';
import { type Column, tableText } from '../common/table.ts';

/** A table, unless it would be empty. */
export const parts = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  format: 'table' | 'wide',
): readonly string[] => (rows.length === 0 ? [] : [tableText(rows, columns, format)]);

/** Rows of a table that grows with the cluster, unless it is printed by `-o wide`. */
const MAX_ROWS = 50;

/** The same of a table that grows with the cluster: a line after it says how many rows are left out. */
export const boundedParts = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  format: 'table' | 'wide',
): readonly string[] => {
  const left = format === 'wide' ? 0 : rows.length - MAX_ROWS;
  if (left <= 0) return parts(rows, columns, format);
  return parts(rows.slice(0, MAX_ROWS), columns, format).map(
    (text) => `${text}… and ${left} more, which -o wide lists\n`,
  );
};

/** A condition as `-o json` and `-o yaml` have it. */
export const shown = ({ observedGeneration: _, ...condition }: LinkCondition): object => condition;

/** A condition of an object that is not as it should be. */
export interface FindingRow extends LinkCondition {
  readonly object: string;
}

/** Columns of what is not as it should be. */
export const findingColumns = (heading: string): readonly Column<FindingRow>[] => [
  { heading, value: ({ object }) => object },
  { heading: 'CONDITION', value: ({ type, status }) => `${type}=${status}` },
  { heading: 'REASON', value: ({ reason }) => reason },
  { heading: 'MESSAGE', value: ({ message }) => message },
];

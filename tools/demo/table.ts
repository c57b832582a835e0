/**
 * The Table that an API server makes for kubectl, laid out as kubectl lays it out: columns three blanks apart, headings
 * in capitals, nothing that only `-o wide` would show.
 */

/** `meta.k8s.io/v1` Table, as far as it is printed. */
export interface ServerTable {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows?: readonly { readonly cells: readonly (string | number | boolean | null)[] }[] | null;
}

/** What an API server must be asked to accept, to answer with a {@link ServerTable}. */
export const TABLE_TYPE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** Rows of a table, by heading: `{ NAME: 'nginx-svc', … }`. */
export type Row = Readonly<Record<string, string>>;

const GAP = 3;
const NARROWEST = 6;

/** The rows, with the columns that kubectl shows by default, in their order. */
export const rowsOf = ({ columnDefinitions, rows }: ServerTable): readonly Row[] =>
  (rows ?? []).map(({ cells }) =>
    Object.fromEntries(
      columnDefinitions.flatMap(({ name, priority }, index) =>
        priority === 0 ? [[name.toUpperCase(), String(cells[index] ?? '')] as const] : [],
      ),
    ),
  );

/** The lines, heading first; none if there are no rows. */
export const layOut = (rows: readonly Row[]): readonly string[] => {
  const headings = Object.keys(rows[0] ?? {});
  const lines = [headings, ...rows.map((row) => Object.values(row))];
  const widths = headings.map((_, index) => {
    const longest = Math.max(...lines.map((cells) => cells[index]!.length));
    return Math.max(NARROWEST, longest + GAP);
  });
  return headings.length === 0
    ? []
    : lines.map((cells) =>
        cells.map((cell, index) => (index === cells.length - 1 ? cell : cell.padEnd(widths[index]!))).join(''),
      );
};

/** What stands under NAME. */
export const names = (rows: readonly Row[]): readonly string[] => rows.map(({ NAME }) => NAME ?? '');

/** Whether two lists have the same entries in the same order. */
export const isSame = (some: readonly string[], others: readonly string[]): boolean => some.join() === others.join();

/** Whether the rows have these names, in this order, and there are no others. */
export const isJust = (rows: readonly Row[], wanted: readonly string[]): boolean => isSame(names(rows), wanted);

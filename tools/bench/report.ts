/** What a measurement came to, beside its goal: as a table for people, or as JSON. */
import { styleText } from 'node:util';

export interface Row {
  readonly measure: string;
  readonly value: number;
  /** `s`, `ms`, `MB`, `kB`, `×`, or nothing for a count. */
  readonly unit: string;
  /** The most that is aimed at; a row without one is there to explain another. */
  readonly goal?: number;
}

export const isOver = ({ value, goal }: Row): boolean => goal !== undefined && value > goal;

const figure = (value: number, unit: string): string => {
  const digits = Number.isInteger(value) ? 0 : Math.abs(value) < 100 ? 2 : 0;
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`;
};

/** One line a row; those over their goal stand out. */
export const table = (rows: readonly Row[]): string => {
  const cells = rows.map((row) => [
    row.measure,
    figure(row.value, row.unit),
    row.goal === undefined ? '' : `≤ ${figure(row.goal, row.unit)}`,
    row.goal === undefined ? '' : isOver(row) ? 'over' : 'ok',
  ]);
  const widths = ['', '', '', ''].map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells
    .map(([measure = '', value = '', goal = '', verdict = '']) =>
      [
        measure.padEnd(widths[0] ?? 0),
        value.padStart(widths[1] ?? 0),
        goal.padEnd(widths[2] ?? 0),
        verdict === 'over' ? styleText('red', verdict) : verdict,
      ]
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** The value that a fraction of the sample is not above; of an empty sample, NaN. */
export const percentile = (sample: readonly number[], fraction: number): number =>
  [...sample].sort((a, b) => a - b)[Math.max(0, Math.ceil(sample.length * fraction) - 1)] ?? Number.NaN;

/** The operator's flags as a Markdown table, made of the table that drives the command line, so that neither can drift. */
import { envOf, OPERATOR_FLAGS } from '../../../operator/index.ts';

const HEAD = ['flag', 'default', 'variable', 'what it does'];

/** The table, columns padded as prettier pads them. */
export function flagsTable(): string {
  const rows = Object.values(OPERATOR_FLAGS).map(({ flag, argument, negatable, ...rest }) => [
    `\`${flag}${argument === undefined ? '' : ` ${argument}`}\`${negatable ? `, \`${flag.replace('--', '--no-')}\`` : ''}`,
    rest.defaultDescription ?? (rest.default === undefined ? '' : `\`${rest.default}\``),
    `\`${envOf({ flag })}\``,
    rest.description,
  ]);
  const widths = HEAD.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(HEAD), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** The operator's flags as a Markdown table, made of the table of settings that makes the flags, so that neither drifts. */
import { flagOf, variableOf } from '../../../crds/operator-setting-names.ts';
import { operatorSettings } from '../../../crds/operator-settings.ts';

const HEAD = ['flag', 'default', 'variable', 'what it does'];

/** The table, columns padded as prettier pads them. */
export function flagsTable(): string {
  const rows = operatorSettings.map(([name, { argument, negatable, text, ...rest }]) => {
    const flag = flagOf(name);
    return [
      `\`${flag}${argument === undefined ? '' : ` ${argument}`}\`${negatable ? `, \`${flag.replace('--', '--no-')}\`` : ''}`,
      rest.default ? `\`${rest.default}\`` : (rest.derived ?? rest.unset ?? 'none'),
      `\`${variableOf(name)}\``,
      text,
    ];
  });
  const widths = HEAD.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(HEAD), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

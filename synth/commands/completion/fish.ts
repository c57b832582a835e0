/** Completion for fish. Pure. */
import { CONTEXTS } from './contexts.ts';
import { allOf, type Flag, type Grammar, type Operand } from './grammar.ts';

export const fishScript = (grammar: Grammar): string => {
  const program = grammar.path[0] ?? '';
  const lines = allOf(grammar).flatMap((each) => [...commandLines(each), ...operandLines(each), ...flagLines(each)]);
  return [
    `# Completion of ${program} for fish:  ${program} completion fish | source`,
    `complete -c ${program} -f`,
    ...lines.map((line) => `complete -c ${program} ${line}`),
    '',
  ].join('\n');
};

/** Whether the words before the cursor are this command, and none below it. */
const conditionOf = ({ path, commands }: Grammar): string => {
  const [, ...above] = path;
  const seen = above.map((name) => `__fish_seen_subcommand_from ${name}`);
  const below = commands.map((each) => each.path.at(-1)).join(' ');
  const parts = [...seen, ...(below === '' ? [] : [`not __fish_seen_subcommand_from ${below}`])];
  return `-n ${quoted(parts.length === 0 ? 'true' : parts.join('; and '))}`;
};

const commandLines = (grammar: Grammar): readonly string[] =>
  grammar.commands.map(
    ({ path, description }) => `${conditionOf(grammar)} -a ${path.at(-1) ?? ''} -d ${quoted(description)}`,
  );

const operandLines = (grammar: Grammar): readonly string[] =>
  grammar.operand === undefined ? [] : [`${conditionOf(grammar)}${valuesOf(grammar.operand)}`];

const flagLines = (grammar: Grammar): readonly string[] =>
  grammar.flags.map((flag) =>
    [conditionOf(grammar), ...flag.names.map(nameOf), takes(flag), `-d ${quoted(flag.description)}`]
      .filter((part) => part !== '')
      .join(' '),
  );

const nameOf = (name: string): string => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`);

/** An operand that may be left out comes after a `=`, which fish completes by itself. */
const takes = ({ operand, isOptional }: Flag): string => {
  if (operand === undefined) return '';
  const isNeeded = isOptional ? '' : operand === 'file' ? '-r' : '-x';
  return `${isNeeded}${valuesOf(operand)}`.trim();
};

const valuesOf = (operand: Operand): string => {
  if (operand === 'file') return ' -F';
  if (operand === 'context') return ` -a ${quoted(`(${CONTEXTS})`)}`;
  return operand === 'unknown' ? '' : ` -a ${quoted(operand.join(' '))}`;
};

/** Text in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

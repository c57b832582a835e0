/** Completion for zsh. Pure. */
import { CONTEXTS } from './contexts.ts';
import { allOf, type Flag, type Grammar, type Operand } from './grammar.ts';

export const zshScript = (grammar: Grammar): string => {
  const program = grammar.path[0] ?? '';
  return `#compdef ${program}
# Completion of ${program} for zsh:  ${program} completion zsh > "\${fpath[1]}/_${program}"
_${program}_contexts() {
  local -a contexts
  contexts=(\${(f)"$(${CONTEXTS})"})
  compadd -a contexts
}
${allOf(grammar)
  .toReversed()
  .map((each) => functionOf(each, program))
  .join('')}
if [[ $funcstack[1] == _${program} ]]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
};

const nameOf = ({ path }: Grammar): string => `_${path.join('_').replaceAll('-', '_')}`;

const functionOf = (grammar: Grammar, program: string): string => {
  const { flags, operand, commands } = grammar;
  const specs = flags.flatMap((flag) => specsOf(flag, program));
  if (commands.length === 0) {
    const own = operand === undefined ? [] : [quoted(`1: :${action(operand, program)}`)];
    return `${nameOf(grammar)}() {\n  _arguments -S ${[...specs, ...own].join(' \\\n    ')}\n}\n`;
  }
  const described = commands.map(({ path, description }) => quoted(`${path.at(-1) ?? ''}:${description}`));
  return `${nameOf(grammar)}() {
  local line state
  local -a commands
  commands=(
    ${described.join('\n    ')}
  )
  _arguments -S -C ${[...specs, quoted('1: :->command'), quoted('*:: :->rest')].join(' \\\n    ')}
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
${commands.map((each) => `        ${each.path.at(-1) ?? ''}) ${nameOf(each)} ;;`).join('\n')}
      esac ;;
  esac
}
`;
};

/** An option as `_arguments` has it; each may be repeated, which the program refuses where it must not be. */
const specsOf = ({ names, description, operand, isOptional }: Flag, program: string): readonly string[] =>
  names.map((name) => {
    const takes = operand === undefined ? '' : name.startsWith('--') ? (isOptional ? '=-' : '=') : '+';
    const what = operand === undefined ? '' : `${isOptional ? '::' : ':'} :${action(operand, program)}`;
    return quoted(`*${name}${takes}[${description.replaceAll(/[[\]\\:]/g, '\\$&')}]${what}`);
  });

const action = (operand: Operand, program: string): string => {
  if (operand === 'file') return '_files';
  if (operand === 'context') return `_${program}_contexts`;
  return operand === 'unknown' ? ' ' : `(${operand.join(' ')})`;
};

/** Text in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

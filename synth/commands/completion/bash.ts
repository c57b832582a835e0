/**
 * Completion for bash, from 3.2 on. Pure. Names of contexts and files are what others wrote, so none of them is evaluated:
 * they are read line by line (`compgen -W` would expand them), and contexts are quoted for the command line.
 */
import { allOf, type Grammar, type Operand } from './grammar.ts';
import { CONTEXTS } from './contexts.ts';

export const bashScript = (grammar: Grammar): string => {
  const all = allOf(grammar);
  const program = grammar.path[0] ?? '';
  return `# Completion of ${program} for bash:  source <(${program} completion bash)
_${program}() {
  local word quoted path=${program} current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} operand=
  COMPREPLY=()
  # Bash takes the = of an option for a word of its own.
  if [[ $current == = ]]; then current=; else [[ $previous == = ]] && previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${alternatives(all.filter(({ path }) => path.length > 1).map(({ path }) => path.join(' ')))}) path="$path $word" ;;
    esac
  done
  case "$path $previous" in
${all.flatMap(operandCases).join('\n')}
  esac
  case $operand in
    file)
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
      compopt -o filenames 2>/dev/null
      return ;;
    context)
      while IFS= read -r word; do
        printf -v quoted %q "$word"
        if [[ $word == "$current"* || $quoted == "$current"* ]]; then COMPREPLY+=("$quoted"); fi
      done < <(${CONTEXTS})
      return ;;
    unknown) return ;;
    ?*) COMPREPLY=($(compgen -W "$operand" -- "$current")); return ;;
  esac
  case "$path" in
${all.map(wordsCase).join('\n')}
  esac
}
complete -F _${program} ${program}
`;
};

/** A pattern that matches each of these words, which no glob is in. */
const alternatives = (words: readonly string[]): string => words.map((word) => `'${word}'`).join('|');

const operandCases = ({ path, flags }: Grammar): readonly string[] =>
  flags.flatMap(({ names, operand, isOptional }) => {
    if (operand === undefined) return [];
    const patterns = alternatives(names.map((name) => `${path.join(' ')} ${name}`));
    // The operand of --gateway comes after a =, else the next word is an option.
    const guard = isOptional ? '[[ ${COMP_WORDS[COMP_CWORD]} == = || ${COMP_WORDS[COMP_CWORD-1]} == = ]] && ' : '';
    return [`    ${patterns}) ${guard}operand='${text(operand)}' ;;`];
  });

const text = (operand: Operand): string => (typeof operand === 'string' ? operand : operand.join(' '));

/** Options after a dash, else commands and operands. */
const wordsCase = ({ path, flags, operand, commands }: Grammar): string => {
  const options = flags.flatMap(({ names }) => names.filter((name) => name.startsWith('--')));
  const words = [...commands.map((command) => command.path.at(-1)), ...(typeof operand === 'object' ? operand : [])];
  const usual = words.length === 0 ? options : words;
  return [
    `    '${path.join(' ')}')`,
    `      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '${options.join(' ')}' -- "$current"))`,
    `      else COMPREPLY=($(compgen -W '${usual.join(' ')}' -- "$current")); fi ;;`,
  ].join('\n');
};

/** What can be typed after `linkspan`, as shells complete it: made of the commander program, so that it never lags behind. */
import type { Command, Option } from 'commander';

/** What comes after an option: one of some words, a file, a context of the kubeconfig, or what no shell knows. */
export type Operand = readonly string[] | 'file' | 'context' | 'unknown';

/** One option of a command. */
export interface Flag {
  /** `-o`, `--output`: one or both. */
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for a switch. */
  readonly operand: Operand | undefined;
  /** Whether the operand may be left out, as of `--gateway`; it then comes after a `=`. */
  readonly isOptional: boolean;
}

/** One command, with those below it. */
export interface Grammar {
  /** From the program on: `['linkspan', 'install']`. */
  readonly path: readonly string[];
  readonly description: string;
  readonly flags: readonly Flag[];
  /** What comes after the command itself. */
  readonly operand: Operand | undefined;
  readonly commands: readonly Grammar[];
}

/** Reads a program. */
export const grammarOf = (command: Command, above: readonly string[] = []): Grammar => {
  const help = command.createHelp();
  const path = [...above, command.name()];
  return {
    path,
    description: command.description(),
    flags: help.visibleOptions(command).map(flagOf),
    operand: command.registeredArguments[0]?.argChoices,
    commands: command.commands.map((each) => grammarOf(each, path)),
  };
};

/** A command and all below it. */
export const allOf = (grammar: Grammar): readonly Grammar[] => [grammar, ...grammar.commands.flatMap(allOf)];

const flagOf = (option: Option): Flag => ({
  names: [option.short, option.long].filter((name) => name !== undefined),
  description: option.description,
  operand: option.required || option.optional ? operandOf(option) : undefined,
  isOptional: option.optional,
});

const operandOf = ({ argChoices, flags, long = '' }: Option): Operand => {
  if (argChoices !== undefined) return argChoices;
  if (/[[<]true\|false[\]>]/.test(flags)) return ['true', 'false'];
  if (/[[<](file|dir)[\]>]/i.test(flags)) return 'file';
  return /^--(to-|source-)?context$/.test(long) ? 'context' : 'unknown';
};

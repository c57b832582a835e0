/** The argument of `linkspan completion`. */
import { Argument, type Command } from 'commander';

/** Shells for which there is completion. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** Adds the argument. */
export const addCompletionArgument = (command: Command): Command =>
  command.addArgument(new Argument('<shell>', 'the shell that reads the script').choices(SHELLS));

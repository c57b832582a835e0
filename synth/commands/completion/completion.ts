/**
 * `linkspan completion`: prints a script by which a shell completes commands, options, their choices, and contexts. The
 * script holds all that can be typed, so that no key press starts the program; only contexts are asked of kubectl.
 */
import type { Command } from 'commander';
import { print } from '../../print.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { grammarOf } from './grammar.ts';
import type { Shell } from './flags.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies Record<Shell, unknown>;

/** Prints the script for a shell. */
export const completion = (program: Command, shell: Shell): Promise<void> => print(SCRIPTS[shell](grammarOf(program)));

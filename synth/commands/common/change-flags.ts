/**
 * Options of a command that compares what it wants with what is there: it prints the differences or manifests, or writes
 * with `--apply`. Printing help loads this file: it imports commander and no more.
 */
import { type Command, Option } from 'commander';

/** What such a command takes besides its own. */
export interface ChangeFlags {
  readonly apply?: true;
  readonly forceConflicts?: true;
  readonly output?: 'yaml' | 'json' | 'diff';
}

/** Adds `--apply`, `--force-conflicts` and `--output`. */
export const addChangeFlags = (command: Command, without: string): Command =>
  command
    .option('--apply', `write to the clusters; without it, ${without}`)
    .option('--force-conflicts', 'change also what others have set to another value')
    .addOption(
      new Option('-o, --output <format>', 'format of what is printed (default: diff on a terminal, else yaml)').choices(
        ['yaml', 'json', 'diff'],
      ),
    );

/** The format of manifests; undefined where the differences are printed instead, as people read them. */
export const manifestFormat = ({ output }: ChangeFlags): 'yaml' | 'json' | undefined => {
  if (output !== undefined) return output === 'diff' ? undefined : output;
  return process.stdout.isTTY ? undefined : 'yaml';
};

/** The format of what has become of objects; undefined for a line for each. */
export const resultFormat = ({ output }: ChangeFlags): 'yaml' | 'json' | undefined =>
  output === 'diff' ? undefined : output;

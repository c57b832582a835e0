/** The options of `linkspan check`. */
import { type Command, Option } from 'commander';
import { addClusterFlags, type ClusterFlags, timeoutOption } from '../common/flags.ts';

/** Flags of `linkspan check`. */
export interface CheckFlags extends ClusterFlags {
  readonly pre?: true;
  readonly link?: string;
  readonly output: 'table' | 'json';
  readonly wait?: true;
  /** In milliseconds. */
  readonly timeout: number;
}

/** Adds the flags of `linkspan check`. */
export const addCheckFlags = (command: Command): Command =>
  addClusterFlags(command)
    .option('--pre', 'check whether the extension can be installed')
    .option('--link <name>', 'check this Link alone')
    .addOption(
      new Option('-o, --output <format>', 'format of what is printed').choices(['table', 'json']).default('table'),
    )
    .option('--wait', 'check again until nothing is wrong')
    .addOption(timeoutOption('how long to wait'));

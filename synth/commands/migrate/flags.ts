/** The options of `linkspan migrate`. */
import type { Command } from 'commander';
import { addClusterFlags, type ClusterFlags, type ReportFormat, reportOption, timeoutOption } from '../common/flags.ts';

/** Flags of `linkspan migrate`. */
export interface MigrateFlags extends ClusterFlags {
  readonly apply?: true;
  readonly back?: true;
  readonly acceptChanges?: true;
  /** In milliseconds, for each step. */
  readonly timeout: number;
  readonly output: ReportFormat;
}

/** Adds the flags of `linkspan migrate`. */
export const addMigrateFlags = (command: Command): Command =>
  addClusterFlags(command.argument('[link]', 'the Link (default: all of them, one after the other)'))
    .option('--apply', 'do it; without it, show what would be done')
    .option('--back', "hand the Links back to Linkerd's controllers")
    .option('--accept-changes', 'go on although the operator would change mirrors')
    .addOption(timeoutOption('how long to wait in each step'))
    .addOption(reportOption());

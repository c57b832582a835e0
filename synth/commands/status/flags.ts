/** The options of `linkspan status`. */
import type { Command } from 'commander';
import { addClusterFlags, type ClusterFlags, type ReportFormat, reportOption } from '../common/flags.ts';

/** Flags of `linkspan status`. */
export interface StatusFlags extends ClusterFlags {
  readonly watch?: true;
  readonly output: ReportFormat;
}

/** Adds the flags of `linkspan status`. */
export const addStatusFlags = (command: Command): Command =>
  addClusterFlags(command)
    .option('-w, --watch', 'print again whenever anything has changed, until interrupted')
    .addOption(reportOption());

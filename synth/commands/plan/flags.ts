/** The options of `linkspan plan`. */
import type { Command } from 'commander';
import { addClusterFlags, type ClusterFlags, type ReportFormat, reportOption } from '../common/flags.ts';

/** Flags of `linkspan plan`. */
export interface PlanFlags extends ClusterFlags {
  readonly file: string;
  readonly toContext?: string;
  readonly toKubeconfig?: string;
  readonly sourceDump?: string;
  readonly targetDump?: string;
  readonly output: ReportFormat;
}

/** Adds the flags of `linkspan plan`. */
export const addPlanFlags = (command: Command): Command =>
  addClusterFlags(command.requiredOption('-f, --file <file>', 'Links, and their Secrets if they are new'))
    .option('--to-context <name>', "context of the target (default: by the Link's credentials)")
    .option('--to-kubeconfig <file>', 'kubeconfig of the target (default: that of the source)')
    .option('--source-dump <path>', 'manifests of the source, in a file or folder, instead of a cluster')
    .option('--target-dump <path>', 'manifests of the target, in a file or folder, instead of a cluster')
    .addOption(reportOption());

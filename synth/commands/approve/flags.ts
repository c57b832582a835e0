/** The options of `linkspan approve`. */
import type { Command } from 'commander';
import { addClusterFlags, type ClusterFlags } from '../common/flags.ts';

/** Flags of `linkspan approve`. */
export interface ApproveFlags extends ClusterFlags {
  /** Name of the Link. */
  readonly from: string;
  readonly existing?: true;
  readonly dryRun?: true;
  readonly forceConflicts?: true;
}

/** Adds the flags of `linkspan approve`. */
export const addApproveFlags = (command: Command): Command =>
  addClusterFlags(
    command
      .argument('[services...]', "Services of the target, as shop/web, or patterns, as 'shop/*'")
      .requiredOption('--from <link>', 'name of the Link'),
  )
    .option('--existing', 'approve also what has been made of Services of the target by now')
    .option('--dry-run', 'write nothing; say what would be approved')
    .option('--force-conflicts', 'write also a list that other software keeps');

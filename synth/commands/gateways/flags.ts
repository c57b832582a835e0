/** The options of `linkspan gateways`: those of `linkerd multicluster gateways`, and more formats. */
import type { Command } from 'commander';
import {
  addClusterFlags,
  addNotTaken,
  type ClusterFlags,
  type ReportFormat,
  reportOption,
  waitOption,
} from '../common/flags.ts';

/** Flags of `linkspan gateways`. */
export interface GatewaysFlags extends ClusterFlags {
  readonly clusterName?: string;
  /** In milliseconds. */
  readonly wait: number;
  readonly output: ReportFormat;
}

/** Adds the flags of `linkspan gateways`. */
export const addGatewaysFlags = (command: Command): Command =>
  addNotTaken(
    addClusterFlags(command.option('--cluster-name <name>', 'the target cluster whose gateway is shown (default: all)'))
      .addOption(waitOption('how long the operator may take to answer'))
      .addOption(reportOption()),
  );

/** The options of `linkspan check`. */
import { type Command, Option } from 'commander';
import { addClusterFlags, type ClusterFlags, listOf, timeoutOption } from '../common/flags.ts';

/** Flags of `linkspan check`. */
export interface CheckFlags extends ClusterFlags {
  readonly pre?: true;
  readonly link?: string;
  readonly gatewayAccess?: true;
  /** Files with metrics of the gateway's proxies. */
  readonly gatewayMetrics?: readonly string[];
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
    .option('--gateway-access', 'in a cluster that exports: who uses its gateway, and what closing it would refuse')
    .option(
      '--gateway-metrics <file>',
      'metrics of its proxies, as linkerd diagnostics proxy-metrics prints them; may be repeated (default: they are asked)',
      listOf,
    )
    .addOption(
      new Option('-o, --output <format>', 'format of what is printed').choices(['table', 'json']).default('table'),
    )
    .option('--wait', 'check again until nothing is wrong')
    .addOption(timeoutOption('how long to wait'));

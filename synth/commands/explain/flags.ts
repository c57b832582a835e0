/** The options of `linkspan explain`. */
import { type Command, Option } from 'commander';
import { addNamespaceFlags, type ClusterFlags } from '../common/flags.ts';

/** Flags of `linkspan explain`. */
export interface ExplainFlags extends ClusterFlags {
  readonly toContext?: string;
  readonly toKubeconfig?: string;
  readonly name?: string;
  readonly output: 'table' | 'json' | 'yaml';
}

/** Adds the flags of `linkspan explain`. */
export const addExplainFlags = (command: Command): Command =>
  addNamespaceFlags(
    command
      .option('--kubeconfig <file>', 'kubeconfig of the source (default: as kubectl finds it)')
      .option('--context <name>', 'context of the source, which has the mirror (default: the current context)')
      .option(
        '--to-context <name>',
        'context of the target, which has the Service; without it, the source alone is read',
      )
      .option('--to-kubeconfig <file>', 'kubeconfig of the target (default: that of the source)')
      .option('--name <cluster>', 'name of the target cluster (default: the context of the target)'),
  ).addOption(
    new Option('-o, --output <format>', 'format of what is printed')
      .choices(['table', 'json', 'yaml'])
      .default('table'),
  );

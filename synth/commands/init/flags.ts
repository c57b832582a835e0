/** The options of `linkspan init`. */
import type { Command } from 'commander';
import { addNamespaceFlags, type ClusterFlags } from '../common/flags.ts';

/** Flags of `linkspan init`. */
export interface InitFlags extends Omit<ClusterFlags, 'context'> {
  readonly context?: readonly string[];
  readonly file: string;
  readonly image?: string;
}

/** Adds the flags of `linkspan init`. */
export const addInitFlags = (command: Command): Command =>
  addNamespaceFlags(
    command
      .option('--kubeconfig <file>', 'kubeconfig (default: as kubectl finds it)')
      .option(
        '--context <name>',
        'context of a cluster; may be repeated (default: every context of the kubeconfig)',
        (name: string, before: readonly string[] | undefined) => [...(before ?? []), name],
      )
      .option('-f, --file <file>', 'the cluster file to write, which must not exist yet', 'linkspan.yaml')
      .option('--image <image>', 'image of Linkspan, with tag or digest'),
  );

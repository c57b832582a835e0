/** The options of `linkspan explain`. */
import { type Command, Option } from 'commander';
import type { ClusterFlags } from '../common/flags.ts';

/** Flags of `linkspan explain`. */
export interface ExplainFlags extends Omit<ClusterFlags, 'namespace'> {
  /** Namespace of the Service. */
  readonly namespace?: string;
  readonly multiclusterNamespace: string;
  readonly toContext?: string;
  readonly toKubeconfig?: string;
  readonly name?: string;
  /** A client, as the annotation of an export names it, or its identity. */
  readonly as?: string;
  readonly output: 'table' | 'json' | 'yaml';
}

/** Adds the flags of `linkspan explain`. */
export const addExplainFlags = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig of the source (default: as kubectl finds it)')
    .option('--context <name>', 'context of the source, which has the mirror (default: the current context)')
    .option('--to-context <name>', 'context of the target, which has the Service; without it, the source alone is read')
    .option('--to-kubeconfig <file>', 'kubeconfig of the target (default: that of the source)')
    .option('--name <cluster>', 'name of the target cluster (default: the context of the target)')
    .option(
      '--as <client>',
      'say too whether this client comes through the gateway: shop/web, a ServiceAccount, or shop/web@east.example',
    )
    .option('-n, --namespace <name>', 'namespace of the Service, if its name does not say it')
    .option('--multicluster-namespace <name>', 'namespace of the multicluster extension', 'linkerd-multicluster')
    .option('-L, --linkerd-namespace <name>', "namespace of Linkerd's control plane", 'linkerd')
    .addOption(
      new Option('-o, --output <format>', 'format of what is printed')
        .choices(['table', 'json', 'yaml'])
        .default('table'),
    );

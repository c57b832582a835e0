/** The options of `linkspan credentials mint`, `rotate` and `revoke`. */
import type { Command } from 'commander';
import { addChangeFlags, type ChangeFlags } from '../common/change-flags.ts';
import { addNamespaceFlags, type ClusterFlags, listOf, timeoutOption, tokenLifetimeOption } from '../common/flags.ts';
import { addPairFlags, EXPORT_NAMESPACES, flatOption, type PairFlags } from '../link/flags.ts';

/** Flags of `linkspan credentials mint`. */
export interface MintFlags extends PairFlags {
  readonly toContext: string;
  readonly apiServerAddress?: string;
  readonly flat?: boolean;
  readonly exportNamespaces?: readonly string[];
  /** In milliseconds. */
  readonly tokenLifetime?: number;
}

/** Flags of `linkspan credentials rotate`. */
export interface RotateFlags extends ClusterFlags, ChangeFlags {
  readonly toContext: string;
  readonly toKubeconfig?: string;
  readonly sourceName?: string;
  readonly revoke?: true;
  /** In milliseconds. */
  readonly tokenLifetime?: number;
  /** In milliseconds. */
  readonly timeout: number;
}

/** Flags of `linkspan credentials revoke`. */
export interface RevokeFlags extends ClusterFlags, ChangeFlags {
  /** @default - that which `linkspan link` makes for the peer */
  readonly serviceAccountName?: string;
}

/** Adds the flags of `linkspan credentials mint`. */
export const addMintFlags = (command: Command): Command =>
  addChangeFlags(
    addPairFlags(command.requiredOption('--to-context <name>', 'context of the target, which is read'))
      .option('--api-server-address <url>', 'where the source reaches the API server of the target')
      .addOption(flatOption())
      .option(...EXPORT_NAMESPACES, listOf)
      .addOption(tokenLifetimeOption())
      .addOption(timeoutOption("how long to wait for the token of Linkerd's copy")),
    'print what would change, or the manifests for both clusters',
  );

/** Adds the flags of `linkspan credentials rotate`. */
export const addRotateFlags = (command: Command): Command =>
  addChangeFlags(
    addNamespaceFlags(
      command
        .requiredOption('--to-context <name>', 'context of the target, which is read')
        .option('--kubeconfig <file>', 'kubeconfig of the source (default: as kubectl finds it)')
        .option('--context <name>', 'context of the source, which has the Link (default: the current context)')
        .option('--to-kubeconfig <file>', 'kubeconfig of the target (default: that of the source)')
        .option('--source-name <cluster>', 'name of the source cluster (default: its context)'),
    )
      .option('--revoke', 'remove the old token, although other clusters may use the account')
      .addOption(tokenLifetimeOption())
      .addOption(timeoutOption('how long to wait until the operator uses the new token')),
    'print what would be written and deleted',
  );

/** Adds the flags of `linkspan credentials revoke`. */
export const addRevokeFlags = (command: Command): Command =>
  addChangeFlags(
    addNamespaceFlags(
      command
        .option('--kubeconfig <file>', 'kubeconfig of the target (default: as kubectl finds it)')
        .option('--context <name>', 'context of the target (default: the current context)'),
    ).option('--service-account-name <name>', 'account of the peer (default: that which linkspan link makes)'),
    'print what would be deleted',
  );

/** The options of `linkspan install`, `linkspan upgrade` and `linkspan uninstall`. */
import { type Command, Option } from 'commander';
import { Default } from '../../../crds/wire.ts';
import type { GatewayAccess, GatewayTcp } from '../../../operator/access/exports.ts';
import {
  addApplyFlags,
  addClusterFlags,
  type ApplyFlags,
  type ClusterFlags,
  listOf,
  timeoutOption,
  trueOrFalse,
} from '../common/flags.ts';

/** What is installed, as far as flags say it. */
export interface SettingFlags {
  readonly image?: string;
  readonly ha?: boolean;
  readonly gateway?: boolean;
  /** Values files of Linkerd's chart; a later one wins over an earlier one. */
  readonly values?: readonly string[];
  /** Networks that clients of the gateway connect from, in CIDR notation. */
  readonly sourceNetworks?: readonly string[];
  /** Whether the operator may keep Linkerd's copies of credentials, which a flat network needs. */
  readonly flat?: boolean;
  /** Whether the operator may create namespaces, for Links that have them created. */
  readonly grantNamespaceCreation?: boolean;
  readonly gatewayAccess?: GatewayAccess;
  readonly gatewayTcp?: GatewayTcp;
}

/** How what is written meets what is there. */
export interface WriteFlags {
  readonly forceConflicts?: true;
  /** Whether to wait for the operator. @default - on a terminal alone */
  readonly wait?: boolean;
  /** In milliseconds. */
  readonly timeout: number;
}

/** Flags of `linkspan install`. */
export interface InstallFlags extends ClusterFlags, Omit<ApplyFlags, 'output'>, SettingFlags, WriteFlags {
  readonly output?: 'yaml' | 'json' | 'diff';
}

/** Flags of `linkspan upgrade`: what is not given stays as it is. */
export interface UpgradeFlags extends Omit<ClusterFlags, 'linkerdNamespace'>, ApplyFlags, SettingFlags, WriteFlags {
  readonly linkerdNamespace?: string;
}

/** Flags of `linkspan uninstall`. */
export interface UninstallFlags extends ClusterFlags, ApplyFlags {
  /** In milliseconds. */
  readonly timeout: number;
}

const addSettingFlags = (command: Command): Command =>
  command
    .option('--image <image>', 'image of Linkspan, with tag or digest')
    .addOption(
      trueOrFalse('--ha', "as Linkerd's HA values: pods of the gateway and the operator never share a node", 'none'),
    )
    .addOption(trueOrFalse('--gateway', 'whether other clusters reach this one through a gateway', 'none'))
    .option('-f, --values <file>', "values file of Linkerd's multicluster chart; may be repeated", listOf)
    .option('--source-networks <cidrs>', 'networks that clients of the gateway connect from (default: all)', listOf)
    .addOption(
      trueOrFalse('--flat', "whether the operator may keep Linkerd's credentials, which a flat network needs", 'none'),
    )
    .addOption(
      trueOrFalse(
        '--grant-namespace-creation',
        'whether the operator may create namespaces, for Links that have them created',
        'none',
      ),
    )
    .addOption(
      new Option(
        '--gateway-access <mode>',
        'who may come through the gateway: all to every Service, all to exports, or whom exports name (default: as it is)',
      ).choices(['open', 'exported', 'clients'] satisfies readonly GatewayAccess[]),
    )
    .addOption(
      new Option(
        '--gateway-tcp <who>',
        'with that, who may open connections that Linkerd does not look into, to every Service (default: none)',
      ).choices(['none', 'meshed', 'clients'] satisfies readonly GatewayTcp[]),
    )
    .option('--force-conflicts', 'change also what others have set, and no flag gives')
    .addOption(trueOrFalse('--wait', 'whether to wait until the operator runs (default: on a terminal)', 'none'))
    .addOption(timeoutOption('how long to wait'));

/** Adds the flags of `linkspan install`. */
export const addInstallFlags = (command: Command): Command =>
  addApplyFlags(addSettingFlags(addClusterFlags(command)), 'print the manifests, or what would change', ['diff']);

/** Adds the flags of `linkspan upgrade`. No setting has a default: each stays as it was recorded. */
export const addUpgradeFlags = (command: Command): Command =>
  addApplyFlags(
    addSettingFlags(
      command
        .option('--kubeconfig <file>', 'kubeconfig (default: as kubectl finds it)')
        .option('--context <name>', 'context of the kubeconfig (default: the current context)')
        .option('-n, --namespace <name>', 'namespace of the multicluster extension', Default.multiclusterNamespace)
        .option('-L, --linkerd-namespace <name>', "namespace of Linkerd's control plane (default: as installed)"),
    ),
    'print what would change',
  );

/** Adds the flags of `linkspan uninstall`. */
export const addUninstallFlags = (command: Command): Command =>
  addApplyFlags(
    addClusterFlags(command).addOption(
      timeoutOption('how long to wait until the operator has stopped, and what is deleted is gone'),
    ),
    'print the objects that would be deleted',
  );

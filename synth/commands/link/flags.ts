/** The options of `linkspan link` and `linkspan unlink`. */
import { type Command, Option } from 'commander';
import { addChangeFlags, type ChangeFlags } from '../common/change-flags.ts';
import {
  addNamespaceFlags,
  type ClusterFlags,
  listOf,
  portOf,
  timeoutOption,
  tokenLifetimeOption,
  trueOrFalse,
} from '../common/flags.ts';

/** Which two clusters, as both commands have them. */
export interface PairFlags extends ClusterFlags, ChangeFlags {
  readonly toKubeconfig?: string;
  readonly name?: string;
  readonly sourceName?: string;
  /** In milliseconds. */
  readonly timeout: number;
}

/** Flags of `linkspan link`. What is not given stays as the Link has it. */
export interface LinkFlags extends PairFlags {
  readonly toContext: string;
  readonly both?: true;
  readonly apiServerAddress?: string;
  readonly sourceApiServerAddress?: string;
  readonly gateway?: boolean;
  readonly gatewayName?: string;
  readonly gatewayNamespace?: string;
  readonly gatewayAddresses?: readonly string[];
  readonly gatewayPort?: number;
  readonly flat?: boolean;
  readonly exportNamespaces?: readonly string[];
  /** In milliseconds. */
  readonly tokenLifetime?: number;
  readonly federation?: Federation | undefined;
  readonly serviceExports?: boolean;
  readonly enableHeadlessServices?: boolean;
  readonly enableNamespaceCreation?: boolean;
  readonly excludedAnnotations?: readonly string[];
  readonly excludedLabels?: readonly string[];
  readonly wait?: true;
}

/** Flags of `linkspan unlink`. */
export interface UnlinkFlags extends PairFlags {
  readonly toContext?: string;
}

/** `--cluster-name`, as Linkerd calls `--name`. */
const clusterNameOption = (): Option => new Option('--cluster-name <cluster>', 'the same as --name, as Linkerd has it');

/** The flags with the name that either flag gives. */
export const named = <T extends PairFlags>({ clusterName, ...flags }: T & { readonly clusterName?: string }): T => {
  const { name = clusterName } = flags as PairFlags;
  return { ...flags, ...(name !== undefined && { name }) } as unknown as T;
};

/** Whether Linkerd may read the target. */
export const flatOption = (): Option =>
  trueOrFalse('--flat', 'whether Linkerd may read the target too, which a flat network needs', 'none');

/** `--export-namespaces`. */
export const EXPORT_NAMESPACES = [
  '--export-namespaces <names>',
  'the only namespaces of the target that are read',
] as const;

/** Adds the flags that name two clusters. */
export const addPairFlags = (command: Command): Command =>
  addNamespaceFlags(
    command
      .option('--kubeconfig <file>', 'kubeconfig of the source (default: as kubectl finds it)')
      .option('--context <name>', 'context of the source, whose clients call (default: the current context)')
      .option('--to-kubeconfig <file>', 'kubeconfig of the target (default: that of the source)')
      .option('--name <cluster>', 'name of the target cluster and of the Link (default: the context of the target)')
      .addOption(clusterNameOption())
      .option('--source-name <cluster>', 'name of the source cluster (default: its context)'),
  );

/** How the members of federated Services are reached: through the gateway of the target, or on a flat network. */
export type Federation = 'gateway' | 'flat';

/** The flag that says so. */
export const federationOption = (fallback: string): Option =>
  new Option(
    '--federation <mode>',
    `how members of federated Services are reached: by the gateway, or on a flat network (default: ${fallback})`,
  ).choices(['gateway', 'flat']);

/** Whether the Link imports by the MCS API. */
export const serviceExportsOption = (fallback?: 'none'): Option =>
  trueOrFalse('--service-exports', 'whether to import what ServiceExports of the target export', fallback);

/** Adds the flags of `linkspan link`. */
export const addLinkFlags = (command: Command): Command =>
  addChangeFlags(
    addPairFlags(command.requiredOption('--to-context <name>', 'context of the target, whose Services are mirrored'))
      .option('--both', 'also the way back: a Link in each of the two clusters')
      .option('--api-server-address <url>', 'where the source reaches the API server of the target')
      .option('--source-api-server-address <url>', 'the same for the way back')
      .addOption(trueOrFalse('--gateway', 'whether the target has a gateway; without one, flat mode only', 'none'))
      .option('--gateway-name <name>', "name of the gateway's Service (default: linkerd-gateway)")
      .option('--gateway-namespace <name>', "namespace of the gateway's Service (default: that of the extension)")
      .option('--gateway-addresses <addresses>', "addresses of the gateway, instead of its Service's", listOf)
      .option('--gateway-port <port>', "port of the gateway, instead of its Service's", portOf)
      .addOption(flatOption())
      .option(...EXPORT_NAMESPACES, listOf)
      .addOption(tokenLifetimeOption())
      .addOption(federationOption('gateway, or flat with --flat'))
      .addOption(serviceExportsOption('none'))
      .addOption(trueOrFalse('--enable-headless-services', 'whether to mirror headless Services pod by pod', 'none'))
      .addOption(
        trueOrFalse('--enable-namespace-creation', 'whether to create the namespaces that mirrors need', 'none'),
      )
      .option('--excluded-annotations <keys>', 'annotations that mirrors do not get', listOf)
      .option('--excluded-labels <keys>', 'labels that mirrors do not get', listOf)
      .option('--wait', 'wait for an address of the gateway, and until the Link is Ready')
      .addOption(timeoutOption('how long to wait, in all')),
    'print what would change, or the manifests for both clusters',
  );

/** Adds the flags of `linkspan unlink`. */
export const addUnlinkFlags = (command: Command): Command =>
  addChangeFlags(
    addPairFlags(
      command.option('--to-context <name>', 'context of the target; without it, its account stays'),
    ).addOption(timeoutOption('how long to wait until the operator has removed the mirrors')),
    'print the objects that would be deleted',
  );

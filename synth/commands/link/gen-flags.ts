/**
 * The options of `linkspan allow` and `linkspan link-gen`: those of `linkerd multicluster allow` and `link-gen`, with their
 * names, meanings and defaults.
 */
import { type Command, Option } from 'commander';
import { Label, Value } from '../../../crds/wire.ts';
import {
  addClusterFlags,
  addNotTaken,
  type ClusterFlags,
  listOf,
  LONG_LIVED_TOKEN,
  portOf,
  tokenLifetimeOption,
  trueOrFalse,
} from '../common/flags.ts';
import { EXPORT_NAMESPACES, type Federation, federationOption, flatOption, serviceExportsOption } from './flags.ts';

/** The label of Services for flat networks. */
export const REMOTE_DISCOVERY = `${Label.exported}=${Value.remoteDiscovery}`;

/** Flags of `linkspan allow`. */
export interface AllowFlags extends ClusterFlags {
  readonly serviceAccountName: string;
  readonly ignoreCluster?: true;
  readonly flat?: boolean;
  readonly exportNamespaces?: readonly string[];
  readonly longLivedToken?: true;
  readonly forceConflicts?: true;
  readonly apply?: true;
  readonly output: 'yaml' | 'json';
}

/** Flags of `linkspan link-gen`. */
export interface LinkGenFlags extends ClusterFlags {
  readonly clusterName: string;
  readonly apiServerAddress?: string;
  readonly serviceAccountName: string;
  /** In milliseconds. */
  readonly tokenLifetime?: number;
  readonly longLivedToken?: true;
  readonly gatewayName: string;
  readonly gatewayNamespace: string;
  readonly selector: string;
  readonly remoteDiscoverySelector?: string;
  readonly federatedServiceSelector: string;
  readonly flat?: boolean;
  readonly federation?: Federation | undefined;
  readonly serviceExports: boolean;
  readonly gatewayAddresses?: readonly string[];
  readonly gatewayPort?: number;
  readonly excludedAnnotations?: readonly string[];
  readonly excludedLabels?: readonly string[];
  readonly gateway: boolean;
  readonly output: 'yaml' | 'json';
}

const outputOption = (): Option =>
  new Option('-o, --output <format>', 'format of the manifests').choices(['yaml', 'json']).default('yaml');

/** Adds the flags of `linkspan allow`. */
export const addAllowFlags = (command: Command): Command =>
  addNotTaken(
    addClusterFlags(command.requiredOption('--service-account-name <name>', 'name of the account'))
      .option('--ignore-cluster', 'do not ask the cluster whether it has the account already')
      .addOption(flatOption())
      .option(...EXPORT_NAMESPACES, listOf)
      .option(...LONG_LIVED_TOKEN)
      .option('--apply', 'write to the cluster; without it, print the manifests')
      .option('--force-conflicts', 'change also what others have set to another value')
      .addOption(outputOption()),
  );

/** Adds the flags of `linkspan link-gen`. */
export const addLinkGenFlags = (command: Command): Command =>
  addNotTaken(
    addClusterFlags(
      command.requiredOption('--cluster-name <name>', 'name of this cluster, and of the Link, in the source'),
    )
      .option('--api-server-address <url>', 'where the source reaches the API server (default: as the kubeconfig does)')
      .option(
        '--service-account-name <name>',
        'account with whose token the source reads',
        'linkerd-service-mirror-remote-access-default',
      )
      .addOption(tokenLifetimeOption())
      .option(...LONG_LIVED_TOKEN)
      .addOption(trueOrFalse('--gateway', 'whether there is a gateway; without one, flat mode only'))
      .option('--gateway-name <name>', "name of the gateway's Service", 'linkerd-gateway')
      .option('--gateway-namespace <name>', "namespace of the gateway's Service", 'linkerd-multicluster')
      .option('--gateway-addresses <addresses>', "addresses of the gateway, instead of its Service's", listOf)
      .option('--gateway-port <port>', "port of the gateway, instead of its Service's", portOf)
      .option(
        '-l, --selector <query>',
        'labels of the Services that are mirrored through the gateway',
        `${Label.exported}=${Value.true}`,
      )
      .option(
        '--remote-discovery-selector <query>',
        `labels of the Services that are mirrored in flat mode (default: ${REMOTE_DISCOVERY}, on a flat network)`,
      )
      .option(
        '--federated-service-selector <query>',
        'labels of the members of federated Services',
        `${Label.federated}=${Value.federatedMember}`,
      )
      .addOption(flatOption())
      .addOption(federationOption('gateway, or flat with --flat'))
      .addOption(serviceExportsOption())
      .option('--excluded-annotations <keys>', 'annotations that mirrors do not get', listOf)
      .option('--excluded-labels <keys>', 'labels that mirrors do not get', listOf)
      .addOption(outputOption()),
  );

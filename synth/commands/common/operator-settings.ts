/** The settings of the operator that runs in a cluster, read from its Deployment. */
import { Command, CommanderError } from 'commander';
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { OPERATOR_CONTAINER, OPERATOR_NAME } from '../../../crds/wire.ts';
import { parseOperatorConfig, type OperatorConfig } from '../../../operator/config/config.ts';
import { addOperatorFlags, type FlagValues } from '../../../operator/config/flags.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { CommandError } from './command-error.ts';
import { DEPLOYMENTS } from './kinds.ts';
import type { ClusterReader } from './reader.ts';

/** A Deployment, as far as settings are in it. */
export interface OperatorDeployment extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly {
          readonly name: string;
          readonly image?: string;
          readonly args?: readonly string[];
          readonly env?: readonly { readonly name: string; readonly value?: string }[];
        }[];
      };
    };
  };
}

/** The settings, and whether they are those of an operator that is installed. */
export interface FoundSettings {
  readonly config: OperatorConfig;
  readonly isInstalled: boolean;
}

/**
 * Reads the settings of the operator in a namespace; those that it has by default if there is none.
 * @throws CommandError if the operator would not accept them either
 */
export const operatorSettings = async (
  reader: ClusterReader,
  { namespace, linkerdNamespace }: { readonly namespace: string; readonly linkerdNamespace: string },
): Promise<FoundSettings> => {
  const deployment = await reader.find<OperatorDeployment>(DEPLOYMENTS, { namespace, name: OPERATOR_NAME });
  const read = settingsIn(deployment, { namespace, controlPlaneNamespace: linkerdNamespace });
  if (read.ok) return { config: read.config, isInstalled: deployment !== undefined };
  const object = `Deployment ${namespace}/${OPERATOR_NAME} of ${reader.context}`;
  const remedy = 'its settings cannot be read: use the linkspan of its version';
  throw new CommandError([{ object, reason: read.reason, remedy }]);
};

/** The settings, or why the operator would not accept them either. */
export type SettingsRead =
  { readonly ok: true; readonly config: OperatorConfig } | { readonly ok: false; readonly reason: string };

/**
 * Reads the settings in a Deployment.
 * @param around what a pod of it would find around itself, unless it is given in the Deployment
 */
export const settingsIn = (deployment: OperatorDeployment | undefined, around: FlagValues): SettingsRead => {
  const { env = [] } = containerOf(deployment);
  const variables = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const given = readArguments(deployment);
  if ('refused' in given) return { ok: false, reason: given.refused };
  const parsed = parseOperatorConfig({ ...around, ...given.flags }, variables);
  return parsed.ok ? { ok: true, config: parsed.value } : { ok: false, reason: formatFieldErrors(parsed.errors) };
};

/** The flags in a Deployment's arguments, by name of the setting; undefined if the operator would not accept them. */
export const givenFlags = (deployment: OperatorDeployment): FlagValues | undefined => {
  const given = readArguments(deployment);
  return 'flags' in given ? given.flags : undefined;
};

const readArguments = (
  deployment: OperatorDeployment | undefined,
): { readonly flags: FlagValues } | { readonly refused: string } => {
  const { args = [] } = containerOf(deployment);
  const command = addOperatorFlags(new Command('operator'))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  try {
    return {
      flags: command.parse(args[0] === 'operator' ? args.slice(1) : args, { from: 'user' }).opts<FlagValues>(),
    };
  } catch (error) {
    if (error instanceof CommanderError) return { refused: error.message };
    throw error;
  }
};

const containerOf = (deployment: OperatorDeployment | undefined) =>
  (deployment?.spec?.template?.spec?.containers ?? []).find(({ name }) => name === OPERATOR_CONTAINER) ?? {
    args: undefined,
    env: undefined,
  };

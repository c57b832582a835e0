/** The settings of the operator that runs in a cluster, read from its Deployment. */
import { Command } from 'commander';
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { OPERATOR_CONTAINER, OPERATOR_NAME } from '../../../crds/wire.ts';
import { parseOperatorConfig, type OperatorConfig } from '../../../operator/config/config.ts';
import { addOperatorFlags, type FlagValues } from '../../../operator/config/flags.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import { CommandError } from './command-error.ts';
import { DEPLOYMENTS } from './kinds.ts';
import type { ClusterReader } from './reader.ts';

interface Deployment extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly {
          readonly name: string;
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
  const deployment = await reader.find<Deployment>(DEPLOYMENTS, { namespace, name: OPERATOR_NAME });
  const containers = deployment?.spec?.template?.spec?.containers ?? [];
  const { args = [], env = [] } = containers.find(({ name }) => name === OPERATOR_CONTAINER) ?? {};
  const variables = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const object = `Deployment ${namespace}/${OPERATOR_NAME} of ${reader.context}`;
  const parsed = parseOperatorConfig(
    { namespace, controlPlaneNamespace: linkerdNamespace, ...flagsOf(args, object) },
    variables,
  );
  if (parsed.ok) return { config: parsed.value, isInstalled: deployment !== undefined };
  throw refusal(object, formatFieldErrors(parsed.errors));
};

const flagsOf = (args: readonly string[], object: string): FlagValues => {
  const command = addOperatorFlags(new Command('operator'))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  try {
    return command.parse(args[0] === 'operator' ? args.slice(1) : args, { from: 'user' }).opts<FlagValues>();
  } catch (error) {
    throw refusal(object, error instanceof Error ? error.message : String(error));
  }
};

const refusal = (object: string, reason: string): CommandError =>
  new CommandError([{ object, reason, remedy: 'its settings cannot be read: use the linkspan of its version' }]);

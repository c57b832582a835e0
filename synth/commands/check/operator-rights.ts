/** The rights that the operator needs with the arguments of its Deployment, and whether its account has them. */
import { Command, CommanderError } from 'commander';
import type { PolicyRule } from '../../../constructs/common/grant.ts';
import {
  mirrorRules,
  namespaceRules,
  ownRules,
  readRules,
  watchNamespacesRules,
} from '../../../constructs/operator/rights.ts';
import { type OperatorConfig, parseOperatorConfig } from '../../../operator/config/config.ts';
import { addOperatorFlags, type FlagValues } from '../../../operator/config/flags.ts';
import type { Deployment } from './objects.ts';
import type { Read, Reader, Right } from './reader.ts';
import type { Granted } from './target.ts';

/** The right to ask for the rights of others. */
const ASK: Right = { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' };

/** Asks for each; undefined if there is no operator, or its arguments are not valid. */
export const operatorRights = async (
  reader: Reader,
  deployment: Deployment | undefined,
): Promise<Read<readonly Granted[]> | undefined> => {
  const config = deployment && configOf(deployment);
  if (deployment === undefined || config === undefined) return undefined;
  const { namespace = '' } = deployment.metadata;
  const account = deployment.spec?.template?.spec?.serviceAccountName ?? 'default';
  const user = `system:serviceaccount:${namespace}:${account}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const mayAsk = await reader.may(ASK);
  if (!mayAsk.ok) return mayAsk;
  if (!mayAsk.value) {
    const why = 'these credentials may not ask for the rights of others';
    return { ok: false, what: 'create SubjectAccessReviews', why, obstacle: 'forbidden' };
  }
  const rights = rightsOf(config);
  return {
    ok: true,
    value: await Promise.all(
      rights.map(async (right) => ({ right, granted: await reader.mayUser(user, groups, right) })),
    ),
  };
};

/** The configuration that the operator gets; undefined if it would refuse it. */
const configOf = ({ spec }: Deployment): OperatorConfig | undefined => {
  const [{ args = [], env = [] } = {}] = spec?.template?.spec?.containers ?? [];
  const command = addOperatorFlags(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    const flags = command.parse(args.slice(1), { from: 'user' }).opts<FlagValues>();
    const parsed = parseOperatorConfig(flags, Object.fromEntries(env.map(({ name, value }) => [name, value ?? ''])));
    return parsed.ok ? parsed.value : undefined;
  } catch (error) {
    if (error instanceof CommanderError) return undefined;
    throw error;
  }
};

/** The rights of an operator, as `MirrorOperator` grants them. */
export const rightsOf = (
  config: Pick<
    OperatorConfig,
    'namespace' | 'mirrorNamespaces' | 'endpoints' | 'enableNamespaceCreation' | 'credentialsSecrets'
  >,
): readonly Right[] => {
  const { namespace, mirrorNamespaces, endpoints, enableNamespaceCreation, credentialsSecrets } = config;
  const mirrors = [...readRules, ...mirrorRules(endpoints)];
  const own = rights(ownRules(credentialsSecrets), namespace);
  if (mirrorNamespaces === undefined) {
    return [
      ...own,
      ...rights([...mirrors, ...watchNamespacesRules, ...(enableNamespaceCreation ? namespaceRules : [])]),
    ];
  }
  return [...own, ...[namespace, ...mirrorNamespaces].flatMap((within) => rights(mirrors, within))];
};

const rights = (rules: readonly PolicyRule[], namespace?: string): readonly Right[] =>
  rules.flatMap(({ group, resources, resourceNames, verbs }) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        (resourceNames ?? [undefined]).map((name) => ({
          verb,
          group,
          resource,
          ...(namespace !== undefined && { namespace }),
          ...(name !== undefined && { name }),
        })),
      ),
    ),
  );

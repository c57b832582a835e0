/** The rights that the operator needs with the arguments of its Deployment, and whether its account has them. */
import type { PolicyRule } from '../../../constructs/common/grant.ts';
import { operatorRules, type RightsSettings } from '../../../constructs/operator/rights.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { settingsIn } from '../common/operator-settings.ts';
import type { Deployment } from './objects.ts';
import type { Read, Reader, Right } from './reader.ts';
import type { Granted } from './target.ts';

/** The right to ask for the rights of others. */
const ASK: Right = { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' };

/** The settings of the operator; undefined if there is none, or its arguments are not valid. */
export const operatorConfig = (deployment: Deployment | undefined): OperatorConfig | undefined => {
  if (deployment === undefined) return undefined;
  const settings = settingsIn(deployment, { namespace: deployment.metadata.namespace ?? '' });
  return settings.ok ? settings.config : undefined;
};

/** What Links ask of the operator beyond its own settings. */
export interface AskedByLinks {
  /** Whether members of federated Services, or what is imported, are reached on a flat network. */
  readonly flat: boolean;
  /** Whether a Link has namespaces created. An operator that is limited to namespaces creates none. */
  readonly createsNamespaces: boolean;
}

/** Asks for each; undefined if there is no operator, or its arguments are not valid. */
export const operatorRights = async (
  reader: Reader,
  deployment: Deployment | undefined,
  { flat, createsNamespaces }: AskedByLinks,
): Promise<Read<readonly Granted[]> | undefined> => {
  const config = operatorConfig(deployment);
  if (config === undefined) return undefined;
  const { namespace = '' } = deployment?.metadata ?? {};
  const account = deployment?.spec?.template?.spec?.serviceAccountName ?? 'default';
  const user = `system:serviceaccount:${namespace}:${account}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const mayAsk = await reader.may(ASK);
  if (!mayAsk.ok) return mayAsk;
  if (!mayAsk.value) {
    const why = 'these credentials may not ask for the rights of others';
    return { ok: false, what: 'create SubjectAccessReviews', why, obstacle: 'forbidden' };
  }
  const enableNamespaceCreation = config.enableNamespaceCreation || createsNamespaces;
  const rights = rightsOf({ ...config, flat, enableNamespaceCreation });
  return {
    ok: true,
    value: await Promise.all(
      rights.map(async (right) => ({ right, granted: await reader.mayUser(user, groups, right) })),
    ),
  };
};

/** The rights of an operator, as `MirrorOperator` grants them. */
const rightsOf = (settings: RightsSettings): readonly Right[] =>
  operatorRules(settings).flatMap(({ namespace, rules }) => rightsIn(rules, namespace));

const rightsIn = (rules: readonly PolicyRule[], namespace: string | undefined): readonly Right[] =>
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

/**
 * Rights as RBAC has them: rules bound to one ServiceAccount, in the whole cluster or in one namespace. A role, its
 * binding and the account have one name, so that what belongs together is found together, and revoked together.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';

/** Which verbs are allowed on which resources. */
export interface PolicyRule {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Plurals, with `/status` and the like where that is meant. */
  readonly resources: readonly string[];
  /**
   * Names of the only objects that the rule allows; a list or watch must then select by name.
   * @default - all
   */
  readonly resourceNames?: readonly string[] | undefined;
  readonly verbs: readonly string[];
  /**
   * What the verbs are for, in words; it is not rendered.
   * @default - none
   */
  readonly why?: string | undefined;
}

/** The ServiceAccount that gets the rights. */
export interface Grantee {
  readonly name: string;
  readonly namespace: string;
}

/** Properties of {@link Grant}. */
export interface GrantProps {
  readonly to: Grantee;
  readonly rules: readonly PolicyRule[];
  /**
   * Namespace of the rights.
   * @default - the whole cluster
   */
  readonly namespace?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

const RBAC = 'rbac.authorization.k8s.io';

/** A Role or ClusterRole, and its binding, both called as the ServiceAccount is. */
export class Grant extends Construct {
  /** The rights. */
  readonly rules: readonly PolicyRule[];
  /** Namespace of the rights; undefined for the whole cluster. */
  readonly namespace: string | undefined;
  /** The Role or the ClusterRole. */
  readonly role: ApiObject;
  /** The RoleBinding or the ClusterRoleBinding. */
  readonly binding: ApiObject;

  constructor(scope: Construct, id: string, { to, rules, namespace, labels }: GrantProps) {
    super(scope, id);
    this.rules = rules;
    this.namespace = namespace;
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const metadata = { name: to.name, labels, ...(namespace !== undefined && { namespace }) };
    this.role = new ApiObject(this, 'Resource', {
      apiVersion: `${RBAC}/v1`,
      kind,
      metadata,
      rules: rules.map(({ group, resources, resourceNames, verbs }) => ({
        apiGroups: [group],
        resources,
        ...(resourceNames && { resourceNames }),
        verbs,
      })),
    });
    this.binding = new ApiObject(this, 'Binding', {
      apiVersion: `${RBAC}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: to.name },
      subjects: [{ kind: 'ServiceAccount', name: to.name, namespace: to.namespace }],
    });
  }
}

/**
 * Rights as RBAC has them: rules bound to one ServiceAccount, in the whole cluster or in one namespace. A role, its
 * binding and the account have one name, so that what belongs together is found together, and revoked together.
 */
import { ApiObject, JsonPatch } from 'cdk8s';
import {
  ClusterRole,
  ClusterRoleBinding,
  type IApiEndpoint,
  type IApiResource,
  type IClusterRole,
  type IRole,
  type ISubject,
  Role,
  RoleBinding,
  ServiceAccount,
} from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { acceptProps } from './props.ts';

/** Which verbs are allowed on which resources. */
export interface PolicyRule {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Plural names of the resources, with a subresource as in `links/status`. */
  readonly resources: readonly string[];
  /**
   * Names of the only objects that the rule allows. A list or watch must then select by name.
   * @default - all
   */
  readonly resourceNames?: readonly string[] | undefined;
  /** Allowed verbs, as in `list`, `watch` and `patch`. */
  readonly verbs: readonly string[];
  /**
   * Reason for the rule, in words. It is not rendered.
   * @default - none
   */
  readonly why?: string | undefined;
}

/** Reference to a ServiceAccount of another chart. */
export interface Grantee {
  /** Name of the ServiceAccount. */
  readonly name: string;
  /** Namespace of the ServiceAccount. */
  readonly namespace: string;
}

/** A ServiceAccount of cdk8s-plus. */
export type NamedSubject = ISubject & { readonly name: string };

/** Properties of {@link Grant}. */
export interface GrantProps {
  /** The ServiceAccount that gets the rights: a ServiceAccount of cdk8s-plus, or a reference to one of another chart. */
  readonly to: Grantee | NamedSubject;
  /** Rights of the ServiceAccount. */
  readonly rules: readonly PolicyRule[];
  /**
   * Namespace of the rights.
   * @default - the whole cluster
   */
  readonly namespace?: string | undefined;
  /** Labels of the role and its binding. */
  readonly labels: Readonly<Record<string, string>>;
}

const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT };

/** By hand, since a ServiceAccount of cdk8s-plus has more properties than are read. */
const GRANT_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['to', 'rules', 'labels'],
  properties: {
    to: { type: 'object', required: ['name'], properties: { name: TEXT, namespace: TEXT } },
    rules: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['group', 'resources', 'verbs'],
        properties: { group: TEXT, resources: TEXTS, resourceNames: TEXTS, verbs: TEXTS, why: TEXT },
      },
    },
    namespace: TEXT,
    labels: { type: 'object', additionalProperties: TEXT },
  },
};

/** A Role or ClusterRole, and its binding, both with the name of the ServiceAccount. */
export class Grant extends Construct {
  /** The rights. */
  readonly rules: readonly PolicyRule[];
  /** Namespace of the rights; undefined for the whole cluster. */
  readonly namespace: string | undefined;
  /** The Role or the ClusterRole, with one rule for each resource, as cdk8s-plus renders it. */
  readonly role: Role | ClusterRole;
  /** The RoleBinding or the ClusterRoleBinding. */
  readonly binding: RoleBinding | ClusterRoleBinding;

  constructor(scope: Construct, id: string, given: GrantProps) {
    super(scope, id);
    const { to, rules, namespace, labels } = acceptProps<GrantProps>(
      this,
      GRANT_SCHEMA,
      given,
      undefined,
      ({ to }) => ({
        construct: `Grant ${to.name}`,
        found: [],
      }),
    );
    this.rules = rules;
    this.namespace = namespace;
    const metadata = { name: to.name, labels, ...(namespace !== undefined && { namespace }) };
    const allowed = rules.flatMap(resourcesOf);
    if (namespace === undefined) {
      const role = new ClusterRole(this, 'Resource', { metadata });
      for (const { verbs, resource } of allowed) role.allow(verbs, resource);
      ApiObject.of(role).addJsonPatch(...withoutEmptyNames(allowed));
      this.role = role;
      this.binding = new ClusterRoleBinding(this, 'Binding', { metadata, role: role as IClusterRole });
    } else {
      const role = new Role(this, 'Resource', { metadata });
      for (const { verbs, resource } of allowed) role.allow(verbs, resource);
      this.role = role;
      this.binding = new RoleBinding(this, 'Binding', { metadata, role: role as IRole });
    }
    this.binding.addSubjects(this.#account(to));
    // cdk8s-plus renders an empty apiGroup, which the API server drops: each apply would then be a change.
    ApiObject.of(this.binding).addJsonPatch(JsonPatch.remove('/subjects/0/apiGroup'));
  }

  #account(to: Grantee | NamedSubject): ISubject {
    if ('toSubjectConfiguration' in to) return to;
    return ServiceAccount.fromServiceAccountName(this, 'Account', to.name, { namespaceName: to.namespace });
  }
}

/** Verbs on one resource, or on one object of it. */
interface Allowed {
  readonly verbs: string[];
  readonly resource: IApiResource & IApiEndpoint;
}

const resourcesOf = ({ group, resources, resourceNames = [undefined], verbs }: NamedRule): readonly Allowed[] =>
  resources.flatMap((resourceType) =>
    resourceNames.map((resourceName) => {
      const resource = {
        apiGroup: group,
        resourceType,
        ...(resourceName !== undefined && { resourceName }),
        asApiResource: (): IApiResource => resource,
        asNonApiResource: () => undefined,
      };
      return { verbs: [...verbs], resource };
    }),
  );

/** A rule; an undefined name stands for all objects. */
type NamedRule = Omit<PolicyRule, 'resourceNames'> & {
  readonly resourceNames?: readonly (string | undefined)[] | undefined;
};

/** Patches that remove the empty `resourceNames` of a ClusterRole of cdk8s-plus, which the API server drops. */
const withoutEmptyNames = (allowed: readonly Allowed[]): readonly JsonPatch[] =>
  allowed.flatMap(({ resource }, index) =>
    resource.resourceName === undefined ? [JsonPatch.remove(`/rules/${index}/resourceNames`)] : [],
  );

/** The kinds that commands read and write, with their place in the API. */
import { ACCESS_KINDS, FAILOVER_KINDS } from '../../../crds/derived-kinds.ts';
import { LinkApi } from '../../../crds/wire.ts';
import {
  apiVersionOf,
  ENDPOINT_SLICES,
  ENDPOINTS,
  EVENTS,
  LEASES,
  NAMESPACES,
  PODS,
  type Resource,
  SECRETS,
  SERVICES,
} from '../../../operator/kube/objects.ts';

const kind = (apiVersion: string, plural: string, name: string, scope?: 'cluster'): Resource => {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return { group, version, plural, kind: name, namespaced: scope !== 'cluster' };
};

export { PODS };

const RBAC = 'rbac.authorization.k8s.io/v1';

export const SERVICE_ACCOUNTS = kind('v1', 'serviceaccounts', 'ServiceAccount');
export const CONFIG_MAPS = kind('v1', 'configmaps', 'ConfigMap');
export const DEPLOYMENTS = kind('apps/v1', 'deployments', 'Deployment');
export const DISRUPTION_BUDGETS = kind('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget');
export const NETWORK_POLICIES = kind('networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy');
export const ROLES = kind(RBAC, 'roles', 'Role');
export const ROLE_BINDINGS = kind(RBAC, 'rolebindings', 'RoleBinding');
export const CLUSTER_ROLES = kind(RBAC, 'clusterroles', 'ClusterRole', 'cluster');
export const CLUSTER_ROLE_BINDINGS = kind(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', 'cluster');
export const CRDS = kind('apiextensions.k8s.io/v1', 'customresourcedefinitions', 'CustomResourceDefinition', 'cluster');
/** What asks which rights somebody has: oneself, or another. Created, and never stored. */
export const SELF_ACCESS_REVIEWS = kind(
  'authorization.k8s.io/v1',
  'selfsubjectaccessreviews',
  'SelfSubjectAccessReview',
  'cluster',
);
export const ACCESS_REVIEWS = kind('authorization.k8s.io/v1', 'subjectaccessreviews', 'SubjectAccessReview', 'cluster');
/** What asks whose a token is. Created, and never stored. */
export const TOKEN_REVIEWS = kind('authentication.k8s.io/v1', 'tokenreviews', 'TokenReview', 'cluster');
export const LINKS = kind(`${LinkApi.group}/${LinkApi.version}`, LinkApi.plural, LinkApi.kind);
export const SERVICE_FAILOVERS: Resource = FAILOVER_KINDS.failovers;
/** Linkerd's policy: who may call what. */
export const LINKERD_SERVERS: Resource = ACCESS_KINDS.servers;
export const AUTHORIZATION_POLICIES: Resource = ACCESS_KINDS.authorizations;
export const MESH_TLS_AUTHENTICATIONS: Resource = ACCESS_KINDS.authentications;
export const NETWORK_AUTHENTICATIONS: Resource = ACCESS_KINDS.networks;
/** What Linkerd authorized clients of a Server by before AuthorizationPolicies, and still does. */
export const SERVER_AUTHORIZATIONS = kind('policy.linkerd.io/v1beta1', 'serverauthorizations', 'ServerAuthorization');
export const GATEWAY_HTTP_ROUTES: Resource = FAILOVER_KINDS.HTTPRoute;
export const GATEWAY_GRPC_ROUTES: Resource = FAILOVER_KINDS.GRPCRoute;

const KINDS: readonly Resource[] = [
  NAMESPACES,
  SERVICES,
  ENDPOINTS,
  ENDPOINT_SLICES,
  SECRETS,
  EVENTS,
  LEASES,
  SERVICE_ACCOUNTS,
  CONFIG_MAPS,
  PODS,
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  ROLES,
  ROLE_BINDINGS,
  CLUSTER_ROLES,
  CLUSTER_ROLE_BINDINGS,
  CRDS,
  LINKS,
  SERVICE_FAILOVERS,
  LINKERD_SERVERS,
  AUTHORIZATION_POLICIES,
  MESH_TLS_AUTHENTICATIONS,
  NETWORK_AUTHENTICATIONS,
];

/**
 * The resource of a manifest.
 * @throws Error for a kind that no command writes: that is a mistake in the program
 */
export const resourceOf = ({
  apiVersion,
  kind: name,
}: {
  readonly apiVersion: string;
  readonly kind: string;
}): Resource => {
  const found = KINDS.find((each) => each.kind === name && apiVersionOf(each) === apiVersion);
  if (found === undefined) throw new Error(`no command writes objects of ${apiVersion} ${name}`);
  return found;
};

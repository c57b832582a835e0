/** The kinds that commands read and write, with their place in the API. */
import { LinkApi } from '../../../crds/wire.ts';
import { apiVersionOf, LEASES, NAMESPACES, type Resource, SECRETS, SERVICES } from '../../../operator/kube/objects.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;

export const SERVICE_ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};
export const CONFIG_MAPS: Resource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};
export const CLUSTER_ROLES: Resource = { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false };
export const CLUSTER_ROLE_BINDINGS: Resource = {
  ...RBAC,
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
};
export const LINKS: Resource = {
  group: LinkApi.group,
  version: LinkApi.version,
  plural: LinkApi.plural,
  kind: LinkApi.kind,
  namespaced: true,
};

const KINDS: readonly Resource[] = [
  NAMESPACES,
  SERVICES,
  SECRETS,
  LEASES,
  SERVICE_ACCOUNTS,
  CONFIG_MAPS,
  CLUSTER_ROLES,
  CLUSTER_ROLE_BINDINGS,
  LINKS,
];

/**
 * The resource of a manifest.
 * @throws Error for a kind that no command writes: that is a mistake in the program
 */
export const resourceOf = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Resource => {
  const found = KINDS.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (found === undefined) throw new Error(`no command writes objects of ${apiVersion} ${kind}`);
  return found;
};

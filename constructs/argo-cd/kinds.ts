/**
 * The kinds that a set of clusters can ever render, whatever its file says. Argo CD neither prunes nor shows an object
 * whose kind its project no longer permits: what leaves Git for good must stay permitted.
 */
import { AboutApi, LinkApi, PolicyApi } from '../../crds/wire.ts';

/** A kind, as a project names it. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

const of = (group: string, ...kinds: readonly string[]): readonly GroupKind[] => kinds.map((kind) => ({ group, kind }));

/** Those of a whole cluster. */
export const CLUSTER_KINDS: readonly GroupKind[] = [
  ...of('', 'Namespace'),
  ...of(AboutApi.group, AboutApi.clusterProperty.kind),
  ...of('apiextensions.k8s.io', 'CustomResourceDefinition'),
  ...of('rbac.authorization.k8s.io', 'ClusterRole', 'ClusterRoleBinding'),
];

/** Those in a namespace. */
export const NAMESPACED_KINDS: readonly GroupKind[] = [
  ...of('', 'ConfigMap', 'Secret', 'Service', 'ServiceAccount'),
  ...of('apps', 'Deployment'),
  ...of('external-secrets.io', 'ExternalSecret'),
  ...of('monitoring.coreos.com', 'PrometheusRule', 'ServiceMonitor'),
  ...of(LinkApi.group, LinkApi.kind),
  ...of('networking.k8s.io', 'NetworkPolicy'),
  ...of('policy', 'PodDisruptionBudget'),
  ...of(PolicyApi.group, 'AuthorizationPolicy', 'MeshTLSAuthentication', 'NetworkAuthentication', 'Server'),
  ...of('rbac.authorization.k8s.io', 'Role', 'RoleBinding'),
];

/** Those of the folder of Argo CD's own objects. */
export const ARGO_CD_KINDS: readonly GroupKind[] = of('argoproj.io', 'AppProject', 'Application', 'ApplicationSet');

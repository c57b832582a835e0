/** Everything of a cluster as a test compares it: without what no two runs have alike. */
import type { Api, KubeObject } from '../../cluster/workload/index.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const POLICY = 'policy.linkerd.io';

/** The kinds that commands write, and what the operator makes of them. */
const KINDS = [
  ['v1', 'Namespace'],
  ['v1', 'Secret'],
  ['v1', 'ServiceAccount'],
  ['v1', 'ConfigMap'],
  ['v1', 'Service'],
  ['v1', 'Endpoints'],
  ['apps/v1', 'Deployment'],
  ['policy/v1', 'PodDisruptionBudget'],
  ['networking.k8s.io/v1', 'NetworkPolicy'],
  [RBAC, 'Role'],
  [RBAC, 'RoleBinding'],
  [RBAC, 'ClusterRole'],
  [RBAC, 'ClusterRoleBinding'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['multicluster.linkerd.io/v1alpha3', 'Link'],
  [`${POLICY}/v1beta3`, 'Server'],
  [`${POLICY}/v1alpha1`, 'AuthorizationPolicy'],
  [`${POLICY}/v1alpha1`, 'MeshTLSAuthentication'],
  [`${POLICY}/v1alpha1`, 'NetworkAuthentication'],
] as const;

type Fields = Readonly<Record<string, unknown>>;

/** What the API server, or chance, gives an object. */
const VOLATILE_METADATA = ['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'selfLink'];
const VOLATILE_SPEC = ['clusterIP', 'clusterIPs'];
/** The API server notes when a token was used. */
const VOLATILE_LABEL = /legacy-token-/;
const VOLATILE_ANNOTATION = /resource-version$|service-account\.uid$|cluster-uid$/;

const keep = (fields: Fields = {}, isKept: (key: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => isKept(key)));

const comparable = (object: KubeObject, isExact: boolean): Fields => {
  const { metadata, ...rest } = object as KubeObject & { readonly spec?: Fields; readonly data?: Fields };
  const { status: _, spec, data, ...other } = rest as typeof rest & { readonly status?: unknown };
  const { annotations, ...identity } = metadata as unknown as Fields & { readonly annotations?: Fields };
  return {
    ...other,
    metadata: {
      ...keep(identity, (key) => !VOLATILE_METADATA.includes(key)),
      labels: keep(identity['labels'] as Fields | undefined, (key) => !VOLATILE_LABEL.test(key)),
      ...(isExact ? {} : { name: withoutNumber(metadata.name) }),
      annotations: keep(annotations, (key) => !VOLATILE_ANNOTATION.test(key)),
    },
    ...(spec && { spec: withoutNodePorts(keep(spec, (key) => !VOLATILE_SPEC.includes(key))) }),
    // Tokens are chance: which keys a Secret has is compared, and whether tokens work is tested apart.
    ...(data && { data: object.kind === 'Secret' && !isExact ? Object.keys(data).sort() : data }),
  };
};

/** The ports that a Service has on nodes are chance, too. */
const withoutNodePorts = (spec: Fields): Fields =>
  JSON.parse(JSON.stringify(spec, (key, value: unknown) => (key === 'nodePort' ? undefined : value))) as Fields;

/** The Secrets of tokens have another number after each rotation, also after one that was done when it was stopped. */
const withoutNumber = (name: string): string => name.replace(/(-token|linkspan-peer-[a-z]+)-\d+$/, '$1');

const named = ({ kind, metadata }: KubeObject, isExact: boolean): string => {
  const name = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
  return isExact ? name : withoutNumber(name);
};

/** What a cluster has, by `Kind namespace/name`. */
export type State = Readonly<Record<string, Fields>>;

/** Reads it. @param isExact whether the numbers and the values of tokens count, within one run */
export const endState = async (client: Api, isExact = false): Promise<State> => {
  const lists = await Promise.all(
    KINDS.map(async ([apiVersion, kind]) => client.list({ apiVersion, kind }).catch((): KubeObject[] => [])),
  );
  const entries = lists.flat().map((object): [string, Fields] => [named(object, isExact), comparable(object, isExact)]);
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
};

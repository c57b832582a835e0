/** A user of a cluster who may read some things, and nothing else. */
import type { TestCluster } from '../cluster/index.ts';
import { type Api, eventually, type KubeObject, type ObjectRef } from '../cluster/workload/index.ts';
import { objectRef, secretRef } from './builders.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** @default - all */
  readonly resourceNames?: readonly string[];
  /** @default - what reads */
  readonly verbs?: readonly string[];
}

const RBAC = 'rbac.authorization.k8s.io';
const VERBS = ['get', 'list', 'watch'];

/**
 * Makes a ServiceAccount that may read what the rules name, in a cluster with the `serviceaccount-token-controller`.
 * Returns its kubeconfig.
 */
export const readerOf = async (
  cluster: TestCluster,
  client: Api,
  name: string,
  rules: readonly Rule[],
): Promise<string> => {
  const secret = secretRef(name, 'default');
  const role = {
    ...objectRef(`${RBAC}/v1`, 'ClusterRole', name),
    rules: rules.map((rule) => ({ verbs: VERBS, ...rule })),
  };
  const binding = {
    ...objectRef(`${RBAC}/v1`, 'ClusterRoleBinding', name),
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
  };
  const token = {
    ...secret,
    metadata: { ...secret.metadata, annotations: { 'kubernetes.io/service-account.name': name } },
    type: 'kubernetes.io/service-account-token',
  };
  const objects: readonly ObjectRef[] = [objectRef('v1', 'ServiceAccount', name, 'default'), role, binding, token];
  for (const each of objects) await client.apply(each);
  const issued = await eventually('the token is issued', async () => {
    const found = await client.get<KubeObject & { readonly data?: { readonly token?: string } }>(secret);
    return found?.data?.token;
  });
  return cluster.kubeconfigFor(Buffer.from(issued, 'base64').toString());
};

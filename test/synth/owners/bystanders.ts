/** Objects of others, beside those that a command is about: none of them may change, whatever it does. */
import type { Api, KubeObject, ObjectRef } from '../../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, objectRef, service } from '../../support/builders.ts';

const RBAC = 'rbac.authorization.k8s.io';

const account = (name: string): readonly ObjectRef[] => [
  objectRef('v1', 'ServiceAccount', name, LINKS_NAMESPACE),
  {
    ...objectRef(`${RBAC}/v1`, 'ClusterRole', name),
    rules: [{ apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] }],
  } as ObjectRef,
  {
    ...objectRef(`${RBAC}/v1`, 'ClusterRoleBinding', name),
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: LINKS_NAMESPACE }],
  } as ObjectRef,
];

const OF_BOTH: readonly ObjectRef[] = [
  service('db', { labels: { team: 'shop' } }),
  {
    ...objectRef('v1', 'Secret', 'keys', LINKS_NAMESPACE),
    data: { key: Buffer.from('value').toString('base64') },
  } as ObjectRef,
];

const OF_SOURCE: readonly ObjectRef[] = [
  credentials('north', 'not a kubeconfig'),
  // Suspended, so that no operator makes anything of it.
  link(
    'north',
    { clusterCredentialsSecret: 'cluster-credentials-north' },
    { annotations: { 'linkspan.dev/suspended': 'true' } },
  ),
];

/** What a cluster is to the command: it has Links, other clusters read it, or nothing uses what is installed in it. */
export type Role = 'source' | 'target' | 'unused';

const OF_ROLE: Readonly<Record<Role, readonly ObjectRef[]>> = {
  source: OF_SOURCE,
  target: account('linkerd-service-mirror-remote-access-north'),
  unused: [],
};

/** Makes them. */
export const plant = async (client: Api, role: Role): Promise<readonly ObjectRef[]> => {
  const all = [...OF_BOTH, ...OF_ROLE[role]];
  for (const object of all) await client.apply(object, { fieldManager: 'somebody' });
  return all;
};

/** What of them a write changes: everything but what their own controllers report. */
export const versions = async (client: Api, all: readonly ObjectRef[]): Promise<readonly unknown[]> =>
  Promise.all(
    all.map(async (ref) => {
      const found = await client.get<KubeObject & { readonly status?: unknown }>(ref);
      if (found === undefined) return `${ref.kind} ${ref.metadata.name} is gone`;
      const { status: _, metadata, ...rest } = found;
      const { uid, labels, annotations, generation } = metadata;
      return { ...rest, metadata: { uid, labels, annotations, generation } };
    }),
  );

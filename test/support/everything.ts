/** Everything that a cluster holds, of every kind that its API server serves: what must be as it was. */
import type { Api, KubeObject } from '../cluster/workload/index.ts';

interface Resources {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly verbs: readonly string[] }[];
}

interface Groups {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
}

/** Kinds of which Kubernetes itself writes objects at any time. */
const OF_KUBERNETES = new Set([
  'Event',
  'ComponentStatus',
  'FlowSchema',
  'PriorityLevelConfiguration',
  'ClusterTrustBundle',
]);

/** Each object with its uid, labels and annotations, sorted: `Kind namespace/name uid …`. */
export const everything = async (client: Api): Promise<readonly string[]> => {
  const get = async <T>(path: string): Promise<T> => (await client.request<T>('GET', path)).body;
  const { groups } = await get<Groups>('/apis');
  const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)];
  const lists = await Promise.all(
    versions.map(async (version) => {
      const root = version === 'v1' ? '/api/v1' : `/apis/${version}`;
      const { resources = [] } = await get<Partial<Resources>>(root);
      const kinds = resources.filter(
        ({ name, kind, verbs }) => verbs.includes('list') && !name.includes('/') && !OF_KUBERNETES.has(kind),
      );
      return Promise.all(
        kinds.map(async ({ name, kind }) => {
          const { items = [] } = await get<{ readonly items?: readonly KubeObject[] }>(`${root}/${name}`);
          return items.map(({ metadata }) =>
            [
              `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
              metadata.uid,
              JSON.stringify([metadata.labels ?? {}, metadata.annotations ?? {}]),
            ].join(' '),
          );
        }),
      );
    }),
  );
  return lists.flat(2).sort();
};

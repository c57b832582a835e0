/** What an API server serves. Every authenticated client may ask, by Kubernetes' own role `system:discovery`. */
import type { KubeClient } from './client.ts';
import { describe, isNotFound } from './errors.ts';
import { apiVersionOf, type Resource } from './objects.ts';
import { versionPath } from './paths.ts';

/** What asks: a client. */
export type Asking = Pick<KubeClient, 'get'>;

/** An `APIResourceList`. */
interface ServedResources {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

/** An `APIGroupList`. */
interface ServedGroups {
  readonly groups?: readonly { readonly name: string; readonly preferredVersion: { readonly version: string } }[];
}

const resourcesOf = async (
  client: Asking,
  of: Pick<Resource, 'group' | 'version'>,
  signal: AbortSignal | undefined,
): Promise<NonNullable<ServedResources['resources']>> => {
  const { resources = [] } = await client.get<ServedResources>(versionPath(of), `discover ${apiVersionOf(of)}`, signal);
  return resources;
};

/**
 * The verbs that the API server serves for a resource; none if it does not serve the resource. One whose CRD is being
 * deleted has no `create`.
 */
export const servedVerbs = async (client: Asking, of: Resource, signal?: AbortSignal): Promise<readonly string[]> => {
  try {
    return (await resourcesOf(client, of, signal)).find(({ name }) => name === of.plural)?.verbs ?? [];
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
};

/** The version of the API server, such as `v1.36.1`. */
export const serverVersion = async (client: Asking, signal?: AbortSignal): Promise<string> => {
  const { gitVersion = '' } = await client.get<{ readonly gitVersion?: string }>('/version', 'get the version', signal);
  return gitVersion;
};

/** What an API server serves that has namespaces and can be listed. */
export interface NamespacedResources {
  /** Each at the version that the API server prefers of its group. */
  readonly resources: readonly Resource[];
  /** Why a group is not among them, such as that of an aggregated API server that is down. */
  readonly unanswered: readonly string[];
}

/** Every resource that can be listed and has namespaces. @throws ApiError if the groups are not known */
export const namespacedResources = async (client: Asking, signal?: AbortSignal): Promise<NamespacedResources> => {
  const { groups = [] } = await client.get<ServedGroups>('/apis', 'discover /apis', signal);
  const versions = groups.map(({ name, preferredVersion }) => ({ group: name, version: preferredVersion.version }));
  const lists = await Promise.allSettled(
    [{ group: '', version: 'v1' }, ...versions].map(async (of) =>
      (await resourcesOf(client, of, signal)).flatMap(({ name: plural, kind, namespaced, verbs }) =>
        namespaced && verbs.includes('list') ? [{ ...of, plural, kind, namespaced }] : [],
      ),
    ),
  );
  return {
    resources: lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : [])),
    unanswered: lists.flatMap((list) => (list.status === 'rejected' ? [describe(list.reason)] : [])),
  };
};

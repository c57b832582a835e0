/** What clients see of failover: where routes send requests, and which members of federated Services can be reached. */
import type { RouteBackendRef } from '../../operator/failover/observed.ts';
import type { Api, KubeObject } from '../cluster/workload/index.ts';
import { StateWatch } from './state-watch.ts';

interface RouteObject extends KubeObject {
  readonly spec: { readonly rules: readonly { readonly backendRefs: readonly RouteBackendRef[] }[] };
}

interface SliceObject extends KubeObject {
  readonly endpoints?:
    readonly { readonly conditions?: { readonly ready?: boolean | null } | null }[] | null | undefined;
}

/** Where the requests of a route go, by the suffixes of its backends' names. */
type RouteState = 'local' | 'mirror';

/**
 * Watches the routes of ServiceFailovers with two backends, a Service and its mirror.
 * @param wrong is given each version of a route that would lead nowhere, or that lacks its standby
 */
export const watchRoutes = (east: Api, cluster: string, wrong: (found: string) => void): Promise<StateWatch> =>
  StateWatch.start<RouteObject>(
    east,
    { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', namespace: 'shop' },
    ({ metadata: { name, labels = {} }, spec }): RouteState | undefined => {
      if (labels['linkspan.dev/service-failover'] === undefined) return undefined;
      const refs = spec.rules.flatMap(({ backendRefs }) => backendRefs);
      const [active, ...others] = refs.filter(({ weight = 1 }) => weight > 0);
      const isWhole = refs.length === 2 && new Set(refs.map((each) => each.name)).size === 2;
      if (!isWhole || active === undefined || others.length > 0) wrong(`${name}: ${JSON.stringify(refs)}`);
      return active?.name?.endsWith(`-${cluster}`) === true ? 'mirror' : 'local';
    },
  );

/** Watches the slices by which a cluster is a member of federated Services: `in` while its gateway is listed as ready. */
export const watchMemberSlices = (east: Api, cluster: string): Promise<StateWatch> =>
  StateWatch.start<SliceObject>(
    east,
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace: 'shop',
      labelSelector: `linkspan.dev/federation-member=${cluster}`,
    },
    ({ endpoints }) => ((endpoints ?? []).some(({ conditions }) => conditions?.ready !== false) ? 'in' : 'out'),
  );

/** Watches the statuses of ServiceFailovers, by the backend that they name as active. */
export const watchStatuses = (east: Api, cluster: string): Promise<StateWatch> =>
  StateWatch.start<KubeObject & { readonly status?: { readonly active?: string } }>(
    east,
    { apiVersion: 'linkspan.dev/v1alpha1', kind: 'ServiceFailover', namespace: 'shop' },
    ({ status }): RouteState | undefined =>
      status?.active === undefined ? undefined : status.active.endsWith(`-${cluster}`) ? 'mirror' : 'local',
  );

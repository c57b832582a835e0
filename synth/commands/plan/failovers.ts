/** What the source cluster has of ServiceFailovers, and of what is in the way of their routes, read once. */
import { memberName } from '../../../crds/wire.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import {
  type FailoverFacts,
  POLICY_ROUTES,
  ROUTES,
  SERVICE_FAILOVERS,
  SERVICE_PROFILES,
} from '../../../operator/forecast/index.ts';
import { keyOf, type KubeObject } from '../../../operator/kube/objects.ts';
import type { ClusterReader } from '../common/reader.ts';
import { listed } from './listed.ts';
import { slicesOfServices } from './slices.ts';

/** A ServiceFailover, as it is stored. */
export interface FailoverManifest extends KubeObject {
  readonly spec?: { readonly backends?: unknown };
}

/**
 * Reads it; undefined if there are no ServiceFailovers, or the operator leaves them alone.
 * @param given ServiceFailovers that are about to be applied
 */
export const readFailovers = async (
  reader: ClusterReader,
  { failover, mirrorNamespaces: within }: OperatorConfig,
  given: readonly FailoverManifest[],
): Promise<FailoverFacts | undefined> => {
  if (!failover) return undefined;
  const found = await listed<FailoverManifest>(reader, SERVICE_FAILOVERS, within);
  if (typeof found === 'string' && given.length === 0) return undefined;
  const failovers = typeof found === 'string' ? given : overLive(found, given);
  const [GRPCRoute, HTTPRoute, TCPRoute] = (await Promise.all(
    (['GRPCRoute', 'HTTPRoute', 'TCPRoute'] as const).map((kind) => listed(reader, ROUTES[kind], within)),
  )) as [FailoverFacts['profiles'], FailoverFacts['profiles'], FailoverFacts['profiles']];
  const routes = { GRPCRoute, HTTPRoute, TCPRoute };
  if (failovers.length === 0) return { failovers, routes, policyRoutes: [], profiles: [], slices: [] };
  const [policyRoutes, profiles, slices] = await Promise.all([
    listed(reader, POLICY_ROUTES, within),
    listed(reader, SERVICE_PROFILES, within),
    slicesOfServices(reader, failovers.flatMap(backendsOf)),
  ]);
  return { failovers, routes, policyRoutes, profiles, slices };
};

/** Those that there are, with the specs of those that are about to be applied. */
const overLive = (
  live: readonly FailoverManifest[],
  given: readonly FailoverManifest[],
): readonly FailoverManifest[] => {
  const all = new Map(live.map((each) => [keyOf(each), each]));
  for (const each of given) all.set(keyOf(each), { ...all.get(keyOf(each)), ...each });
  return [...all.values()];
};

/** The names of the Services of backends; of a federated one, also that of its local member. */
const backendsOf = ({ spec }: FailoverManifest): readonly string[] => {
  const backends: readonly unknown[] = Array.isArray(spec?.backends) ? spec.backends : [];
  return backends.flatMap((each) => {
    const name = (each as { readonly service?: unknown } | null)?.service;
    if (typeof name !== 'string') return [];
    return [name, memberName(name)].filter((each) => each !== undefined);
  });
};

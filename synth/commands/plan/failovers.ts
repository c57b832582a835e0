/** ServiceFailovers as they are planned: those that there are, and those that are about to be applied. */
import { type Listed, SERVICE_FAILOVERS } from '../../../operator/forecast/index.ts';
import { keyOf, type KubeObject, type Resource } from '../../../operator/kube/objects.ts';

/** A ServiceFailover, as it is stored. */
export interface FailoverManifest extends KubeObject {
  readonly spec?: { readonly backends?: unknown };
}

/** What a list of a kind would show once ServiceFailovers were applied. */
export const withFailovers = (of: Resource, listed: Listed, given: readonly FailoverManifest[]): Listed => {
  if (of !== SERVICE_FAILOVERS || given.length === 0) return listed;
  return typeof listed === 'string' ? given : overLive(listed, given);
};

/** Those that there are, with the specs of those that are about to be applied. */
const overLive = (live: readonly KubeObject[], given: readonly FailoverManifest[]): readonly KubeObject[] => {
  const all = new Map(live.map((each) => [keyOf(each), each]));
  for (const each of given) all.set(keyOf(each), { ...all.get(keyOf(each)), ...each });
  return [...all.values()];
};

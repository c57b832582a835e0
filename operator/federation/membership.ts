/** Reads the present members of a federated Service from its objects. Pure. */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import { Annotation } from '../../crds/wire.ts';
import { isFederated, isFlat, memberClusters, memberOf } from '../source/owner.ts';
import type { ObservedFederation } from './observed.ts';

/** Present members of a federated Service. */
export interface Membership {
  readonly mode: MirrorMode;
  /** Target clusters whose Services are members. */
  readonly clusters: ReadonlySet<string>;
  /** Whether the local Service is a member. */
  readonly local: boolean;
}

/** Returns the present members; undefined if the federated Service does not exist, or is not ours. */
export function membershipOf({
  name,
  live,
  slices,
}: Pick<ObservedFederation, 'name' | 'live' | 'slices'>): Membership | undefined {
  if (live === undefined || !isFederated(live)) return undefined;
  const { annotations = {} } = live.metadata;
  // Linkerd ignores the slices of a Service that has one of the two membership annotations.
  if (!isFlat(live)) {
    const members = slices.map(memberOf);
    return {
      mode: 'gateway',
      clusters: new Set(members.filter((cluster) => cluster !== undefined)),
      local: members.includes(undefined),
    };
  }
  return {
    mode: 'remote-discovery',
    clusters: new Set(memberClusters(live)),
    local: annotations[Annotation.localDiscovery] === name,
  };
}

/**
 * Returns the target clusters whose Services are members, or that have slices of the federated Service in the source
 * cluster. Slices are taken into account even if the federated Service is gone, or is in flat mode, where Linkerd does
 * not read them.
 */
export const listedClusters = (observed: Pick<ObservedFederation, 'name' | 'live' | 'slices'>): ReadonlySet<string> =>
  new Set([
    ...(membershipOf(observed)?.clusters ?? []),
    ...observed.slices.map(memberOf).filter((cluster) => cluster !== undefined),
  ]);

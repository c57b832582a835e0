/** What a federated Service says of itself: who its members are. Pure. */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import { Annotation } from '../../crds/wire.ts';
import { isFederated, isFlat, memberClusters, memberOf } from '../source/owner.ts';
import type { ObservedFederation } from './observed.ts';

/** The members that a federated Service has now. */
export interface Membership {
  readonly mode: MirrorMode;
  /** Target clusters. */
  readonly clusters: ReadonlySet<string>;
  /** Whether the local Service is a member. */
  readonly local: boolean;
}

/** Returns the members that there are; of a Service that is not ours, none. */
export function membershipOf({
  name,
  live,
  slices,
}: Pick<ObservedFederation, 'name' | 'live' | 'slices'>): Membership | undefined {
  if (live === undefined || !isFederated(live)) return undefined;
  const { annotations = {} } = live.metadata;
  // Either annotation hides the slices from Linkerd.
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

/** Returns the target clusters that have anything here: members, and slices that a list hides or that have no Service. */
export const listedClusters = (observed: Pick<ObservedFederation, 'name' | 'live' | 'slices'>): ReadonlySet<string> =>
  new Set([
    ...(membershipOf(observed)?.clusters ?? []),
    ...observed.slices.map(memberOf).filter((cluster) => cluster !== undefined),
  ]);

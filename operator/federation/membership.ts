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
  /**
   * Whether the federated Service is gone although slices of it still exist, for example because somebody has deleted
   * it. The members are then read from the slices (rule C3).
   */
  readonly isDeleted: boolean;
}

/**
 * Returns the present members. Undefined if a foreign Service has the name of the federated Service, or if neither the
 * federated Service nor a slice of it exists.
 */
export function membershipOf({
  name,
  live,
  slices,
}: Pick<ObservedFederation, 'name' | 'live' | 'slices'>): Membership | undefined {
  const isDeleted = live === undefined;
  if (isDeleted ? slices.length === 0 : !isFederated(live)) return undefined;
  // Linkerd ignores the slices of a Service that has one of the two membership annotations.
  if (isDeleted || !isFlat(live)) {
    const members = slices.map(memberOf);
    return {
      mode: 'gateway',
      clusters: new Set(members.filter((cluster) => cluster !== undefined)),
      local: members.includes(undefined),
      isDeleted,
    };
  }
  return {
    mode: 'remote-discovery',
    clusters: new Set(memberClusters(live)),
    local: live.metadata.annotations?.[Annotation.localDiscovery] === name,
    isDeleted,
  };
}

/**
 * Returns the target clusters whose Services are members, and those to which existing slices of the federated Service
 * belong. The slices count even in flat mode, in which Linkerd does not read them.
 */
export const listedClusters = (observed: Pick<ObservedFederation, 'name' | 'live' | 'slices'>): ReadonlySet<string> =>
  new Set([
    ...(membershipOf(observed)?.clusters ?? []),
    ...observed.slices.map(memberOf).filter((cluster) => cluster !== undefined),
  ]);

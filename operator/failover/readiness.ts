/**
 * Counts the endpoints of a Service that can be reached, and reports whether they are enough (rule J3). Slices may come
 * from a target and are not trusted. Pure.
 */
import type { MinReady } from '../../crds/failover/settings.ts';
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import type { EndpointSlice } from '../kube/objects.ts';
import type { GatewayView } from '../mirror/observed.ts';
import type { ObservedExport } from '../served/served-target.ts';

/** Numbers of endpoints of a Service. */
export interface EndpointCounts {
  readonly ready: number;
  /** Number of all endpoints, without those that terminate. */
  readonly total: number;
}

/** Numbers of endpoints of one address family. */
export interface FamilyCounts extends EndpointCounts {
  readonly family: string;
}

/** Counts the endpoints of a slice. */
export function countSlice({ addressType, endpoints }: EndpointSlice): FamilyCounts {
  let ready = 0;
  let total = 0;
  for (const { conditions } of endpoints ?? []) {
    if (conditions?.terminating === true) continue;
    total += 1;
    // The API defines an absent `ready` as ready.
    if (conditions?.ready ?? true) ready += 1;
  }
  return { family: addressType, ready, total };
}

/**
 * Adds up the slices of one Service. The pods of a Service with two address families are in slices of both. Only one
 * family counts: the one with more ready endpoints, or with more endpoints if equally many are ready.
 */
export function sumCounts(slices: Iterable<FamilyCounts>): EndpointCounts {
  const byFamily = new Map<string, EndpointCounts>();
  for (const { family, ready, total } of slices) {
    const sum = byFamily.get(family);
    byFamily.set(family, { ready: ready + (sum?.ready ?? 0), total: total + (sum?.total ?? 0) });
  }
  return [...byFamily.values()].reduce(
    (a, b) => (b.ready > a.ready || (b.ready === a.ready && b.total > a.total) ? b : a),
    {
      ready: 0,
      total: 0,
    },
  );
}

/** What is known first hand of a Service in a target cluster. */
export interface TargetKnowledge {
  /** Whether the Service is exported, and how; undefined while that is not known. */
  readonly exported: MirrorMode | 'not' | undefined;
  /** Undefined while the slices are not known. */
  readonly slices: readonly EndpointSlice[] | undefined;
  /** Whether the gateway is alive; undefined while that is not known. False without a gateway. */
  readonly isGatewayAlive: boolean | undefined;
}

/** Stands for a target Service of which nothing is known, because no session has read the target yet. */
export const NOTHING_KNOWN: TargetKnowledge = { exported: undefined, slices: undefined, isGatewayAlive: undefined };

/**
 * Returns what failover knows of a target Service. A Link without a gateway counts like one with a dead gateway. Lists
 * and watches that do not show the Service may be out of date, so `exported` stays undefined until the target has
 * confirmed that the Service is gone.
 */
export const knowledgeOf = (
  {
    target,
    slices,
    decidable,
    isCertainlyGone,
  }: Pick<ObservedExport, 'target' | 'slices' | 'decidable' | 'isCertainlyGone'>,
  gateway: GatewayView | undefined,
): TargetKnowledge => ({
  exported: target?.mode ?? (decidable && isCertainlyGone ? 'not' : undefined),
  slices,
  isGatewayAlive: gateway === undefined ? false : gateway.alive,
});

/**
 * Returns how many endpoints in a target can be reached; undefined while that is not known.
 * @param mirrored mode of the existing mirror, which applies while `exported` is undefined
 */
export function reachable(
  { exported, slices, isGatewayAlive }: TargetKnowledge,
  mirrored: MirrorMode,
): EndpointCounts | undefined {
  const mode = exported ?? mirrored;
  if (mode === 'not') return { ready: 0, total: 0 };
  const counts = slices && sumCounts(slices.map(countSlice));
  // A dead gateway lets nothing through, even if endpoints behind it are ready. Before the first verdict, nothing is
  // known.
  if (mode === 'remote-discovery' || isGatewayAlive === true) return counts;
  return isGatewayAlive === false ? { ready: 0, total: counts?.total ?? 0 } : undefined;
}

/**
 * Returns how many members of a federated Service on a flat network are ready. Each member counts once. Undefined if no
 * member is known to be ready, and the readiness of some is not known.
 * @param members whether each member is ready; undefined while that is not known
 */
export function readyMembers(members: readonly (boolean | undefined)[]): EndpointCounts | undefined {
  const ready = members.filter((each) => each === true).length;
  return ready === 0 && members.includes(undefined) ? undefined : { ready, total: members.length };
}

/** Reports whether enough endpoints are ready: at least one, whatever the threshold. */
export const isEnough = ({ ready, total }: EndpointCounts, minReady: MinReady): boolean =>
  ready > 0 && ('count' in minReady ? ready >= minReady.count : ready * 100 >= minReady.percent * total);

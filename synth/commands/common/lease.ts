/**
 * Who holds a Lease, and whether its holder renews it, by the clock of this machine, which may differ from the cluster's.
 * Pure.
 */
import { cut } from '../../../operator/kube/errors.ts';
import type { Lease } from '../../../operator/kube/objects.ts';

/** How far the clocks of this machine and of the cluster may be apart, in milliseconds. */
const SKEW_MS = 60_000;
/** How far a clock may be ahead without any doubt, in milliseconds. */
const AHEAD_MS = 1_000;

/** Identity of the holder; empty: nobody holds the Lease, or there is none. */
export const holderOf = (lease: Lease | undefined): string => lease?.spec?.holderIdentity ?? '';

/** How long a Lease lasts after it was renewed, in milliseconds. */
export const durationMsOf = ({ spec }: Lease): number => (spec?.leaseDurationSeconds ?? 0) * 1_000;

/** How long ago a Lease was renewed, in milliseconds; NaN of one without a valid time. */
const ageMsOf = ({ spec }: Lease, nowMs: number): number => nowMs - Date.parse(spec?.renewTime ?? '');

/** Reports whether a Lease is certainly renewed; otherwise the clock may be wrong, or its holder is dead. */
export const isFresh = (lease: Lease, nowMs: number): boolean => {
  const ageMs = ageMsOf(lease, nowMs);
  return ageMs >= -AHEAD_MS && ageMs <= durationMsOf(lease);
};

/** Why what a Link reports may be old, by its Lease; undefined if somebody serves it. */
export const unserved = (lease: Lease | undefined, nowMs: number): string | undefined => {
  const holder = holderOf(lease);
  if (lease === undefined || holder === '') return 'no operator holds its Lease: what it reports may be old';
  // Of a Lease without a valid time nothing is known.
  return ageMsOf(lease, nowMs) > durationMsOf(lease) + SKEW_MS
    ? `the operator ${cut(holder)} has not renewed its Lease since ${cut(lease.spec?.renewTime ?? '')}: what it reports may be old`
    : undefined;
};

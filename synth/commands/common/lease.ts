/**
 * Who holds a Lease, and whether its holder renews it, by the clock of this machine, which may differ from the cluster's.
 * Pure.
 */
import { cut } from '../../../operator/kube/errors.ts';
import type { Lease } from '../../../operator/kube/objects.ts';
import type { Readable } from './readable.ts';

/** How far the clocks of this machine and of the cluster may be apart, in milliseconds. */
const SKEW_MS = 60_000;
/** How far a clock may be ahead without any doubt, in milliseconds. */
const AHEAD_MS = 1_000;

/** Identity of the holder; empty if nobody holds the Lease, or there is none. */
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

/** Why what is reported by the holder of a Lease may be old; undefined if the Lease is certainly renewed. */
export const unserved = (lease: Lease | undefined, nowMs: number): string | undefined => {
  const holder = holderOf(lease);
  if (lease === undefined || holder === '') return 'no operator holds its Lease: what it reports may be old';
  const ageMs = ageMsOf(lease, nowMs);
  // Of a Lease without a valid time, or of a time to come, nobody knows whether it is renewed.
  if (ageMs >= -SKEW_MS && ageMs <= durationMsOf(lease) + SKEW_MS) return undefined;
  const renewed = lease.spec?.renewTime ?? 'never';
  return ageMs < 0
    ? `the operator ${cut(holder)} has renewed its Lease at ${cut(renewed)}, which is yet to come by the clock here: what it reports may be old`
    : `the operator ${cut(holder)} has not renewed its Lease since ${cut(renewed)}: what it reports may be old`;
};

/** Why what an operator reports is not to be relied on: nobody serves it, or whether anybody does is not known. */
export interface Unserved {
  readonly reason: 'NotServed' | 'NotKnown';
  readonly message: string;
}

/** The same of a Lease that may not be readable; undefined if it is certainly renewed. */
export const unservedBy = (lease: Readable<Lease | undefined>, nowMs: number): Unserved | undefined => {
  if ('obstacle' in lease) {
    return { reason: 'NotKnown', message: `whether an operator serves it is not known: ${lease.obstacle}` };
  }
  const message = unserved(lease.found, nowMs);
  return message === undefined ? undefined : { reason: 'NotServed', message };
};

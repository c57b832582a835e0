/** Whether anybody serves a Link, by its Lease: what a Link reports is old if nobody does. Pure. */
import { cut } from '../../../operator/kube/errors.ts';
import type { Lease } from '../../../operator/kube/objects.ts';

/** How far the clocks of this machine and of the cluster may be apart, in milliseconds. */
const SKEW_MS = 60_000;

/** Why what a Link reports may be old; undefined if somebody serves it. */
export const unserved = (lease: Lease | undefined, nowMs: number): string | undefined => {
  const { holderIdentity, leaseDurationSeconds, renewTime } = lease?.spec ?? {};
  if (!holderIdentity) return 'no operator holds its Lease: what it reports may be old';
  const silentMs = nowMs - Date.parse(renewTime ?? '');
  // Of a Lease without a valid time nothing is known.
  return silentMs > (leaseDurationSeconds ?? 0) * 1_000 + SKEW_MS
    ? `the operator ${cut(holderIdentity)} has not renewed its Lease since ${cut(renewTime ?? '')}: what it reports may be old`
    : undefined;
};

/**
 * Whether the holders of Leases are alive. The clock of this machine and that of the cluster may differ, so a Lease that
 * looks expired, or renewed in the future, is watched for as long as it lasts: only one that does not change is dead.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import type { Reader } from './reader.ts';

export interface Heartbeat {
  readonly lease: Lease;
  /** Empty: nobody holds it. */
  readonly holder: string;
  /** Whether its holder renews it. */
  readonly isAlive: boolean;
}

/** Longest time for which Leases are watched, in milliseconds. */
const LONGEST_WATCH_MS = 60_000;
const POLL_MS = 500;
/** How far a clock may be ahead without any doubt, in milliseconds. */
const AHEAD_MS = 1_000;

export const holderOf = ({ spec }: Lease): string => spec?.holderIdentity ?? '';
const durationMs = ({ spec }: Lease): number => (spec?.leaseDurationSeconds ?? 0) * 1_000;

/** Reports whether a Lease is renewed by the clock of this machine; undefined if that clock is in doubt. */
const isFresh = (lease: Lease, nowMs: number): boolean => {
  const age = nowMs - Date.parse(lease.spec?.renewTime ?? '');
  return age >= -AHEAD_MS && age <= durationMs(lease);
};

/** The heartbeats of Leases, by name. */
export const heartbeats = async (
  reader: Reader,
  leases: readonly Lease[],
  nowMs: number,
): Promise<ReadonlyMap<string, Heartbeat>> =>
  new Map(
    await Promise.all(
      leases.map(async (lease): Promise<[string, Heartbeat]> => {
        const holder = holderOf(lease);
        const isAlive = holder !== '' && (isFresh(lease, nowMs) || (await changes(reader, lease)));
        return [lease.metadata.name, { lease, holder, isAlive }];
      }),
    ),
  );

/** Watches a Lease for as long as it lasts: reports whether its holder renews it. */
const changes = async (reader: Reader, lease: Lease): Promise<boolean> => {
  const { name, namespace } = lease.metadata;
  const until = performance.now() + Math.min(durationMs(lease), LONGEST_WATCH_MS);
  while (performance.now() < until) {
    await sleep(POLL_MS);
    const found = await reader.find<Lease>(LEASES, name, namespace);
    if (!found.ok || found.value === undefined) return false;
    if (found.value.spec?.renewTime !== lease.spec?.renewTime) return holderOf(found.value) !== '';
  }
  return false;
};

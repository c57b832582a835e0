/**
 * Whether the holders of Leases are alive. The clock of this machine and that of the cluster may differ, so a Lease that
 * looks expired, or renewed in the future, is watched for as long as it lasts: only one that does not change is dead.
 */
import { sleep } from '../../../operator/kube/backoff.ts';
import { type Lease, LEASES } from '../../../operator/kube/objects.ts';
import { durationMsOf, holderOf, isFresh } from '../common/lease.ts';
import type { Reader } from './reader.ts';

export interface Heartbeat {
  readonly lease: Lease;
  /** Empty if nobody holds it. */
  readonly holder: string;
  /** Whether its holder renews it. */
  readonly isAlive: boolean;
}

/** Longest time for which Leases are watched, in milliseconds. */
const LONGEST_WATCH_MS = 60_000;
const POLL_MS = 500;

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
  const until = performance.now() + Math.min(durationMsOf(lease), LONGEST_WATCH_MS);
  while (performance.now() < until) {
    await sleep(POLL_MS);
    const found = await reader.find<Lease>(LEASES, name, namespace);
    if (!found.ok || found.value === undefined) return false;
    if (found.value.spec?.renewTime !== lease.spec?.renewTime) return holderOf(found.value) !== '';
  }
  return false;
};

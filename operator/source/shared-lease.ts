/** Leases in the source cluster that Linkerd's controllers take as well. */
import type { OperatorConfig } from '../config/config.ts';
import type { LeaseLockOptions } from '../runtime/lease.ts';

/** What taking such a Lease requires. */
export interface LeaseSurroundings extends Required<Pick<LeaseLockOptions, 'client' | 'hasCeased' | 'interruptions'>> {
  readonly config: OperatorConfig;
}

/**
 * Returns the options of a Lease that Linkerd's controllers take as well. The Lease is renewed after each third of its
 * duration.
 */
export function sharedLease(name: string, env: LeaseSurroundings): LeaseLockOptions {
  const { config, client, hasCeased, interruptions } = env;
  const { namespace, identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = config;
  return {
    client,
    namespace,
    name,
    identity,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    renewEveryMs: leaseDurationMs / 3,
    interruptions,
    hasCeased,
  };
}

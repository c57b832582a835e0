/** The Leases in the source cluster that Linkerd's controllers take too. */
import type { OperatorConfig } from '../config/config.ts';
import type { LeaseLockOptions } from '../runtime/lease.ts';

/** What such a Lease is taken with. */
export interface LeaseSurroundings extends Required<Pick<LeaseLockOptions, 'client' | 'hasCeased' | 'interruptions'>> {
  readonly config: OperatorConfig;
}

/** Returns the options of a Lease that Linkerd's controllers take too: it is renewed every third of its duration. */
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

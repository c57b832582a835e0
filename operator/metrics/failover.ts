/** What is measured of ServiceFailovers: their backends, and how often requests came to go to others. */
import type { Instruments } from './instruments.ts';

export function failoverMetrics({ gauge, counter }: Instruments) {
  const backendReady = gauge(
    'linkspan_failover_backend_ready',
    'Whether a backend of a ServiceFailover is ready (1) or not (0)',
    'failover',
    'backend',
  );
  const backendWeight = gauge(
    'linkspan_failover_backend_weight',
    'Weight of a backend in the routes of a ServiceFailover',
    'failover',
    'backend',
  );
  const failoverSwitches = counter(
    'linkspan_failover_switches_total',
    'Times that requests came to go to other backends of a ServiceFailover',
    'failover',
  );
  /** By ServiceFailover, `namespace/name`, the backends that have series. */
  const backendsOf = new Map<string, readonly string[]>();
  const forgetFailoverBackends = (failover: string): void => {
    for (const backend of backendsOf.get(failover) ?? []) {
      backendReady.remove({ failover, backend });
      backendWeight.remove({ failover, backend });
    }
    backendsOf.delete(failover);
  };

  return {
    failoverSwitches,
    /** Sets the backends of a ServiceFailover, `namespace/name`, in place of those that it had. */
    setFailover: (
      failover: string,
      backends: readonly { readonly service: string; readonly ready: boolean; readonly weight?: number }[],
    ): void => {
      forgetFailoverBackends(failover);
      for (const { service: backend, ready, weight = 0 } of backends) {
        backendReady.set({ failover, backend }, ready ? 1 : 0);
        backendWeight.set({ failover, backend }, weight);
      }
      backendsOf.set(
        failover,
        backends.map(({ service }) => service),
      );
    },
    /** Removes the series of a ServiceFailover that is gone. */
    forgetFailover: (failover: string): void => {
      forgetFailoverBackends(failover);
      failoverSwitches.remove({ failover });
    },
  };
}

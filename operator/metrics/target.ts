/** What is measured of target clusters: their gateways, their mirrors, and when they were last heard. */
import { forget, type Instruments, TARGET, WORK_BUCKETS } from './instruments.ts';

/** Milliseconds; Linkerd's, so that its dashboards keep working. */
const LATENCY_BUCKETS_MS = [1, 10, 100, 1_000, 10_000].flatMap((unit) => [1, 2, 3, 4, 5].map((n) => n * unit));

/** The gateway, as its probes find it. */
const gatewayMetrics = ({ gauge, counter, histogram }: Instruments) => ({
  /** 1 alive, 0 not. */
  gatewayAlive: gauge('gateway_alive', 'Whether the gateway of the target answers its probes (1) or not (0)', TARGET),
  /** 1 when the Link has a gateway that is probed, 0 when not. */
  gatewayEnabled: gauge('gateway_enabled', 'Whether the Link of the target has a gateway (1) or not (0)', TARGET),
  /** Milliseconds. */
  gatewayLatency: gauge('gateway_latency', 'Latency of the last probe of the gateway, in milliseconds', TARGET),
  /** Milliseconds. */
  gatewayProbeLatency: histogram(
    'gateway_probe_latency_ms',
    'Latency of probes of the gateway, in milliseconds',
    LATENCY_BUCKETS_MS,
    TARGET,
  ),
  /** `probe_successful` is `true` or `false`. */
  gatewayProbes: counter(
    'gateway_probes',
    'Probes of the gateway; probe_successful is true or false',
    TARGET,
    'probe_successful',
  ),
});

/** What is made of the exports of a target. */
const mirrorMetrics = ({ gauge, counter, histogram }: Instruments) => ({
  endpointRepairs: counter(
    'service_mirror_endpoint_repairs',
    'Endpoints of mirrors that were edited or deleted by others and put right',
    TARGET,
  ),
  /** Seconds. */
  convergence: histogram(
    'linkspan_convergence_seconds',
    'Seconds from a change being seen in the target to the last write that it caused',
    WORK_BUCKETS,
    TARGET,
  ),
  mirrors: gauge(
    'linkspan_mirrors',
    'Exported Services of the target by state: ready, waiting (a headless one, for endpoints) or failed',
    TARGET,
    'state',
  ),
  mirrorsFailed: gauge(
    'linkspan_mirrors_failed',
    'Exported Services of the target that are not mirrored, by the reason in the status of the Link',
    TARGET,
    'reason',
  ),
  mirrorFailures: counter(
    'linkspan_mirror_failures_total',
    'Times that a Service of the target came to be not mirrored, or for another reason',
    TARGET,
    'reason',
  ),
  mirrorsCreated: counter('linkspan_mirrors_created_total', 'Mirrors created, endpoint mirrors included', TARGET),
  mirrorsDeleted: counter('linkspan_mirrors_deleted_total', 'Mirrors deleted, endpoint mirrors included', TARGET),
  /** `state` is `joined` or `refused`; an empty cluster is the source cluster. */
  federatedMembers: gauge(
    'linkspan_federated_members',
    'Services selected as members of federated Services, by state: joined or refused; an empty target_cluster_name is the source cluster',
    TARGET,
    'state',
  ),
  heldDeletions: gauge('linkspan_held_deletions', 'Deletions of mirrors of the target that are held back', TARGET),
});

/** The connection to the API server of a target. */
const connectionMetrics = ({ gauge }: Instruments) => ({
  /** Unix time. */
  credentialsExpiry: gauge(
    'linkspan_credentials_expiry_seconds',
    'When the token for the target ends, in seconds since 1970; no series if it does not',
    TARGET,
  ),
  /** Unix time. */
  credentialsRenewal: gauge(
    'linkspan_credentials_renewal_due_seconds',
    'When the token for the target is renewed at the latest, in seconds since 1970; no series if it does not end',
    TARGET,
  ),
  /** Unix time; reads of the MCS API count where the Link reads nothing else. */
  lastHeard: gauge(
    'linkspan_target_last_heard_timestamp_seconds',
    'When a list, an event or a bookmark last came from the target, in seconds since 1970',
    TARGET,
  ),
});

/** Metrics of a target cluster, all with label `target_cluster_name`. */
export function targetMetrics(instruments: Instruments) {
  const target = { ...gatewayMetrics(instruments), ...mirrorMetrics(instruments), ...connectionMetrics(instruments) };
  /** By cluster, the reasons that have a series. */
  const failedReasons = new Map<string, ReadonlySet<string>>();

  return {
    target,
    /** Sets how many Services of a target are not mirrored, by reason, in place of what there was. */
    setFailed: (cluster: string, counts: ReadonlyMap<string, number>): void => {
      for (const reason of failedReasons.get(cluster) ?? []) {
        if (!counts.has(reason)) target.mirrorsFailed.remove({ [TARGET]: cluster, reason });
      }
      for (const [reason, count] of counts) target.mirrorsFailed.set({ [TARGET]: cluster, reason }, count);
      failedReasons.set(cluster, new Set(counts.keys()));
    },
    /** Removes every series of a target cluster that nothing serves any more. */
    forgetTarget: async (cluster: string): Promise<void> => {
      failedReasons.delete(cluster);
      await Promise.all(Object.values(target).map((metric) => forget(metric, TARGET, cluster)));
    },
  };
}

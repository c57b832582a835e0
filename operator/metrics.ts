/**
 * The metrics of one operator, in a registry of its own. Names are either Linkerd's, which `linkerd multicluster
 * gateways` and its dashboards read, or those of controller-runtime and client-go, which people have dashboards for;
 * only what has no name in the field starts with `linkspan_`.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { ClientHooks } from './kube/client.ts';

const TARGET = 'target_cluster_name';

/** Milliseconds; Linkerd's, so that its dashboards keep working. */
const LATENCY_BUCKETS_MS = [1, 10, 100, 1_000, 10_000].flatMap((unit) => [1, 2, 3, 4, 5].map((n) => n * unit));

/** Seconds. */
const WORK_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const STATUSES = ['True', 'False', 'Unknown'] as const;

/** The part of a condition that is measured. */
type ConditionStatus = { readonly type: string; readonly status: (typeof STATUSES)[number] };

export interface MetricsOptions {
  /** Whether memory, CPU, event loop and garbage collection of the process are measured too. @default true */
  readonly process?: boolean;
  /** Whether anything is measured: a simulation looks at nothing. @default true */
  readonly recorded?: boolean;
}

/** A metric that nobody looks at. */
const UNRECORDED = {
  inc: () => undefined,
  dec: () => undefined,
  set: () => undefined,
  observe: () => undefined,
  remove: () => undefined,
  get: () => Promise.resolve({ values: [] }),
};

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of one operator; nothing global is touched. */
export function createMetrics(options: MetricsOptions = {}) {
  const registry = new Registry();
  const registers = [registry];
  const { recorded = true } = options;
  if (recorded && (options.process ?? true)) collectDefaultMetrics({ register: registry });

  const made = <M>(make: () => M): M => (recorded ? make() : (UNRECORDED as M));
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    made(() => new Gauge<L>({ name, help, labelNames, registers }));
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    made(() => new Counter<L>({ name, help, labelNames, registers }));
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    made(() => new Histogram<L>({ name, help, buckets, labelNames, registers }));

  /** Metrics of a target cluster, all with label `target_cluster_name`; they go with {@link forgetTarget}. */
  const target = {
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
    /** Unix time; reads of the MCS API count where the Link reads nothing else. */
    lastHeard: gauge(
      'linkspan_target_last_heard_timestamp_seconds',
      'When a list, an event or a bookmark last came from the target, in seconds since 1970',
      TARGET,
    ),
  };
  const failedReasons = new Map<string, ReadonlySet<string>>();

  const linkCondition = gauge(
    'linkspan_link_condition',
    'Conditions of the Link: 1 for the status that a condition has, 0 for the other two',
    'link',
    TARGET,
    'type',
    'status',
  );
  const reported = new Map<string, readonly Record<'link' | typeof TARGET | 'type' | 'status', string>[]>();
  const forgetLink = (link: string): void => {
    for (const labels of reported.get(link) ?? []) linkCondition.remove(labels);
    reported.delete(link);
  };

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
  const backendsOf = new Map<string, readonly string[]>();
  const forgetFailoverBackends = (failover: string): void => {
    for (const backend of backendsOf.get(failover) ?? []) {
      backendReady.remove({ failover, backend });
      backendWeight.remove({ failover, backend });
    }
    backendsOf.delete(failover);
  };

  const serviceImports = gauge(
    'linkspan_service_imports',
    'ServiceImports that the operator writes, by whether they are ready: true or false',
    'ready',
  );

  const restRequests = counter(
    'rest_client_requests_total',
    'Requests to API servers; code is the HTTP status, or <error> if no answer came',
    'code',
    'method',
    'host',
  );
  const bytesRead = counter(
    'linkspan_http_bytes_read_total',
    'Bytes of response bodies read from API servers, watches included',
    'host',
  );

  /** Metrics of a reconcile loop, which `controller` names; `result` is `success` or `error`. */
  const reconcile = {
    total: counter(
      'controller_runtime_reconcile_total',
      'Reconciles by result: success or error',
      'controller',
      'result',
    ),
    errors: counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed', 'controller'),
    /** Seconds. */
    time: histogram(
      'controller_runtime_reconcile_time_seconds',
      'Seconds that a reconcile took',
      WORK_BUCKETS,
      'controller',
    ),
    activeWorkers: gauge('controller_runtime_active_workers', 'Reconciles under way', 'controller'),
  };
  /** Metrics of the queue of a reconcile loop, which `name` names. */
  const workqueue = {
    depth: gauge('workqueue_depth', 'Keys waiting in the workqueue', 'name'),
    adds: counter('workqueue_adds_total', 'Keys added to the workqueue', 'name'),
    retries: counter('workqueue_retries_total', 'Keys added again after a failure', 'name'),
    /** Seconds. */
    queueDuration: histogram('workqueue_queue_duration_seconds', 'Seconds that a key waited', WORK_BUCKETS, 'name'),
    /** Seconds. */
    workDuration: histogram(
      'workqueue_work_duration_seconds',
      'Seconds that a key was worked on',
      WORK_BUCKETS,
      'name',
    ),
  };

  return {
    registry,
    target,
    /** Sets the conditions of a Link, in place of those that it had; the cluster is empty where it is not known. */
    setConditions: (link: string, cluster: string, conditions: readonly ConditionStatus[]): void => {
      forgetLink(link);
      const series = conditions.flatMap(({ type, status }) =>
        STATUSES.map((each) => ({ labels: { link, [TARGET]: cluster, type, status: each }, isSo: each === status })),
      );
      for (const { labels, isSo } of series) linkCondition.set(labels, isSo ? 1 : 0);
      reported.set(
        link,
        series.map(({ labels }) => labels),
      );
    },
    /** Sets how many Services of a target are not mirrored, by reason, in place of what there was. */
    setFailed: (cluster: string, counts: ReadonlyMap<string, number>): void => {
      for (const reason of failedReasons.get(cluster) ?? []) {
        if (!counts.has(reason)) target.mirrorsFailed.remove({ [TARGET]: cluster, reason });
      }
      for (const [reason, count] of counts) target.mirrorsFailed.set({ [TARGET]: cluster, reason }, count);
      failedReasons.set(cluster, new Set(counts.keys()));
    },
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
    failoverSwitches,
    serviceImports,
    /** Removes the conditions of a Link that is gone. */
    forgetLink,
    reconcile,
    workqueue,
    /** Always 1. */
    buildInfo: gauge(
      'linkspan_build_info',
      'Always 1, for the version of Linkspan and of Node that runs',
      'version',
      'node_version',
    ),
    /** 1 while this process leads; `name` is the Lease's. */
    leader: gauge(
      'leader_election_master_status',
      'Whether this replica holds the Lease called name, and leads (1), or not (0)',
      'name',
    ),
    /** Options for clients, so that their requests are counted. */
    clientHooks: {
      onResponse: (host, method, code) => restRequests.inc({ host, method, code }),
      onRead: (host, bytes) => bytesRead.inc({ host }, bytes),
    } satisfies ClientHooks,
    /** Removes every series of a controller that will not run again, and of its queue. */
    forgetController: async (controller: string): Promise<void> => {
      await Promise.all([
        ...Object.values(reconcile).map((metric) => forget(metric, 'controller', controller)),
        ...Object.values(workqueue).map((metric) => forget(metric, 'name', controller)),
      ]);
    },
    /** Removes every series of a target cluster that nothing serves any more. */
    forgetTarget: async (cluster: string): Promise<void> => {
      failedReasons.delete(cluster);
      await Promise.all(Object.values(target).map((metric) => forget(metric, TARGET, cluster)));
    },
  };
}

/** Removes the series of a metric that have a value of a label. */
async function forget(metric: Pick<Gauge, 'get' | 'remove'>, label: string, value: string): Promise<void> {
  const { values } = await metric.get();
  for (const { labels } of values) {
    if (labels[label] !== value) continue;
    // A histogram's values carry the bucket beside the labels that it is removed by.
    metric.remove(Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le')));
  }
}

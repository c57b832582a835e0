/**
 * What the dashboard shows, as data: sections of panels, each with its PromQL over the operator's metrics. Only the
 * replica that leads has series of targets, and another one after it, so these are aggregated over the replicas. Names
 * that other controllers use too are narrowed to the operator's own series, by variable `job` where nothing else tells.
 */
import { OPERATOR_LEASE } from '../../crds/wire.ts';

/** One query, and how its series are called. */
export interface PanelQuery {
  readonly expr: string;
  /** As Grafana has it, with `{{label}}` for a label's value. */
  readonly legend: string;
}

/** One panel. */
export interface DashboardPanel {
  readonly title: string;
  readonly description?: string;
  /** `states`: what each series was when, where 1 is good, or bad. */
  readonly kind: 'number' | 'graph' | 'good-states' | 'bad-states';
  /** Of 24 columns. */
  readonly width: number;
  /** As Grafana calls it. @default short */
  readonly unit?: string;
  readonly queries: readonly PanelQuery[];
}

/** Panels under one heading. */
export interface DashboardSection {
  readonly title: string;
  readonly panels: readonly DashboardPanel[];
}

const LEADER = `leader_election_master_status{name="${OPERATOR_LEASE}"}`;

/** The variables of the dashboard, by `label_values`. */
export const DASHBOARD_VARIABLES = {
  job: `label_values(${LEADER}, job)`,
  target: 'label_values(linkspan_link_condition{type="Ready"}, target_cluster_name)',
} as const;

const OF_TARGET = 'target_cluster_name=~"$target"';
const OF_OPERATOR = 'job=~"$job"';
const OF_LINKS = `controller=~"link/.+",${OF_OPERATOR}`;
const OF_QUEUES = `name=~"link/.+",${OF_OPERATOR}`;
const TARGET = '{{target_cluster_name}}';

/** A Link that was never accepted is of no cluster, and always shown. */
const OF_LINK = 'target_cluster_name=~"$target|"';
const LINK = '{{link}}';

const condition = (type: string, status: string): string =>
  `max by (link) (linkspan_link_condition{type="${type}",status="${status}",${OF_LINK}})`;

const perTarget = (metric: string, by = 'target_cluster_name'): string => `max by (${by}) (${metric}{${OF_TARGET}})`;

const rate = (by: string, metric: string, matchers: string): string =>
  `sum by (${by}) (rate(${metric}{${matchers}}[$__rate_interval]))`;

const quantile = (q: number, by: string, metric: string, matchers: string): PanelQuery => ({
  expr: `histogram_quantile(${q}, ${rate(`le, ${by}`, `${metric}_bucket`, matchers)})`,
  legend: `p${q * 100} {{${by}}}`,
});

const quantiles = (by: string, metric: string, matchers: string): readonly PanelQuery[] =>
  [0.5, 0.99].map((q) => quantile(q, by, metric, matchers));

/** The sections, from top to bottom. */
export const DASHBOARD_SECTIONS: readonly DashboardSection[] = [
  {
    title: 'Links',
    panels: [
      {
        title: 'Links',
        kind: 'number',
        width: 6,
        queries: [
          { expr: `sum(${condition('Ready', 'True')})`, legend: 'ready' },
          { expr: `count(${condition('Ready', 'True')} == 0) or vector(0)`, legend: 'not ready' },
        ],
      },
      {
        title: 'Ready',
        description: 'Whether the mirrors of each Link follow its target.',
        kind: 'good-states',
        width: 9,
        queries: [{ expr: condition('Ready', 'True'), legend: LINK }],
      },
      {
        title: 'What is wrong',
        description: 'Conditions of Links that are false, and deletions that are held back.',
        kind: 'bad-states',
        width: 9,
        queries: [
          {
            expr: `max by (link, type) (linkspan_link_condition{type!~"Ready|PruneHeld",status="False",${OF_LINK}}) == 1`,
            legend: `${LINK}: not {{type}}`,
          },
          { expr: `${condition('PruneHeld', 'True')} == 1`, legend: `${LINK}: PruneHeld` },
        ],
      },
    ],
  },
  {
    title: 'Gateways',
    panels: [
      {
        title: 'Alive',
        kind: 'good-states',
        width: 8,
        queries: [{ expr: perTarget('gateway_alive'), legend: TARGET }],
      },
      {
        title: 'Probe latency',
        kind: 'graph',
        width: 8,
        unit: 'ms',
        queries: [
          { expr: perTarget('gateway_latency'), legend: `last ${TARGET}` },
          quantile(0.99, 'target_cluster_name', 'gateway_probe_latency_ms', OF_TARGET),
        ],
      },
      {
        title: 'Probes that succeed',
        kind: 'graph',
        width: 8,
        unit: 'percentunit',
        queries: [
          {
            expr: `${rate('target_cluster_name', 'gateway_probes', `probe_successful="true",${OF_TARGET}`)} / ${rate('target_cluster_name', 'gateway_probes', OF_TARGET)}`,
            legend: TARGET,
          },
        ],
      },
    ],
  },
  {
    title: 'Mirrors',
    panels: [
      {
        title: 'Mirrors',
        description: 'Failed: exported, but not mirrored; status.mirrorServices of the Link says why.',
        kind: 'graph',
        width: 8,
        queries: [{ expr: perTarget('linkspan_mirrors', 'target_cluster_name, state'), legend: `${TARGET} {{state}}` }],
      },
      {
        title: 'Not mirrored, by reason',
        kind: 'graph',
        width: 8,
        queries: [
          {
            expr: perTarget('linkspan_mirrors_failed', 'target_cluster_name, reason'),
            legend: `${TARGET} {{reason}}`,
          },
        ],
      },
      {
        title: 'Created and deleted',
        description: 'The log names each mirror, with the cause.',
        kind: 'graph',
        width: 8,
        unit: 'ops',
        queries: [
          {
            expr: rate('target_cluster_name', 'linkspan_mirrors_created_total', OF_TARGET),
            legend: `${TARGET} created`,
          },
          {
            expr: rate('target_cluster_name', 'linkspan_mirrors_deleted_total', OF_TARGET),
            legend: `${TARGET} deleted`,
          },
        ],
      },
      {
        title: 'Deletions held',
        description: 'Condition PruneHeld of the Link names some of them, and how to confirm them.',
        kind: 'graph',
        width: 8,
        queries: [{ expr: perTarget('linkspan_held_deletions'), legend: TARGET }],
      },
      {
        title: 'Convergence',
        description: 'From a change being seen in the target to the last write that it caused.',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: quantiles('target_cluster_name', 'linkspan_convergence_seconds', OF_TARGET),
      },
      {
        title: 'Repairs',
        description: 'Endpoints of mirrors that others edited or deleted, and that were put right.',
        kind: 'graph',
        width: 8,
        unit: 'ops',
        queries: [{ expr: rate('target_cluster_name', 'service_mirror_endpoint_repairs', OF_TARGET), legend: TARGET }],
      },
    ],
  },
  {
    title: 'Work',
    panels: [
      {
        title: 'Reconciles',
        kind: 'graph',
        width: 8,
        unit: 'ops',
        queries: [
          {
            expr: rate('controller, result', 'controller_runtime_reconcile_total', OF_LINKS),
            legend: '{{controller}} {{result}}',
          },
        ],
      },
      {
        title: 'Reconcile errors',
        kind: 'graph',
        width: 8,
        unit: 'ops',
        queries: [
          {
            expr: rate('controller', 'controller_runtime_reconcile_errors_total', OF_LINKS),
            legend: '{{controller}}',
          },
        ],
      },
      {
        title: 'Time of a reconcile',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: quantiles('controller', 'controller_runtime_reconcile_time_seconds', OF_LINKS),
      },
      {
        title: 'Workqueue: keys waiting',
        kind: 'graph',
        width: 8,
        queries: [{ expr: `max by (name) (workqueue_depth{${OF_QUEUES}})`, legend: '{{name}}' }],
      },
      {
        title: 'Workqueue: time waited',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: quantiles('name', 'workqueue_queue_duration_seconds', OF_QUEUES),
      },
      {
        title: 'Workqueue: retries',
        kind: 'graph',
        width: 8,
        unit: 'ops',
        queries: [{ expr: rate('name', 'workqueue_retries_total', OF_QUEUES), legend: '{{name}}' }],
      },
    ],
  },
  {
    title: 'Operator',
    panels: [
      {
        title: 'Leader',
        kind: 'good-states',
        width: 8,
        queries: [{ expr: `max by (pod, instance) (${LEADER})`, legend: '{{pod}} {{instance}}' }],
      },
      {
        title: 'Versions',
        kind: 'graph',
        width: 8,
        queries: [{ expr: `count by (version) (linkspan_build_info{${OF_OPERATOR}})`, legend: '{{version}}' }],
      },
      {
        title: 'Since each target was heard',
        description: 'A target that nobody changes is heard once a minute, or at least every two and a half.',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: [{ expr: `time() - ${perTarget('linkspan_target_last_heard_timestamp_seconds')}`, legend: TARGET }],
      },
      {
        title: 'API requests',
        description: 'To the API servers of the source and of the targets, by answer.',
        kind: 'graph',
        width: 12,
        unit: 'reqps',
        queries: [{ expr: rate('host, code', 'rest_client_requests_total', OF_OPERATOR), legend: '{{host}} {{code}}' }],
      },
      {
        title: 'Bytes read from API servers',
        kind: 'graph',
        width: 12,
        unit: 'Bps',
        queries: [{ expr: rate('host', 'linkspan_http_bytes_read_total', OF_OPERATOR), legend: '{{host}}' }],
      },
      {
        title: 'Memory',
        kind: 'graph',
        width: 8,
        unit: 'bytes',
        queries: [
          { expr: `process_resident_memory_bytes{${OF_OPERATOR}}`, legend: 'resident {{pod}}' },
          { expr: `nodejs_heap_size_used_bytes{${OF_OPERATOR}}`, legend: 'heap {{pod}}' },
        ],
      },
      {
        title: 'CPU',
        description: 'Seconds of CPU per second.',
        kind: 'graph',
        width: 8,
        queries: [{ expr: `rate(process_cpu_seconds_total{${OF_OPERATOR}}[$__rate_interval])`, legend: '{{pod}}' }],
      },
      {
        title: 'Event loop lag',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: [{ expr: `nodejs_eventloop_lag_p99_seconds{${OF_OPERATOR}}`, legend: 'p99 {{pod}}' }],
      },
    ],
  },
];

/** What the dashboard shows of the operator itself: its work, its requests and its process. */
import { type DashboardSection, LEADER, Legend, most, Of, ofEach, quantiles, rate } from './dashboard-queries.ts';

/** The sections below those of Links and mirrors. */
export const PROCESS_SECTIONS: readonly DashboardSection[] = [
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
            expr: rate('controller, result', 'controller_runtime_reconcile_total', Of.links),
            legend: `${Legend.cluster} {{controller}} {{result}}`,
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
            expr: rate('controller', 'controller_runtime_reconcile_errors_total', Of.links),
            legend: `${Legend.cluster} {{controller}}`,
          },
        ],
      },
      {
        title: 'Time of a reconcile',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: quantiles('controller', 'controller_runtime_reconcile_time_seconds', Of.links),
      },
      {
        title: 'Workqueue: keys waiting',
        kind: 'graph',
        width: 8,
        queries: [{ expr: most('name', `workqueue_depth{${Of.queues}}`), legend: '{{name}}' }],
      },
      {
        title: 'Workqueue: time waited',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: quantiles('name', 'workqueue_queue_duration_seconds', Of.queues),
      },
      {
        title: 'Workqueue: retries',
        kind: 'graph',
        width: 8,
        unit: 'ops',
        queries: [{ expr: rate('name', 'workqueue_retries_total', Of.queues), legend: `${Legend.cluster} {{name}}` }],
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
        queries: [
          { expr: `max by (cluster, pod, instance) (${LEADER})`, legend: `${Legend.cluster} {{pod}} {{instance}}` },
        ],
      },
      {
        title: 'Versions',
        kind: 'graph',
        width: 8,
        queries: [
          {
            expr: `count by (cluster, version) (linkspan_build_info{${Of.operator}})`,
            legend: `${Legend.cluster} {{version}}`,
          },
        ],
      },
      {
        title: 'Since each target was heard',
        description: 'A target that nobody changes is heard once a minute, or at least every two and a half.',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: [
          {
            expr: most(
              'target_cluster_name',
              `time() - ${ofEach('target_cluster_name', `linkspan_target_last_heard_timestamp_seconds{${Of.target}}`)}`,
            ),
            legend: Legend.target,
          },
        ],
      },
      {
        title: 'API requests',
        description: 'To the API servers of the source and of the targets, by answer.',
        kind: 'graph',
        width: 12,
        unit: 'reqps',
        queries: [
          {
            expr: rate('host, code', 'rest_client_requests_total', Of.operator),
            legend: `${Legend.cluster} {{host}} {{code}}`,
          },
        ],
      },
      {
        title: 'Bytes read from API servers',
        kind: 'graph',
        width: 12,
        unit: 'Bps',
        queries: [
          { expr: rate('host', 'linkspan_http_bytes_read_total', Of.operator), legend: `${Legend.cluster} {{host}}` },
        ],
      },
      {
        title: 'Memory',
        kind: 'graph',
        width: 8,
        unit: 'bytes',
        queries: [
          { expr: `process_resident_memory_bytes{${Of.operator}}`, legend: `resident ${Legend.cluster} {{pod}}` },
          { expr: `nodejs_heap_size_used_bytes{${Of.operator}}`, legend: `heap ${Legend.cluster} {{pod}}` },
        ],
      },
      {
        title: 'CPU',
        description: 'Seconds of CPU per second.',
        kind: 'graph',
        width: 8,
        queries: [
          {
            expr: `rate(process_cpu_seconds_total{${Of.operator}}[$__rate_interval])`,
            legend: `${Legend.cluster} {{pod}}`,
          },
        ],
      },
      {
        title: 'Event loop lag',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: [
          { expr: `nodejs_eventloop_lag_p99_seconds{${Of.operator}}`, legend: `p99 ${Legend.cluster} {{pod}}` },
        ],
      },
    ],
  },
];

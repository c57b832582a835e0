/** docs/metrics.md, produced from the metrics that the operator registers. */
import { createMetrics } from '../../../operator/metrics/index.ts';

/** A metric as the page shows it. */
export interface ShownMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly meaning: string;
}

/**
 * What the page has of the metrics of any process on Node: those that matter, and that there are on every machine, so
 * that the page is the same wherever it is produced.
 */
const OF_PROCESS: readonly string[] = [
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_used_bytes',
  'nodejs_gc_duration_seconds',
];

/** Every metric that the operator defines, and some of its process. */
export const shownMetrics = (): readonly ShownMetric[] => {
  const { registry } = createMetrics();
  const registered = registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string;
    readonly help: string;
    readonly labelNames: readonly string[];
    readonly constructor: { readonly name: string };
  }[];
  const shown = registered.filter(({ name }) => !/^(process|nodejs)_/.test(name) || OF_PROCESS.includes(name));
  return shown.map(({ name, help, labelNames, constructor }) => ({
    name,
    type: constructor.name.toLowerCase(),
    labels: labelNames,
    meaning: help.replace(/\.$/, '').replaceAll(/<\w+>/g, '`$&`'),
  }));
};

/** A part of the page: the metrics whose names match, and none that an earlier part has. */
const PARTS: readonly { readonly heading: string; readonly text: string; readonly of: RegExp }[] = [
  {
    heading: 'Links and mirrors',
    text: '`link` is the name of a Link, `target_cluster_name` its `spec.targetClusterName`. `reason` is one of those of `status.mirrorServices`.',
    of: /^linkspan_(link|mirror|federated|held|target|credentials|convergence)|^service_mirror_/,
  },
  {
    heading: 'Gateways',
    text: 'These have the names that `linkerd multicluster gateways` and the dashboards of Linkerd read.',
    of: /^gateway_/,
  },
  {
    heading: 'Failover',
    text: '`failover` is namespace and name of a ServiceFailover, `backend` the name of a Service.',
    of: /^linkspan_failover_/,
  },
  {
    heading: 'Who may come through the gateway',
    text: 'There are none without `--gateway-access`. `open`, `closed` and the other states are those of rule M2.',
    of: /^linkspan_gateway_access_/,
  },
  {
    heading: 'ServiceImports',
    text: 'There are none where the MCS API is not installed.',
    of: /^linkspan_service_imports$/,
  },
  {
    heading: 'Reconciles and workqueues',
    text: 'These have the names that dashboards for controller-runtime read. `controller`, or `name`, is `link/` and the name of a Link for the reconciles of its mirrors, `links` for those of the Links themselves, `failover` for those of ServiceFailovers, `imports` for those of ServiceImports, and `gateway-access` for those of the policy of the gateway.',
    of: /^(controller_runtime|workqueue)_/,
  },
  {
    heading: 'API servers',
    text: '`host` is the host and port of the API server: that of the source cluster, or of a target. The series of a target go when no Link has a connection to it any more.',
    of: /^rest_client_|^linkspan_http_/,
  },
  { heading: 'The operator', text: 'Every replica has these.', of: /^linkspan_build_info$|^leader_election_/ },
  {
    heading: 'The process',
    text: 'Among others that prom-client has of any process on Node.',
    of: /^(process|nodejs)_/,
  },
];

/** Questions that the metrics answer, each with its PromQL. */
export const QUERIES: readonly (readonly [question: string, expr: string])[] = [
  [
    'Seconds since each target was heard. A target that nobody changes is heard about once a minute, and at least every two and a half',
    'time() - max by (cluster, target_cluster_name) (linkspan_target_last_heard_timestamp_seconds)',
  ],
  [
    'Services that are not mirrored, and why',
    'max by (cluster, target_cluster_name, reason) (linkspan_mirrors_failed)',
  ],
  [
    'Mirrors that were deleted within the last hour; the log names each, with the cause',
    'sum by (cluster, target_cluster_name) (increase(linkspan_mirrors_deleted_total[1h]))',
  ],
  ['Versions that run', 'count by (cluster, version) (linkspan_build_info)'],
];

/** @throws Error if a metric is of no part of the page */
export const metricsPage = (): string => {
  const left = new Set(shownMetrics());
  const parts = PARTS.map(({ heading, text, of }) => {
    const shown = [...left].filter(({ name }) => of.test(name));
    for (const each of shown) left.delete(each);
    return `## ${heading}\n\n${text}\n\n${table(shown)}`;
  });
  if (left.size > 0) throw new Error(`no part of the page has ${[...left].map(({ name }) => name).join(', ')}`);
  return [INTRODUCTION, ...parts, queries()].join('\n\n');
};

const INTRODUCTION = `# Metrics

Every replica of the operator serves its metrics for Prometheus at \`/metrics\` of its admin port (9999, \`--admin-address\`).
The construct \`Monitoring\` renders what scrapes them, a dashboard, and alerts, whose [runbooks](runbooks.md) say what to do.

Only the replica that leads has metrics of Links and targets. They are removed when the Link is: no series is left of what is gone.
No label has a value for each Service or pod, so that the number of series depends on the number of Links alone.
A histogram has the series \`_bucket\`, \`_sum\` and \`_count\`.

\`npm run docs\` generates this page from the metrics that the operator registers, and a test fails when the page differs from them.`;

const table = (metrics: readonly ShownMetric[]): string =>
  [
    '| metric | type | labels | meaning |',
    '| --- | --- | --- | --- |',
    ...metrics.map(
      ({ name, type, labels, meaning }) =>
        `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${meaning} |`,
    ),
  ].join('\n');

const queries = (): string =>
  ['## Queries', ...QUERIES.map(([question, expr]) => `${question}:\n\n\`\`\`promql\n${expr}\n\`\`\``)].join('\n\n');

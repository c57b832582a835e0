/**
 * What the dashboard shows, as data: sections of panels, each with its PromQL, from what users notice down to the process.
 */
import { PROCESS_SECTIONS } from './dashboard-process-panels.ts';
import {
  condition,
  type DashboardSection,
  least,
  Legend,
  most,
  Of,
  ofEach,
  quantile,
  quantiles,
  rate,
} from './dashboard-queries.ts';

const TARGET = Legend.target;
const FROM_TO = `${Legend.cluster} ${TARGET}`;
const BY_TARGET = 'target_cluster_name';

/** The sections, from top to bottom. */
export const DASHBOARD_SECTIONS: readonly DashboardSection[] = [
  {
    title: 'Links',
    panels: [
      {
        title: 'Links',
        description: 'Each Link of each source cluster.',
        kind: 'number',
        width: 6,
        queries: [
          { expr: `sum(${ofEach('link', condition('Ready', 'True'))})`, legend: 'ready' },
          { expr: `count(${ofEach('link', condition('Ready', 'True'))} == 0) or vector(0)`, legend: 'not ready' },
        ],
      },
      {
        title: 'Ready',
        description:
          'Whether the mirrors of each Link follow its target, in every source cluster that has a Link of that name.',
        kind: 'good-states',
        width: 9,
        queries: [{ expr: least('link', condition('Ready', 'True')), legend: Legend.link }],
      },
      {
        title: 'What is wrong',
        description: 'Conditions of Links that are false, and deletions that are held back, with the source cluster.',
        kind: 'bad-states',
        width: 9,
        queries: [
          {
            expr: `${ofEach('link, type', `linkspan_link_condition{type!~"Ready|PruneHeld",status="False",${Of.link}}`)} == 1`,
            legend: `${Legend.cluster} ${Legend.link}: not {{type}}`,
          },
          {
            expr: `${ofEach('link', condition('PruneHeld', 'True'))} == 1`,
            legend: `${Legend.cluster} ${Legend.link}: PruneHeld`,
          },
        ],
      },
    ],
  },
  {
    title: 'Gateways',
    panels: [
      {
        title: 'Alive',
        description: 'Whether the gateway of each target answers every source cluster.',
        kind: 'good-states',
        width: 8,
        queries: [{ expr: least(BY_TARGET, `gateway_alive{${Of.target}}`), legend: TARGET }],
      },
      {
        title: 'Probe latency',
        description: 'From the source cluster where it is longest.',
        kind: 'graph',
        width: 8,
        unit: 'ms',
        queries: [
          { expr: most(BY_TARGET, `gateway_latency{${Of.target}}`), legend: `last ${TARGET}` },
          quantile(0.99, BY_TARGET, 'gateway_probe_latency_ms', Of.target),
        ],
      },
      {
        title: 'Probes that succeed',
        description: 'From the source cluster where they are fewest.',
        kind: 'graph',
        width: 8,
        unit: 'percentunit',
        queries: [
          {
            expr: `min by (${BY_TARGET}) (${rate(BY_TARGET, 'gateway_probes', `probe_successful="true",${Of.target}`)} / ${rate(BY_TARGET, 'gateway_probes', Of.target)})`,
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
        queries: [
          { expr: ofEach(`${BY_TARGET}, state`, `linkspan_mirrors{${Of.target}}`), legend: `${FROM_TO} {{state}}` },
        ],
      },
      {
        title: 'Not mirrored, by reason',
        description: 'In the source cluster where they are most.',
        kind: 'graph',
        width: 8,
        queries: [
          {
            expr: most(`${BY_TARGET}, reason`, `linkspan_mirrors_failed{${Of.target}}`),
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
          { expr: rate(BY_TARGET, 'linkspan_mirrors_created_total', Of.target), legend: `${FROM_TO} created` },
          { expr: rate(BY_TARGET, 'linkspan_mirrors_deleted_total', Of.target), legend: `${FROM_TO} deleted` },
        ],
      },
      {
        title: 'Deletions held',
        description: 'Condition PruneHeld of the Link names some of them, and how to confirm them.',
        kind: 'graph',
        width: 8,
        queries: [{ expr: most(BY_TARGET, `linkspan_held_deletions{${Of.target}}`), legend: TARGET }],
      },
      {
        title: 'Convergence',
        description: 'From a change being seen in the target to the last write that it caused, where that is slowest.',
        kind: 'graph',
        width: 8,
        unit: 's',
        queries: quantiles(BY_TARGET, 'linkspan_convergence_seconds', Of.target),
      },
      {
        title: 'Repairs',
        description: 'Endpoints of mirrors that others edited or deleted, and that were put right.',
        kind: 'graph',
        width: 8,
        unit: 'ops',
        queries: [{ expr: rate(BY_TARGET, 'service_mirror_endpoint_repairs', Of.target), legend: FROM_TO }],
      },
    ],
  },
  {
    title: 'Several clusters as one',
    panels: [
      {
        title: 'Failover: ready backends',
        description:
          'Whether each backend of each ServiceFailover is ready, in every source cluster that has one of that name.',
        kind: 'good-states',
        width: 8,
        queries: [
          {
            expr: least('failover, backend', `linkspan_failover_backend_ready{${Of.cluster}}`),
            legend: '{{failover}} {{backend}}',
          },
        ],
      },
      {
        title: 'Failover: where requests go',
        description: 'Weights of the backends in the routes of each ServiceFailover.',
        kind: 'graph',
        width: 8,
        queries: [
          {
            expr: ofEach('failover, backend', `linkspan_failover_backend_weight{${Of.cluster}}`),
            legend: `${Legend.cluster} {{failover}} {{backend}}`,
          },
        ],
      },
      {
        title: 'Failover: switches',
        description: 'Requests came to go to other backends.',
        kind: 'graph',
        width: 8,
        unit: 'ops',
        queries: [
          {
            expr: rate('failover', 'linkspan_failover_switches_total', Of.cluster),
            legend: `${Legend.cluster} {{failover}}`,
          },
        ],
      },
      {
        title: 'Members of federated Services',
        description: 'Joined, or refused; without a target, those of the source cluster itself.',
        kind: 'graph',
        width: 12,
        queries: [
          {
            expr: ofEach(`${BY_TARGET}, state`, `linkspan_federated_members{${Of.link}}`),
            legend: `${FROM_TO} {{state}}`,
          },
        ],
      },
      {
        title: 'ServiceImports',
        description: 'Those that the operators write, by whether they are ready.',
        kind: 'graph',
        width: 12,
        queries: [
          {
            expr: ofEach('ready', `linkspan_service_imports{${Of.cluster}}`),
            legend: `${Legend.cluster} ready: {{ready}}`,
          },
        ],
      },
    ],
  },
  ...PROCESS_SECTIONS,
];

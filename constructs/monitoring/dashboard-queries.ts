/**
 * PromQL over the operator's metrics, for the dashboard. Only the replica that leads has series of targets, and another one
 * after it, so these are aggregated over the replicas of each operator. A Prometheus that serves several source clusters
 * tells them apart by the label `cluster`: of these, only the worst is ever shown for all, so that no cluster in which all
 * is well hides another. Names that other controllers use too are narrowed to the operator's own series, by variable `job`
 * where nothing else tells.
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

const OF_CLUSTER = 'cluster=~"$cluster"';

/** Series of the Lease that the operator's replicas lead by. */
export const LEADER = `leader_election_master_status{name="${OPERATOR_LEASE}",${OF_CLUSTER}}`;

/** The variables of the dashboard, by `label_values`, each after those that it asks for. */
export const DASHBOARD_VARIABLES = {
  cluster: `label_values(leader_election_master_status{name="${OPERATOR_LEASE}"}, cluster)`,
  job: `label_values(${LEADER}, job)`,
  target: `label_values(linkspan_link_condition{type="Ready",${OF_CLUSTER}}, target_cluster_name)`,
} as const;

/** Matchers of series, by what they are of. */
export const Of = {
  cluster: OF_CLUSTER,
  target: `target_cluster_name=~"$target",${OF_CLUSTER}`,
  /** A Link that was never accepted is of no cluster, and always shown; so are the members of the source cluster. */
  link: `target_cluster_name=~"$target|",${OF_CLUSTER}`,
  operator: `job=~"$job",${OF_CLUSTER}`,
  links: `controller=~"link/.+",job=~"$job",${OF_CLUSTER}`,
  queues: `name=~"link/.+",job=~"$job",${OF_CLUSTER}`,
} as const;

/** Names of series, as legends have them. */
export const Legend = { cluster: '{{cluster}}', link: '{{link}}', target: '{{target_cluster_name}}' } as const;

/** What tells the operators apart: two may have Links of one name. */
const OPERATOR = 'cluster, namespace';

/** The series of each operator, whichever of its replicas has them. */
export const ofEach = (by: string, selector: string): string => `max by (${OPERATOR}, ${by}) (${selector})`;

/** Of all operators the worst, where 1 is good. */
export const least = (by: string, selector: string): string => `min by (${by}) (${ofEach(by, selector)})`;

/** Of all operators the worst, where more is worse. */
export const most = (by: string, selector: string): string => `max by (${by}) (${selector})`;

/** The status of a condition of Links. */
export const condition = (type: string, status: string): string =>
  `linkspan_link_condition{type="${type}",status="${status}",${Of.link}}`;

/** Per second, for each operator. */
export const rate = (by: string, metric: string, matchers: string): string =>
  `sum by (${OPERATOR}, ${by}) (rate(${metric}{${matchers}}[$__rate_interval]))`;

/** A quantile of a histogram: of all operators the worst. */
export const quantile = (q: number, by: string, metric: string, matchers: string): PanelQuery => ({
  expr: most(by, `histogram_quantile(${q}, ${rate(`${by}, le`, `${metric}_bucket`, matchers)})`),
  legend: `p${q * 100} {{${by}}}`,
});

/** The median, and what one in a hundred exceeds. */
export const quantiles = (by: string, metric: string, matchers: string): readonly PanelQuery[] =>
  [0.5, 0.99].map((q) => quantile(q, by, metric, matchers));

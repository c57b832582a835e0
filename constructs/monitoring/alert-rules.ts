/**
 * Problems of a Link or its operator, as PromQL over the operator's metrics. Only the replica that leads has
 * series of Links, and another one after it: every rule aggregates over the replicas. Prometheus' own `namespace`, and the
 * `cluster` of those that serve several, are kept where there are such labels, as two operators may have Links of one
 * name. Nothing here is true for long while a Link comes up, loses its leader for another, or waits for the target.
 */
import { pageUrl } from '../../crds/pages.ts';
import { OPERATOR_LEASE } from '../../crds/wire.ts';

/** One alert, with what may be set of it. */
export interface AlertRule {
  /** PromQL: has a value for each series that the alert is about; compared with `threshold` where there is one. */
  readonly expr: string;
  /** The alert is about values above it. */
  readonly threshold?: number;
  /** For how long, as a Prometheus duration. */
  readonly for: string;
  readonly severity: string;
  readonly summary: string;
  readonly description: string;
}

const OPERATOR = 'cluster, namespace';
const LINK = `${OPERATOR}, target_cluster_name`;
const TARGET = 'target_cluster_name!=""';
const CLUSTER = '{{ $labels.target_cluster_name }}';
const LOOK = '`kubectl get links -A` and the conditions of the Link say more.';

const condition = (type: string, status: string): string =>
  `max by (${OPERATOR}, link, target_cluster_name) (linkspan_link_condition{type="${type}",status="${status}"})`;

const reconciles = (metric: string): string =>
  `sum by (${OPERATOR}, controller) (rate(${metric}{controller=~"link/.+"}[10m]))`;

const leader = `leader_election_master_status{name="${OPERATOR_LEASE}"}`;

/** What the name of every alert starts with. */
const PREFIX = 'Linkspan';

/** Name of an alert as Prometheus has it. */
export const alertName = (name: string): string => `${PREFIX}${name}`;

/** Page with a section for each alert: what it means, what users notice, where to look, what to do. */
const RUNBOOKS = pageUrl('docs/runbooks.md');

/** Address of an alert's section. */
export const runbookUrl = (name: string): string => `${RUNBOOKS}#${alertName(name).toLowerCase()}`;

/** The alerts; each is called `Linkspan` and its name here. */
export const ALERT_RULES = {
  LinkNotReady: {
    expr: `${condition('Ready', 'True')} == 0`,
    for: '15m',
    severity: 'warning',
    // A Link that was never accepted is of no cluster.
    summary: 'Link {{ $labels.link }} is not ready',
    description: `Mirrors by this Link do not follow their target. ${LOOK}`,
  },
  TargetUnreachable: {
    expr: `${condition('TargetReachable', 'False')} == 1`,
    for: '5m',
    severity: 'warning',
    summary: `${CLUSTER} cannot be read`,
    description: `The operator does not reach the API server of ${CLUSTER}, or may not read it. Mirrors stay as they are, and what changes there is not followed. ${LOOK}`,
  },
  CredentialsInvalid: {
    expr: `${condition('CredentialsValid', 'False')} == 1`,
    for: '5m',
    severity: 'warning',
    summary: `The credentials for ${CLUSTER} do not work`,
    description: `The Secret with the kubeconfig for ${CLUSTER} is missing or invalid, or the target refuses it. Credentials that worked before stay in use for as long as they do. ${LOOK}`,
  },
  CredentialsNotRenewed: {
    // Half of the time between the renewal that was due and the end has gone by.
    expr: `max by (${LINK}) (time() - (linkspan_credentials_renewal_due_seconds{${TARGET}} + linkspan_credentials_expiry_seconds{${TARGET}}) / 2)`,
    threshold: 0,
    for: '5m',
    severity: 'warning',
    summary: `The token for ${CLUSTER} ends soon`,
    description: `The operator has not renewed the token for ${CLUSTER}. When it ends, ${CLUSTER} is not followed any more. The message of condition CredentialsValid says why it is not renewed. ${LOOK}`,
  },
  GatewayNotAlive: {
    expr: `${condition('GatewayAlive', 'False')} == 1`,
    for: '5m',
    severity: 'critical',
    summary: `The gateway of ${CLUSTER} does not answer`,
    description: `Probes of the gateway of ${CLUSTER} fail, so that its mirrors have no ready endpoints: requests to them fail, or go to other backends. ${LOOK}`,
  },
  MirrorsFailed: {
    expr: `max by (${LINK}) (linkspan_mirrors{state="failed"})`,
    threshold: 0,
    for: '15m',
    severity: 'warning',
    summary: `Services of ${CLUSTER} are not mirrored`,
    description: `{{ $value }} exported Services of ${CLUSTER} have no mirror, for example because a namespace is missing or their name is taken. status.mirrorServices of the Link has the reasons.`,
  },
  PruneHeld: {
    expr: `${condition('PruneHeld', 'True')} == 1`,
    for: '5m',
    severity: 'warning',
    summary: `Deletions of mirrors of ${CLUSTER} are held back`,
    description: `${CLUSTER} no longer lists many Services that are mirrored; nothing of them is deleted. Condition PruneHeld of the Link says how to confirm it; it resolves by itself when ${CLUSTER} lists them again.`,
  },
  ConvergenceSlow: {
    expr: `histogram_quantile(0.99, sum by (le, ${LINK}) (rate(linkspan_convergence_seconds_bucket[10m])))`,
    threshold: 30,
    for: '15m',
    severity: 'warning',
    summary: `Mirrors follow ${CLUSTER} slowly`,
    description: `One change in a hundred of ${CLUSTER} takes {{ $value | humanizeDuration }} or longer to arrive. API servers that are slow or limit requests show in rest_client_requests_total, writes that are refused in controller_runtime_reconcile_errors_total.`,
  },
  ReconcileErrors: {
    expr: `${reconciles('controller_runtime_reconcile_errors_total')} / ${reconciles('controller_runtime_reconcile_total')}`,
    threshold: 0.5,
    for: '15m',
    severity: 'warning',
    summary: 'Reconciles of {{ $labels.controller }} fail',
    description:
      '{{ $value | humanizePercentage }} of the reconciles of {{ $labels.controller }} fail: rights, quotas and admission webhooks of the source cluster are usual causes. Log and Events of the Link name them.',
  },
  NoLeader: {
    expr: `max by (${OPERATOR}) (${leader}) == 0`,
    for: '5m',
    severity: 'critical',
    summary: 'No replica of the Linkspan operator leads',
    description: `Nothing is mirrored anew, and gateways are not probed. Who holds Lease ${OPERATOR_LEASE}, and why others do not get it, is in the Lease and in the log of the pods.`,
  },
  OperatorAbsent: {
    expr: `absent(${leader})`,
    for: '10m',
    severity: 'critical',
    summary: 'The Linkspan operator is gone',
    description: 'Prometheus has no metrics of any replica: none runs, or they are not scraped.',
  },
} as const satisfies Readonly<Record<string, AlertRule>>;

/** Name of an alert, without the `Linkspan` that it starts with. */
export type AlertName = keyof typeof ALERT_RULES;

/**
 * All that Prometheus and Grafana need of an operator, in one: scraped, alerted on and shown. Each part is a construct of
 * its own, for those who want one alone or give it more props.
 */
import { Construct } from 'constructs';
import { Parts } from '../common/parts.ts';
import { acceptProps } from '../common/props.ts';
import { type MirrorOperator, operatorStandIn } from '../operator/mirror-operator.ts';
import { Alerts, type AlertsProps } from './alerts.ts';
import { Dashboard, type DashboardProps } from './dashboard.ts';
import { Monitor } from './monitor.ts';
import { MONITORING_PROPS } from './schema.ts';

/** Properties of {@link Monitoring}. */
export interface MonitoringProps {
  /** The operator; all is in its namespace. */
  readonly operator: MirrorOperator;
  /**
   * Labels that Prometheus selects its ServiceMonitors and rules by, as in `{ release: 'kube-prometheus-stack' }`.
   * @default - none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether there is a ServiceMonitor; false where Prometheus finds the pods in another way.
   * @default true
   */
  readonly monitor?: boolean | undefined;
  /**
   * Overrides by alert; false leaves all alerts out.
   * @default - all alerts as they are
   */
  readonly alerts?: false | AlertsProps['alerts'];
  /**
   * How Grafana's sidecar finds the dashboard; false for none.
   * @default - by its usual label, in the operator's namespace
   */
  readonly dashboard?: false | DashboardProps | undefined;
}

/**
 * ServiceMonitor, PrometheusRule and the ConfigMap of a dashboard.
 * Synthesis fails, naming every prop that one of them refuses
 */
export class Monitoring extends Construct {
  readonly monitor: Monitor | undefined;
  readonly alerts: Alerts | undefined;
  readonly dashboard: Dashboard | undefined;

  constructor(scope: Construct, id: string, given: MonitoringProps) {
    super(scope, id);
    const props = acceptProps<MonitoringProps>(this, MONITORING_PROPS, given, undefined, () => ({
      construct: 'Monitoring',
      found: [],
    }));
    const operator = (props.operator as MirrorOperator | undefined) ?? operatorStandIn(this);
    const { labels, monitor = true, alerts, dashboard } = props;
    const { namespace } = operator;
    const parts = new Parts(this, 'Monitoring', new Set());
    if (monitor) this.monitor = parts.make('', () => new Monitor(this, 'Monitor', { operator, labels }));
    if (alerts !== false) this.alerts = parts.make('', () => new Alerts(this, 'Alerts', { namespace, labels, alerts }));
    if (dashboard !== false) {
      this.dashboard = parts.make('dashboard.', () => new Dashboard(this, 'Dashboard', { namespace, ...dashboard }));
    }
    parts.report();
    const main = this.monitor?.serviceMonitor ?? this.alerts?.prometheusRule ?? this.dashboard?.configMap;
    if (main !== undefined) this.node.defaultChild = main;
  }
}

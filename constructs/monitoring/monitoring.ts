/**
 * All that Prometheus and Grafana need of an operator, in one construct: a ServiceMonitor, alerts and a dashboard. Each
 * part is also a construct of its own, with more props.
 */
import { Construct } from 'constructs';
import { Parts } from '../common/parts.ts';
import { acceptProps } from '../common/props.ts';
import { type MirrorOperator, operatorStandIn } from '../operator/mirror-operator.ts';
import { Alerts, type AlertsProps } from './alerts.ts';
import { Dashboard, type DashboardProps } from './dashboard.ts';
import { Monitor } from './monitor.ts';
import { MONITORING_PROPS } from './schema.gen.ts';

/** Properties of {@link Monitoring}. */
export interface MonitoringProps {
  /** The operator; all objects are in its namespace. */
  readonly operator: MirrorOperator;
  /**
   * Labels that Prometheus selects its ServiceMonitors and rules by, as in `{ release: 'kube-prometheus-stack' }`.
   * @default - none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether to render a ServiceMonitor; false where Prometheus finds the pods in another way.
   * @default true
   */
  readonly monitor?: boolean | undefined;
  /**
   * Settings of alerts by name, without the prefix `Linkspan`; false for no alerts.
   * @default - all alerts
   */
  readonly alerts?: false | AlertsProps['alerts'];
  /**
   * ConfigMap with the dashboard; false for no dashboard.
   * @default - one with the label `grafana_dashboard`, in the operator's namespace
   */
  readonly dashboard?: false | DashboardProps | undefined;
}

/**
 * ServiceMonitor, PrometheusRule and the ConfigMap of a dashboard.
 * Synthesis fails for each prop that its part refuses.
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

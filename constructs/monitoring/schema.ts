/** Schemas of the props of Monitoring and its parts. */
import { falseOr, flag, instanceOf, map, mapOf, number, object, text, time } from '../common/schema.ts';

const LABELS = map('Labels that Prometheus selects its ServiceMonitors and rules by; default none');
const OPERATOR = instanceOf('MirrorOperator');

const ALERTS = mapOf(
  'Settings of alerts by name, without the prefix Linkspan; default all alerts',
  falseOr(
    'Settings of the alert; false leaves the alert out',
    object('Settings of an alert', {
      for: time(
        'Time that the condition must hold: seconds, or a Prometheus duration such as 5m; default that of the alert, from 5m to 15m',
      ),
      severity: text(
        'Label severity of the alert; default critical if requests fail or no replica leads, else warning',
      ),
      threshold: number(
        'Value above which the alert fires: mirrors for MirrorsFailed, seconds for ConvergenceSlow, a fraction for ReconcileErrors; default 0, 30 and 0.5',
      ),
    }),
  ),
);

export const ALERTS_PROPS = object('Alerts', {
  name: text('Name of the PrometheusRule; default linkspan'),
  namespace: text('Namespace of the PrometheusRule; default linkerd-multicluster'),
  labels: LABELS,
  alerts: ALERTS,
});

export const DASHBOARD_PROPS = object('ConfigMap with the dashboard', {
  name: text('Name of the ConfigMap; default linkspan-dashboard'),
  namespace: text("Namespace of the ConfigMap; default the operator's"),
  label: text("Label by which Grafana's sidecar finds the ConfigMap; default grafana_dashboard"),
  labelValue: text('Value of the label; default 1'),
  folder: text('Folder of the dashboard in Grafana; default the folder of the sidecar'),
});

export const MONITOR_PROPS = object(
  'A ServiceMonitor',
  { operator: OPERATOR, labels: LABELS, interval: time('Time between scrapes; default that of the Prometheus') },
  'operator',
);

export const MONITORING_PROPS = object(
  'Objects for Prometheus and Grafana; they need the CRDs of the Prometheus Operator; default none',
  {
    operator: OPERATOR,
    labels: LABELS,
    monitor: flag('Whether to render a ServiceMonitor; default true'),
    alerts: falseOr(
      'Settings of alerts by name, without the prefix Linkspan; false for no alerts; default all alerts',
      ALERTS,
    ),
    dashboard: falseOr(
      'ConfigMap with the dashboard; false for no dashboard; default one with the label grafana_dashboard',
      DASHBOARD_PROPS,
    ),
  },
  'operator',
);

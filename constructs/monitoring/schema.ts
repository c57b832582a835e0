/** Schemas of the props of Monitoring and its parts. */
import { falseOr, flag, instanceOf, map, mapOf, number, object, text, time } from '../common/schema.ts';

const LABELS = map('Labels that Prometheus selects its ServiceMonitors and rules by');
const OPERATOR = instanceOf('MirrorOperator');

const ALERTS = mapOf(
  'Alerts by their names, without the Linkspan that these start with',
  falseOr(
    'What is otherwise of an alert; false leaves it out',
    object('Settings of an alert', {
      for: time('For how long it must be so: seconds, or a duration as in 5m'),
      severity: text('Label severity of the alert'),
      threshold: number('The value that it is about when exceeded'),
    }),
  ),
);

export const ALERTS_PROPS = object('Alerts', {
  name: text('Name of the PrometheusRule; default linkspan'),
  namespace: text('Namespace of the PrometheusRule; default linkerd-multicluster'),
  labels: LABELS,
  alerts: ALERTS,
});

export const DASHBOARD_PROPS = object('A dashboard', {
  name: text('Name of the ConfigMap; default linkspan-dashboard'),
  namespace: text("Namespace of the ConfigMap; default the operator's"),
  label: text('Label that the sidecar looks for; default grafana_dashboard'),
  labelValue: text('Value of that label; default 1'),
  folder: text('Folder in Grafana'),
});

export const MONITOR_PROPS = object(
  'A ServiceMonitor',
  { operator: OPERATOR, labels: LABELS, interval: time('Time between scrapes') },
  'operator',
);

export const MONITORING_PROPS = object(
  'What Prometheus and Grafana get of each operator; default none',
  {
    operator: OPERATOR,
    labels: LABELS,
    monitor: flag('Whether there is a ServiceMonitor; default true'),
    alerts: falseOr('What is otherwise of each alert; false for no alerts, default all as they are', ALERTS),
    dashboard: falseOr(
      "How Grafana's sidecar finds the dashboard; false for none, default by its usual label",
      DASHBOARD_PROPS,
    ),
  },
  'operator',
);

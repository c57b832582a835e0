/** Schemas of props, generated from their interfaces by `npm run generate`. Do not edit. */
import { INSTANCE_OF } from '../../crds/validate.ts';
import { described } from '../common/schema.ts';

export const ALERT_SETTINGS = {
  type: 'object',
  description: 'Settings of an alert',
  additionalProperties: false,
  required: [],
  properties: {
    for: {
      type: ['string', 'number'],
      description:
        'Time that the condition must hold; a text may be any Prometheus duration, such as 1d; default that of the alert, from 5m to 15m',
    },
    severity: {
      type: 'string',
      description: 'Label severity of the alert; default critical if requests fail or no replica leads, else warning',
    },
    threshold: {
      type: 'number',
      description:
        'Value above which the alert fires: mirrors for MirrorsFailed, seconds for ConvergenceSlow, a fraction for ReconcileErrors. Other alerts have no threshold; default 0, 30 and 0.5',
    },
  },
} as const;

export const ALERTS_PROPS = {
  type: 'object',
  description: 'Properties of Alerts',
  additionalProperties: false,
  required: [],
  properties: {
    name: { type: 'string', description: 'Name of the PrometheusRule; default linkspan' },
    namespace: {
      type: 'string',
      description: "Namespace of the PrometheusRule; default the chart's, else linkerd-multicluster",
    },
    labels: {
      type: 'object',
      description:
        "Labels that Prometheus selects its rules by, as in { release: 'kube-prometheus-stack' }; default none",
      additionalProperties: { type: 'string' },
    },
    alerts: {
      type: 'object',
      description:
        'Settings of alerts by name, without the prefix Linkspan; false leaves the alert out; default all alerts',
      additionalProperties: {
        description: 'Settings of an alert',
        if: { type: 'boolean' },
        then: { enum: [false] },
        else: ALERT_SETTINGS,
      },
    },
  },
} as const;

export const DASHBOARD_PROPS = {
  type: 'object',
  description: 'Properties of Dashboard',
  additionalProperties: false,
  required: [],
  properties: {
    name: {
      type: 'string',
      description:
        'Name of the ConfigMap. The key of the dashboard is the name and .json, which the sidecar uses as the name of a file; default linkspan-dashboard',
    },
    namespace: {
      type: 'string',
      description:
        "Namespace of the ConfigMap, which the sidecar must watch; default the chart's, else linkerd-multicluster, and of Monitoring the operator's",
    },
    label: {
      type: 'string',
      description: "Label by which Grafana's sidecar finds the ConfigMap; default grafana_dashboard",
    },
    labelValue: { type: 'string', description: 'Value of the label; default 1' },
    folder: {
      type: 'string',
      description:
        'Folder of the dashboard in Grafana, as annotation grafana_folder. The sidecar must be configured to read it; default the folder of the sidecar',
    },
  },
} as const;

export const MONITOR_PROPS = {
  type: 'object',
  description: 'Properties of Monitor',
  additionalProperties: false,
  required: ['operator'],
  properties: {
    operator: {
      [INSTANCE_OF]: 'MirrorOperator',
      description: 'The operator that is scraped; the ServiceMonitor is in its namespace',
    },
    labels: {
      type: 'object',
      description:
        "Labels that Prometheus selects its ServiceMonitors by, as in { release: 'kube-prometheus-stack' }; default none",
      additionalProperties: { type: 'string' },
    },
    interval: {
      type: ['string', 'number'],
      description:
        'Time between scrapes; a text may be any Prometheus duration, such as 1d; default that of the Prometheus',
    },
  },
} as const;

export const MONITORING_PROPS = {
  type: 'object',
  description: 'Properties of Monitoring',
  additionalProperties: false,
  required: ['operator'],
  properties: {
    operator: { [INSTANCE_OF]: 'MirrorOperator', description: 'The operator; all objects are in its namespace' },
    labels: {
      type: 'object',
      description:
        "Labels that Prometheus selects its ServiceMonitors and rules by, as in { release: 'kube-prometheus-stack' }; default none",
      additionalProperties: { type: 'string' },
    },
    monitor: {
      type: 'boolean',
      description:
        'Whether to render a ServiceMonitor; false where Prometheus finds the pods in another way; default true',
    },
    alerts: {
      description: 'Settings of alerts by name, without the prefix Linkspan; false for no alerts; default all alerts',
      if: { type: 'boolean' },
      then: { enum: [false] },
      else: {
        type: 'object',
        description: 'Settings of alerts by name, without the prefix Linkspan; false for no alerts; default all alerts',
        additionalProperties: {
          description: 'Settings of an alert',
          if: { type: 'boolean' },
          then: { enum: [false] },
          else: ALERT_SETTINGS,
        },
      },
    },
    dashboard: {
      description:
        "ConfigMap with the dashboard; false for no dashboard; default one with the label grafana_dashboard, in the operator's namespace",
      if: { type: 'boolean' },
      then: { enum: [false] },
      else: described(
        DASHBOARD_PROPS,
        "ConfigMap with the dashboard; false for no dashboard; default one with the label grafana_dashboard, in the operator's namespace",
      ),
    },
  },
} as const;

/**
 * Alerts on Links and their operator, for a Prometheus of the Prometheus Operator, each with the address of its runbook.
 * They aggregate over the operator's replicas, and keep quiet while it restarts, hands over or waits: see alert-rules.ts.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { didYouMean } from '../../crds/did-you-mean.ts';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Default } from '../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, labelsErrors } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { goDuration, type TimeSpan } from '../common/time-span.ts';
import { ALERT_RULES, alertName, type AlertName, type AlertRule, runbookUrl } from './alert-rules.ts';
import { MONITORING_API, prometheusDuration } from './prop-rules.ts';
import { ALERTS_PROPS } from './schema.gen.ts';

/** Settings of an alert. */
export interface AlertSettings {
  /**
   * Time that the condition must hold; a text may be any Prometheus duration, such as `1d`.
   * @default - that of the alert, from 5m to 15m
   */
  readonly for?: TimeSpan | undefined;
  /**
   * Label `severity` of the alert.
   * @default - critical if requests fail or no replica leads, else warning
   */
  readonly severity?: string | undefined;
  /**
   * Value above which the alert fires: mirrors for MirrorsFailed, seconds for ConvergenceSlow, a fraction for
   * ReconcileErrors. Other alerts have no threshold.
   * @asType number
   * @default - 0, 30 and 0.5
   */
  readonly threshold?: number | undefined;
}

/** Properties of {@link Alerts}. */
export interface AlertsProps {
  /**
   * Name of the PrometheusRule.
   * @default linkspan
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the PrometheusRule.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Labels that Prometheus selects its rules by, as in `{ release: 'kube-prometheus-stack' }`.
   * @default - none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Settings of alerts by name, without the prefix `Linkspan`; false leaves the alert out.
   * @default - all alerts
   */
  readonly alerts?: { readonly [Name in AlertName]?: false | AlertSettings | undefined } | undefined;
}

/**
 * A `monitoring.coreos.com/v1` PrometheusRule. Apply it where the operator runs: it also reports that the operator is absent.
 * Synthesis fails for each prop that the API server or Prometheus would refuse.
 */
export class Alerts extends Construct {
  /** Name of the PrometheusRule. */
  readonly name: string;
  /** The PrometheusRule. */
  readonly prometheusRule: ApiObject;

  constructor(scope: Construct, id: string, given: AlertsProps = {}) {
    super(scope, id);
    const chart = Chart.of(this);
    const withDefaults = ({
      name = 'linkspan',
      namespace = chart.namespace ?? Default.multiclusterNamespace,
      labels,
      alerts = {},
    }: AlertsProps) => ({ name, namespace, labels, alerts });
    const props = acceptProps(this, ALERTS_PROPS, given, {}, (given) => {
      const { name, namespace, labels, alerts } = withDefaults(given);
      return {
        construct: `Alerts ${namespace}/${name}`,
        found: [
          dnsSubdomain('name', name),
          dnsLabel('namespace', namespace),
          ...labelsErrors('labels', labels),
          ...Object.entries(alerts).flatMap(([alert, settings]) => settingsErrors(alert, settings)),
        ],
      };
    });
    const { name, namespace, labels, alerts } = withDefaults(props);
    this.name = name;

    const rules: Readonly<Record<AlertName, AlertRule>> = ALERT_RULES;
    this.prometheusRule = new ApiObject(this, 'Resource', {
      apiVersion: MONITORING_API,
      kind: 'PrometheusRule',
      metadata: { name, namespace, ...(labels !== undefined && { labels }) },
      spec: {
        groups: [
          {
            name: 'linkspan',
            rules: (Object.keys(rules) as AlertName[]).flatMap((alert) => {
              const settings = alerts[alert] ?? {};
              return settings === false ? [] : rule(alert, rules[alert], settings);
            }),
          },
        ],
      },
    });
  }
}

const rule = (alert: AlertName, defaults: AlertRule, settings: AlertSettings): object => {
  const threshold = settings.threshold ?? defaults.threshold;
  return {
    alert: alertName(alert),
    expr: threshold === undefined ? defaults.expr : `${defaults.expr} > ${threshold}`,
    for: goDuration(settings.for ?? defaults.for),
    labels: { severity: settings.severity ?? defaults.severity },
    annotations: {
      summary: defaults.summary,
      description: defaults.description,
      runbook_url: runbookUrl(alert),
    },
  };
};

const settingsErrors = (alert: string, settings: AlertSettings | false = {}): readonly (FieldError | undefined)[] => {
  const path = `alerts.${alert}`;
  const known: AlertRule | undefined = (ALERT_RULES as Readonly<Record<string, AlertRule>>)[alert];
  if (known === undefined) {
    return [fieldError(path, undefined, 'must be the name of an alert', alertRemedy(alert))];
  }
  if (settings === false) return [];
  const { for: duration, severity, threshold } = settings;
  return [
    prometheusDuration(`${path}.for`, duration),
    severity === '' ? fieldError(`${path}.severity`, severity, 'must not be empty') : undefined,
    threshold === undefined ? undefined : thresholdError(`${path}.threshold`, threshold, known),
  ];
};

const alertRemedy = (alert: string): string => {
  const known = Object.keys(ALERT_RULES);
  const meant = didYouMean(alert.replace(/^Linkspan/, ''), known);
  return meant === undefined ? `one of ${known.join(', ')}` : `did you mean ${meant}?`;
};

const thresholdError = (path: string, threshold: number, known: AlertRule): FieldError | undefined => {
  if (known.threshold === undefined) return fieldError(path, threshold, 'must not be set: the alert has no threshold');
  return Number.isFinite(threshold) && threshold >= 0
    ? undefined
    : fieldError(path, threshold, 'must be a number of at least 0');
};

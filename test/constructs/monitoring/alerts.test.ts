import { App, Chart } from 'cdk8s';
import { expect, test } from 'vitest';
import { ALERT_RULES } from '../../../constructs/monitoring/alert-rules.ts';
import { Alerts, type AlertsProps } from '../../../constructs/monitoring/alerts.ts';
import { type ApiJson, render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';
import { expectExposed } from './promql.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

const alerts = (props?: AlertsProps): ApiJson =>
  render((chart) => {
    new Alerts(chart, 'alerts', props);
  })[0]!;

const rules = (props?: AlertsProps): readonly Rule[] =>
  (alerts(props)['spec'] as { readonly groups: readonly [{ readonly rules: readonly Rule[] }] }).groups[0].rules;

test('the rule is found by the labels that it is given, in its namespace', () => {
  const { apiVersion, kind, metadata } = alerts({ labels: { release: 'prometheus' }, namespace: 'monitoring' });

  expect({ apiVersion, kind, metadata }).toEqual({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'linkspan', namespace: 'monitoring', labels: { release: 'prometheus' } },
  });
});

test("the rule lives in the chart's namespace where the chart has one", () => {
  const chart = new Chart(new App(), 'test', { namespace: 'mesh' });

  expect(new Alerts(chart, 'alerts').prometheusRule.metadata.namespace).toBe('mesh');
});

test('there is every alert, and each says how bad it is and of what', () => {
  expect(rules().map(({ alert }) => alert)).toEqual(Object.keys(ALERT_RULES).map((name) => `Linkspan${name}`));
  for (const { alert, expr, labels, annotations, for: duration } of rules()) {
    expect(labels.severity, alert).toBeOneOf(['critical', 'warning']);
    expect(duration, alert).toMatch(/^\d+m$/);
    expect(annotations.summary, alert).not.toMatch(/\.$/);
    expect(annotations.description, alert).toMatch(/\.$/);
    expect(annotations.runbook_url).toMatch(new RegExp(`/docs/runbooks\\.md#${alert.toLowerCase()}$`));
    if (expr.includes('target_cluster_name')) {
      expect(annotations.summary, alert).toMatch(/\{\{ \$labels\.(target_cluster_name|link) \}\}/);
    }
  }
});

test.each(rules().map(({ alert, expr }) => [alert, expr]))('%s asks for what the operator exposes', (_, expr) => {
  expectExposed(expr);
});

test('what an alert says is about series that it keeps the label of', () => {
  for (const { alert, expr, annotations } of rules()) {
    for (const [, label = ''] of JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)) {
      expect(expr.match(/by \((?:le, )?([^)]*)\)/)?.[1]?.split(', '), alert).toContain(label);
    }
  }
});

test('an alert is as it is set, or left out', () => {
  const before = rules();
  const after = rules({
    alerts: {
      LinkNotReady: { for: '1h30m', severity: 'page' },
      ConvergenceSlow: { threshold: 60 },
      MirrorsFailed: false,
      PruneHeld: undefined,
    },
  });

  expect(after).toEqual(
    before
      .filter(({ alert }) => alert !== 'LinkspanMirrorsFailed')
      .map((rule) => {
        if (rule.alert === 'LinkspanLinkNotReady') return { ...rule, for: '1h30m', labels: { severity: 'page' } };
        if (rule.alert === 'LinkspanConvergenceSlow') return { ...rule, expr: rule.expr.replace(/30$/, '60') };
        return rule;
      }),
  );
});

test('alerts with invalid props are refused with every reason at once', () => {
  const alerts = {
    LinkNotReady: { for: '1.5h', severity: '' },
    NoLeader: { threshold: 1 },
    ConvergenceSlow: { threshold: -1 },
    Unheard: false,
  };
  expect(
    errorsOf(() => rules({ name: 'a..b', namespace: 'a.b', labels: { 'a b': 'ok', release: 'not ok' }, alerts })),
  ).toEqual([
    'name: "a..b" must be a valid DNS subdomain',
    'namespace: "a.b" must be a valid DNS label',
    'labels["a b"]: "a b" must be a valid label key',
    'labels.release: "not ok" must be a valid label value',
    'alerts.LinkNotReady.for: "1.5h" must be a valid Prometheus duration',
    'alerts.LinkNotReady.severity: "" must not be empty',
    'alerts.NoLeader.threshold: 1 must not be set: the alert has no threshold',
    'alerts.ConvergenceSlow.threshold: -1 must be a number of at least 0',
    'alerts.Unheard: must be the name of an alert',
  ]);
});

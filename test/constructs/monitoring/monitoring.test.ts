import { expect, test } from 'vitest';

import { MirrorOperator } from '../../../constructs/operator/mirror-operator.ts';
import { Monitoring, type MonitoringProps } from '../../../constructs/monitoring/monitoring.ts';
import { Multicluster } from '../../../constructs/cluster-set/multicluster.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';

const OPERATOR = { image: 'linkspan:1', namespace: 'mesh' };

const monitored = (props: Omit<MonitoringProps, 'operator'> = {}) =>
  render((chart) => {
    new Monitoring(chart, 'monitoring', { operator: new MirrorOperator(chart, 'operator', OPERATOR), ...props });
  });

const KINDS = ['ServiceMonitor', 'PrometheusRule', 'ConfigMap'];
const kindsOf = (props: Omit<MonitoringProps, 'operator'>): readonly string[] =>
  monitored(props)
    .map(({ kind }) => kind)
    .filter((kind) => KINDS.includes(kind));

test('an operator is scraped, alerted on and shown, all in its namespace', () => {
  const objects = monitored({ labels: { release: 'prometheus' } }).filter(({ kind }) => KINDS.includes(kind));
  expect(objects.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.labels])).toEqual([
    ['ServiceMonitor', 'mesh', { release: 'prometheus' }],
    ['PrometheusRule', 'mesh', { release: 'prometheus' }],
    ['ConfigMap', 'mesh', { grafana_dashboard: '1' }],
  ]);
});

test('each part can be left out', () => {
  expect(kindsOf({ monitor: false })).toEqual(['PrometheusRule', 'ConfigMap']);
  expect(kindsOf({ alerts: false })).toEqual(['ServiceMonitor', 'ConfigMap']);
  expect(kindsOf({ dashboard: false })).toEqual(['ServiceMonitor', 'PrometheusRule']);
});

test('what any part refuses is said at once, by where it stands', () => {
  const monitoring: Omit<MonitoringProps, 'operator'> = {
    labels: { 'a b': 'c' },
    alerts: { PruneHeld: { for: 'soon' } },
    dashboard: { name: 'A' },
  };
  expect(errorsOf(() => monitored(monitoring)).map((error) => error.replace(/[:\[].*/, ''))).toEqual([
    'labels',
    'alerts.PruneHeld.for',
    'dashboard.name',
  ]);
});

test('a cluster without an operator has nothing that could be monitored', () => {
  const errors = errorsOf(() =>
    render((chart) => {
      new Multicluster(chart, 'multicluster', { monitoring: {} });
    }),
  );
  expect(errors).toEqual(['monitoring: must not be set without operator']);
});

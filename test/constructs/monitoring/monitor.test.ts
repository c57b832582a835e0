import { expect, test } from 'vitest';
import { MirrorOperator } from '../../../constructs/operator/mirror-operator.ts';
import { Monitor, type MonitorProps } from '../../../constructs/monitoring/monitor.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';

const rendered = (props: Omit<MonitorProps, 'operator'> = {}) =>
  render((chart) => {
    const operator = new MirrorOperator(chart, 'operator', { image: 'linkspan:test', namespace: 'mesh' });
    new Monitor(chart, 'monitor', { ...props, operator });
  });

test("Prometheus finds the operator's metrics Service, and its port", () => {
  const objects = rendered({ labels: { release: 'prometheus' }, interval: '15s' });
  const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor')!;
  const service = objects.find(({ kind }) => kind === 'Service')!;
  const { ports } = service['spec'] as { readonly ports: readonly { readonly name: string }[] };

  expect(monitor).toEqual({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name: 'linkspan-operator', namespace: 'mesh', labels: { release: 'prometheus' } },
    spec: {
      selector: { matchLabels: service.metadata.labels },
      endpoints: [{ port: ports[0]!.name, interval: '15s' }],
    },
  });
});

test('a monitor with invalid props is refused with every reason at once', () => {
  expect(errorsOf(() => rendered({ labels: { release: 'not ok' }, interval: 'often' }))).toEqual([
    'labels.release: "not ok" must be a valid label value',
    'interval: "often" must be a valid Prometheus duration',
  ]);
});

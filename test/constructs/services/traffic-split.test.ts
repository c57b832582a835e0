import { App, Chart } from 'cdk8s';
import { expect, test } from 'vitest';

import { render } from '../../../constructs/rendered/render.ts';
import { TrafficSplit, type TrafficSplitProps } from '../../../constructs/services/traffic-split.ts';
import { errorsOf } from '../errors-of.ts';

const PODINFO: TrafficSplitProps = {
  service: 'podinfo',
  backends: [
    { service: 'podinfo', weight: 50 },
    { service: 'podinfo', targetCluster: 'west', weight: 50 },
  ],
};

const split = (props: Partial<TrafficSplitProps> = {}) =>
  render((chart) => {
    new TrafficSplit(chart, 'split', { ...PODINFO, ...props });
  });

test('a split divides requests between a Service and its mirror', () => {
  expect(split()).toEqual([
    {
      apiVersion: 'split.smi-spec.io/v1alpha2',
      kind: 'TrafficSplit',
      metadata: { name: 'podinfo' },
      spec: {
        service: 'podinfo',
        backends: [
          { service: 'podinfo', weight: 50 },
          { service: 'podinfo-west', weight: 50 },
        ],
      },
    },
  ]);
});

test('a split keeps the order of failover beside it', () => {
  const failover = [{ service: 'podinfo' }, { service: 'podinfo', targetCluster: 'west' }];

  expect(split({ name: 'podinfo-failover', namespace: 'test', failover })[0]!.metadata).toEqual({
    name: 'podinfo-failover',
    namespace: 'test',
    annotations: { 'linkspan.dev/failover': 'podinfo,podinfo-west' },
  });
});

test("a split lives in the chart's namespace where the chart has one", () => {
  const chart = new Chart(new App(), 'test', { namespace: 'test' });

  expect(new TrafficSplit(chart, 'split', PODINFO).trafficSplit.metadata.namespace).toBe('test');
});

test('a split with invalid props is refused with every reason at once', () => {
  expect(
    errorsOf(() =>
      split({
        service: 'Podinfo',
        name: 'a..b',
        namespace: 'a.b',
        backends: [
          { service: 'podinfo', weight: -1 },
          { service: 'podinfo', weight: 0.5 },
          { service: 'podinfo', targetCluster: 'West', weight: 1 },
        ],
        failover: [{ service: 'podinfo' }, { service: 'podinfo' }, { service: 'other' }],
      }),
    ),
  ).toEqual([
    'backends[1].weight: 0.5 must be an integer',
    'service: "Podinfo" must be a valid Service name',
    'name: "a..b" must be a valid DNS subdomain',
    'namespace: "a.b" must be a valid DNS label',
    'backends[0].weight: -1 must be a whole number between 0 and 1000000',
    'backends[1].service: "podinfo" must be unique',
    'backends[2].service: "podinfo-West" must be a valid Service name',
    'failover[1].service: "podinfo" must be unique',
    'failover[2].service: "other" must be the name of a backend',
  ]);
  expect(errorsOf(() => split({ backends: [] }))).toEqual(['backends: [] must not be empty']);
  expect(errorsOf(() => split({ backends: [{ service: 'podinfo', weight: 0 }] }))).toEqual([
    'backends: must have at least one weight above 0',
  ]);
});

test('a split takes more backends than a route', () => {
  const backends = Array.from({ length: 17 }, (_, at) => ({ service: `podinfo-${at + 1}`, weight: 1 }));

  expect(split({ backends })).toHaveLength(1);
});

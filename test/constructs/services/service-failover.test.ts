import { App, Chart, Duration } from 'cdk8s';
import { Service } from 'cdk8s-plus-27';
import { expect, test } from 'vitest';

import { render } from '../../../constructs/rendered/render.ts';
import { ServiceFailoverCrd } from '../../../constructs/services/service-failover-crd.ts';
import { ServiceFailover, type ServiceFailoverProps } from '../../../constructs/services/service-failover.ts';
import { failoverCrd } from '../../../crds/failover/definition.ts';
import { readFailover } from '../../../crds/failover/settings.ts';
import { errorsOf } from '../errors-of.ts';

const failover = (props: Partial<ServiceFailoverProps> = {}) =>
  render((chart) => {
    new ServiceFailover(chart, 'failover', {
      service: 'web',
      backends: [
        { service: 'web', minReady: '50%' },
        { service: 'web', targetCluster: 'west' },
      ],
      ...props,
    });
  });

test('a failover names the Service, and backends by preference: a mirror for a Service of another cluster (J1)', () => {
  expect(failover({ namespace: 'shop', holdDown: Duration.minutes(1), routeKind: 'TCPRoute' })).toEqual([
    {
      apiVersion: 'linkspan.dev/v1alpha1',
      kind: 'ServiceFailover',
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        service: 'web',
        backends: [{ service: 'web', minReady: '50%' }, { service: 'web-west' }],
        holdDown: '60s',
        routeKind: 'TCPRoute',
      },
    },
  ]);
});

test('a failover takes name and namespace of a Service of cdk8s-plus', () => {
  const objects = render((chart) => {
    const service = new Service(chart, 'service', {
      metadata: { name: 'api', namespace: 'shop' },
      ports: [{ port: 8080 }],
    });
    new ServiceFailover(chart, 'failover', { service, backends: [{ service, weight: 1 }] });
  });
  expect(objects.at(-1)).toMatchObject({
    metadata: { name: 'api', namespace: 'shop' },
    spec: { service: 'api', backends: [{ service: 'api', weight: 1 }] },
  });
});

test('a failover with invalid props is refused with every reason at once', () => {
  expect(
    errorsOf(() =>
      failover({
        name: 'a'.repeat(64),
        namespace: 'a.b',
        backends: [{ service: 'web', weight: 1 }, { service: 'web' }],
        holdDown: '25h',
      }),
    ),
  ).toEqual([
    `name: "${'a'.repeat(64)}" must have at most 63 characters`,
    'namespace: "a.b" must be a valid DNS label',
    'backends[1].service: "web" must be unique',
    'backends: must all have a weight, or none',
    'holdDown: "25h" must be between 0 and 24h',
  ]);
});

test('the CRD is the one that the commands print', () => {
  expect(render((chart) => new ServiceFailoverCrd(chart, 'crd'))).toEqual([failoverCrd]);
});

test('A4 a Service whose name begins with a digit fails over, as the CRD says too', () => {
  const app = new App();
  const { failover } = new ServiceFailover(new Chart(app, 'shop'), 'failover', {
    service: '1web',
    backends: [{ service: '1web' }, { service: '1web', targetCluster: 'west' }],
  });
  expect(failover.toJson()).toMatchObject({ spec: { service: '1web' } });
  expect(readFailover(failover.toJson() as Parameters<typeof readFailover>[0])).toMatchObject({ ok: true });
  expect(app.node.findAll().flatMap(({ node }) => node.validate())).toEqual([]);
});

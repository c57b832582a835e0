import { expect, test } from 'vitest';

import { render } from '../../../../constructs/rendered/render.ts';
import { ServiceRoute, type ServiceRouteProps } from '../../../../constructs/rendered/route/service-route.ts';
import { errorsOf } from '../../errors-of.ts';

const route = (props: Partial<ServiceRouteProps> = {}) =>
  render((chart) => {
    new ServiceRoute(chart, 'route', {
      service: 'podinfo',
      port: 9898,
      backends: [
        { service: 'podinfo', weight: 50 },
        { service: 'podinfo', targetCluster: 'west', weight: 50 },
      ],
      ...props,
    });
  });

test('a route divides HTTP requests to a Service between it and its mirror', () => {
  expect(route()).toEqual([
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'podinfo' },
      spec: {
        parentRefs: [{ group: 'core', kind: 'Service', name: 'podinfo', port: 9898 }],
        rules: [
          {
            backendRefs: [
              { name: 'podinfo', port: 9898, weight: 50 },
              { name: 'podinfo-west', port: 9898, weight: 50 },
            ],
          },
        ],
      },
    },
  ]);
});

test.each([
  ['HTTPRoute', 'gateway.networking.k8s.io/v1'],
  ['GRPCRoute', 'gateway.networking.k8s.io/v1'],
  ['TCPRoute', 'gateway.networking.k8s.io/v1alpha2'],
] as const)('a %s names the namespace and the port in each of its references', (kind, apiVersion) => {
  const [object] = route({ kind, namespace: 'test', labels: { team: 'web' } });

  expect(object).toEqual({
    apiVersion,
    kind,
    metadata: { name: 'podinfo', namespace: 'test', labels: { team: 'web' } },
    spec: {
      parentRefs: [{ group: 'core', kind: 'Service', namespace: 'test', name: 'podinfo', port: 9898 }],
      rules: [
        {
          backendRefs: [
            { namespace: 'test', name: 'podinfo', port: 9898, weight: 50 },
            { namespace: 'test', name: 'podinfo-west', port: 9898, weight: 50 },
          ],
        },
      ],
    },
  });
});

test('a route keeps the order of failover beside it', () => {
  const failover = [{ service: 'podinfo', targetCluster: 'west' }, { service: 'podinfo' }];

  expect(route({ name: 'split', namespace: 'test', failover })[0]!.metadata).toEqual({
    name: 'split',
    namespace: 'test',
    annotations: { 'linkspan.dev/failover': 'podinfo-west,podinfo' },
  });
});

test('a route with invalid props is refused with every reason at once', () => {
  expect(
    errorsOf(() =>
      route({ service: '-', port: 0, name: 'A', namespace: 'a.b', backends: [], failover: [{ service: 'podinfo' }] }),
    ),
  ).toEqual([
    'port: 0 must be between 1 and 65535',
    'service: "-" must be a valid Service name',
    'name: "A" must be a valid DNS subdomain',
    'namespace: "a.b" must be a valid DNS label',
    'backends: [] must not be empty',
    'failover[0].service: "podinfo" must be the name of a backend',
  ]);
});

test('a route takes as many backends as the API server does', () => {
  const backends = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ service: `podinfo-${at + 1}`, weight: 1 }));

  expect(route({ backends: backends(16) })).toHaveLength(1);
  expect(errorsOf(() => route({ backends: backends(17) }))).toEqual(['backends: must have at most 16 items']);
});

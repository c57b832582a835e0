import { describe, expect, it, test } from 'vitest';

import type { RouteKind } from '../../../constructs/rendered/index.ts';
import type { ServicePort } from '../../../operator/kube/objects.ts';
import type { ObservedFailover, Route } from '../../../operator/failover/observed.ts';
import type { Decision } from '../../../operator/failover/plan.ts';
import { weightsIn } from '../../../operator/failover/routes.ts';
import { applied, decide, foreign, NOT_READY, NOW, READY, service, settings } from './given.ts';

const summary = ({ routes }: Decision): unknown =>
  routes.map(({ object }) => [(object as Route).kind, object.metadata.name, [...(weightsIn(object as Route) ?? [])]]);

describe('a ServiceFailover has a route for each port (J1)', () => {
  it('with the Service as its parent, marked as its own', () => {
    expect(decide().routes.map(({ object }) => object)).toEqual([
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'HTTPRoute',
        metadata: { name: 'web-80', namespace: 'shop', labels: { 'linkspan.dev/service-failover': 'web' } },
        spec: {
          parentRefs: [{ group: 'core', kind: 'Service', namespace: 'shop', name: 'web', port: 80 }],
          rules: [
            {
              backendRefs: [
                { namespace: 'shop', name: 'web', port: 80, weight: 1 },
                { namespace: 'shop', name: 'web-east', port: 80, weight: 0 },
              ],
            },
          ],
        },
      },
    ]);
  });

  test.each<[string, ServicePort, RouteKind | undefined]>([
    ['no protocol', { port: 80 }, 'HTTPRoute'],
    ['http', { port: 80, appProtocol: 'http' }, 'HTTPRoute'],
    ['HTTP/2', { port: 80, appProtocol: 'kubernetes.io/h2c' }, 'HTTPRoute'],
    ['what Linkerd does not know', { port: 80, appProtocol: 'mysql' }, 'TCPRoute'],
    ['what Linkerd does not look into', { port: 80, appProtocol: 'linkerd.io/opaque' }, 'TCPRoute'],
    ['a port that is opaque by default', { port: 5432 }, 'TCPRoute'],
    ['UDP', { port: 53, protocol: 'UDP' }, undefined],
  ])('of the kind that its protocol takes: %s', (_, port, kind) => {
    const of = { apex: service('web', { ports: [port] }) };
    const backends = ['web', 'web-east'].map((name) => ({ live: service(name, { ports: [port] }), endpoints: READY }));
    expect(decide({ ...of, backends }).routes.map(({ of: { kind } }) => kind)).toEqual(
      kind === undefined ? [] : [kind],
    );
  });

  it('of the kind that is asked for, or that the annotation of opaque ports calls for', () => {
    const kinds = (given: Partial<ObservedFailover>): unknown => decide(given).routes.map(({ of: { kind } }) => kind);
    expect(kinds({ settings: settings({ routeKind: 'GRPCRoute' }) })).toEqual(['GRPCRoute']);
    const apex = service('web', {}, { 'config.linkerd.io/opaque-ports': '70-90,443' });
    expect(kinds({ apex })).toEqual(['TCPRoute']);
  });

  it('which goes on from where its predecessor of another kind sent requests, and replaces it', () => {
    const toEast = [
      { live: service('web'), endpoints: NOT_READY },
      { live: service('web-east'), endpoints: READY },
    ];
    const former = applied(decide({ backends: toEast }));
    const wanted = { settings: settings({ routeKind: 'GRPCRoute' }) };
    const both = decide({ ...wanted, owned: former });
    const weights = [
      ['web', 0],
      ['web-east', 1],
    ];
    expect(summary(both)).toEqual([
      ['GRPCRoute', 'web-80', weights],
      ['HTTPRoute', 'web-80', weights],
    ]);
    expect(both.isPartial).toBe(true);
    const last = decide({ ...wanted, owned: applied(both) });
    expect(summary(last)).toEqual([['GRPCRoute', 'web-80', weights]]);
    expect(last.kept.map(({ kind }) => kind)).toEqual(['GRPCRoute']);
    expect(last.isPartial).toBe(false);
  });

  it.each<[string, Partial<ObservedFailover>, string]>([
    ['is not installed', { kinds: { GRPCRoute: 'missing', HTTPRoute: 'readable', TCPRoute: 'readable' } }, 'missing'],
    ['has no effect beside an older one', { others: [foreign('GRPCRoute', 'theirs')] }, 'blocked'],
    ['is not there yet', {}, 'to be made'],
  ])('and while one of another kind %s, the one that is there follows what is ready (J3)', (_, given, state) => {
    const owned = applied(decide());
    const decision = decide({
      ...given,
      settings: settings({ routeKind: 'GRPCRoute' }),
      owned,
      backends: [
        { live: service('web'), endpoints: NOT_READY },
        { live: service('web-east'), endpoints: READY },
      ],
    });
    const weights = [
      ['web', 0],
      ['web-east', 1],
    ];
    const made = state === 'to be made' ? [['GRPCRoute', 'web-80', weights]] : [];
    expect(summary(decision)).toEqual([...made, ['HTTPRoute', 'web-80', weights]]);
    expect(decision.kept).toEqual(owned);
    expect(decision.weights).toEqual([0, 1]);
  });
});

describe('the ports of a Service are apart (J1, J2)', () => {
  const at = (port: number, more: object = {}): ServicePort => ({ name: `p${port}`, port, ...more });
  const both = [at(80), at(81)];
  const backend = (name: string, ports = both, endpoints = READY): ObservedFailover['backends'][number] => ({
    live: service(name, { ports }),
    endpoints,
  });
  const LONG = NOW - 3_600_000;
  const since = (service: string, ms: number) => [service, { ready: true, sinceMs: NOW - ms }] as const;
  const three = settings({
    backends: [{ service: 'web' }, { service: 'web-east' }, { service: 'web-north' }],
    holdDownSeconds: 30,
  });

  it('each leads where its own route led', () => {
    const apex = service('web', { ports: both });
    const backends = [backend('web'), backend('web-east')];
    const before = new Map([since('web', 1_000), since('web-east', LONG)]);
    const [first] = applied(
      decide({ apex, backends: [backend('web', both, NOT_READY), backend('web-east')] }),
    ) as readonly [Route];
    const weights = (given: Partial<ObservedFailover>) => summary(decide({ apex, backends, before, ...given }));
    expect(weights({ owned: [first] })).toEqual([
      [
        'HTTPRoute',
        'web-80',
        [
          ['web', 0],
          ['web-east', 1],
        ],
      ],
      [
        'HTTPRoute',
        'web-81',
        [
          ['web', 1],
          ['web-east', 0],
        ],
      ],
    ]);
  });

  it('and the earliest hold-down of all of them is waited for', () => {
    const apex = service('web', { ports: both });
    const owned = applied(
      decide({
        settings: three,
        apex,
        backends: [backend('web', both, NOT_READY), backend('web-east', both, NOT_READY), backend('web-north')],
      }),
    );
    const before = new Map([since('web', 10_000), since('web-east', 20_000), since('web-north', LONG)]);
    const north = backend('web-north');
    const waits = (web: readonly ServicePort[], east: readonly ServicePort[]): number | undefined =>
      decide({
        settings: three,
        apex,
        owned,
        before,
        backends: [backend('web', [...web]), backend('web-east', [...east]), north],
      }).requeueAfterMs;
    expect(waits([at(80)], [at(81)])).toBe(10_000);
    expect(waits([at(81)], [at(80)])).toBe(10_000);
    expect(waits([at(80)], [])).toBe(20_000);
    expect(waits([], [])).toBeUndefined();
  });

  it('also of routes of several kinds for one port, until the one of the right kind is there', () => {
    const kind = (routeKind: RouteKind, ...notReady: readonly number[]): Route => {
      const names = ['web', 'web-east', 'web-north'];
      const backends = names.map((name, at) => backend(name, [at80], notReady.includes(at) ? NOT_READY : READY));
      const of = settings({ ...SPEC, routeKind });
      const [route] = applied(decide({ settings: of, apex: service('web', { ports: [at80] }), backends }));
      if (route === undefined) throw new Error('there is no route');
      return route;
    };
    const at80 = at(80);
    const SPEC = { backends: three.backends.map(({ service }) => ({ service })), holdDownSeconds: 30 };
    const owned = [kind('TCPRoute', 0), kind('HTTPRoute', 0, 1)];
    const decision = decide({
      settings: settings({ ...SPEC, routeKind: 'GRPCRoute' }),
      owned,
      before: new Map([since('web', 10_000), since('web-east', 20_000), since('web-north', LONG)]),
      backends: ['web', 'web-east', 'web-north'].map((name) => backend(name, [at80])),
    });
    expect(decision.routes.map(({ of }) => of.kind)).toEqual(['GRPCRoute', 'TCPRoute', 'HTTPRoute']);
    expect(decision.requeueAfterMs).toBe(10_000);
  });

  it('one is partial while one route replaces another', () => {
    const owned = applied(decide()).slice(0, 1);
    const given = { settings: settings({ routeKind: 'GRPCRoute' }), apex: service('web', { ports: both }), owned };
    const decision = decide({ ...given, backends: [backend('web'), backend('web-east')] });
    expect(decision.isPartial).toBe(true);
    expect(decision.routes.map(({ of, object }) => [of.kind, object.metadata.name])).toEqual([
      ['GRPCRoute', 'web-80'],
      ['HTTPRoute', 'web-80'],
      ['GRPCRoute', 'web-81'],
    ]);
  });

  it('a route of a port that is gone goes, and one whose kind cannot be read stays as it is', () => {
    const owned = applied(decide());
    expect(decide({ owned, apex: service('web', { ports: [at(81)] }) }).kept).toEqual([]);
    const kinds = { GRPCRoute: 'readable', HTTPRoute: 'forbidden', TCPRoute: 'readable' } as const;
    const decision = decide({ owned, kinds, settings: settings({ routeKind: 'GRPCRoute' }) });
    expect(decision.routes.map(({ of }) => of.kind)).toEqual(['GRPCRoute']);
    expect(decision.kept).toEqual(owned);
  });

  it('the weight of a backend is that of the first port that it has', () => {
    const given = { apex: service('web', { ports: both }), backends: [backend('web'), backend('web-east', [at(81)])] };
    expect(decide(given).weights).toEqual([1, 0]);
  });
});

describe('what is known of backends (J3)', () => {
  const unknown = ['web', 'web-east'].map((name) => ({ live: service(name), endpoints: undefined }));

  it('is what the routes take them for, before anything is', () => {
    const owned = applied(decide());
    const ready = (given: Partial<ObservedFailover>): unknown =>
      decide({ backends: unknown, ...given }).readiness.map(({ ready }) => ready);
    expect(ready({ owned })).toEqual([true, false]);
    expect(ready({})).toEqual([false, false]);
    const [route] = owned as readonly [Route];
    const emptied: Route = { ...route, spec: {} };
    expect(ready({ owned: [emptied] })).toEqual([false, false]);
    expect(ready({ owned: [emptied, route] })).toEqual([true, false]);
  });

  it('is that one whose Service is gone is not ready, whatever it was', () => {
    const before = new Map([['web-east', { ready: true, sinceMs: NOW - 1000 }]]);
    const [web = { live: undefined, endpoints: undefined }] = unknown;
    const decision = decide({ before, backends: [web, { live: undefined, endpoints: undefined }] });
    expect(decision.readiness[1]).toEqual({ ready: false, sinceMs: NOW });
  });
});

test('what others add to the metadata of a route stays (A3)', () => {
  expect(decide().routes[0]?.comparison).toEqual({ extraMetadata: 'ignored' });
});

describe('what is in the way is reported (J4)', () => {
  const reasons = (given: Partial<ObservedFailover>): unknown => {
    const { ofRoutes, ofBackends } = decide(given);
    return [ofRoutes?.reason, ofBackends?.reason];
  };
  const missing = { live: undefined, endpoints: undefined };

  it('nothing', () => {
    expect(reasons({})).toEqual([undefined, undefined]);
  });

  it('a Service that does not exist, and what routes there are stay', () => {
    const owned = applied(decide());
    expect(reasons({ apex: undefined, owned })).toEqual(['ServiceNotFound', undefined]);
    expect(decide({ apex: undefined, owned })).toMatchObject({ routes: [], kept: owned });
  });

  it('a Service without a ClusterIP', () => {
    expect(reasons({ apex: service('web', { clusterIP: 'None' }) })).toEqual(['ServiceHasNoClusterIP', undefined]);
    expect(reasons({ apex: service('web', { type: 'ExternalName' }) })).toEqual(['ServiceHasNoClusterIP', undefined]);
  });

  it('a backend that does not exist yet, which is not listed', () => {
    const given = { backends: [{ live: service('web'), endpoints: NOT_READY }, missing] };
    expect(reasons(given)).toEqual([undefined, 'BackendNotFound']);
    expect(summary(decide(given))).toEqual([['HTTPRoute', 'web-80', [['web', 1]]]]);
  });

  it('all backends missing, and the route stays as it is', () => {
    const owned = applied(decide());
    expect(decide({ owned, backends: [missing, missing] })).toMatchObject({ routes: [], kept: owned });
    const wanted = settings({ routeKind: 'GRPCRoute' });
    expect(decide({ settings: wanted, owned, backends: [missing, missing] })).toMatchObject({
      routes: [],
      kept: owned,
    });
  });

  it('a backend without the port', () => {
    const given = {
      backends: [
        { live: service('web'), endpoints: READY },
        { live: service('web-east', { ports: [{ port: 8080 }] }), endpoints: READY },
      ],
    };
    expect(reasons(given)).toEqual([undefined, 'PortMismatch']);
    expect(summary(decide(given))).toEqual([['HTTPRoute', 'web-80', [['web', 1]]]]);
  });

  it.each(['missing', 'forbidden', 'unknown'] as const)('a kind that is %s, and its routes stay', (state) => {
    const owned = applied(decide());
    const kinds = { GRPCRoute: 'readable', HTTPRoute: state, TCPRoute: 'readable' } as const;
    const decision = decide({ owned, kinds });
    expect(decision).toMatchObject({ routes: [], kept: owned });
    expect(decision.ofRoutes?.reason).toBe(
      { missing: 'RouteKindMissing', forbidden: 'Forbidden', unknown: 'Pending' }[state],
    );
  });

  it('a ServiceProfile', () => {
    expect(reasons({ hasProfile: true })).toEqual(['ServiceProfileExists', undefined]);
  });

  it("somebody else's older route: none is made beside it, and one that is there goes on", () => {
    const others = [foreign('HTTPRoute', 'theirs')];
    expect(reasons({ others })).toEqual(['RouteConflict', undefined]);
    expect(decide({ others }).routes).toEqual([]);
    const owned = applied(decide());
    expect(decide({ others, owned }).routes).toHaveLength(1);
    expect(reasons({ others, owned })).toEqual(['RouteConflict', undefined]);
  });

  it.each<[string, Route, string | undefined]>([
    ['younger', foreign('HTTPRoute', 'theirs', {}, '2026-01-02T00:00:00Z'), undefined],
    [
      'younger, of a kind that is preferred',
      foreign('GRPCRoute', 'theirs', {}, '2026-01-02T00:00:00Z'),
      'RouteConflict',
    ],
    ['older, of a kind that is not', foreign('TCPRoute', 'theirs'), undefined],
    ['as old, with an earlier name', foreign('HTTPRoute', 'a', {}, '2026-01-01T12:00:00Z'), 'RouteConflict'],
    ['for another port', foreign('HTTPRoute', 'theirs', { port: 8080 }), undefined],
    ['for another Service', foreign('HTTPRoute', 'theirs', { name: 'api' }), undefined],
  ])('a route of others beside ours: %s', (_, other, reason) => {
    expect(decide({ owned: applied(decide()), others: [other] }).ofRoutes?.reason).toBe(reason);
  });

  const messages = (given: Partial<ObservedFailover>): unknown => {
    const { ofRoutes, ofBackends } = decide(given);
    return [ofRoutes?.message, ofBackends?.message].join(' ').trim();
  };
  const udp = [{ port: 53, protocol: 'UDP' }];

  test.each<[string, Partial<ObservedFailover>, string]>([
    [
      'a missing backend',
      { backends: [{ live: service('web'), endpoints: READY }, missing] },
      'Service web-east not found in namespace shop; requests never go there',
    ],
    [
      'missing backends',
      { backends: [missing, missing] },
      'Services web, web-east not found in namespace shop; requests never go there',
    ],
    [
      'a backend without the port',
      {
        backends: [
          { live: service('web'), endpoints: READY },
          { live: service('web-east', { ports: udp }), endpoints: READY },
        ],
      },
      'Service web-east has no TCP port 80; requests to these ports never go there',
    ],
    [
      'a headless Service',
      { apex: service('web', { clusterIP: 'None' }) },
      'Service web is headless: no route can have it as its parent',
    ],
    [
      'a Service of another type',
      { apex: service('web', { type: 'ExternalName' }) },
      'Service web is of type ExternalName: no route can have it as its parent',
    ],
    ['a Service without a TCP port', { apex: service('web', { ports: udp }) }, 'Service web has no TCP port'],
    ['a Service that nobody has filled in', { apex: { metadata: { name: 'web' } } }, 'Service web has no TCP port'],
  ])('with a message that names it: %s', (_, given, message) => {
    expect(messages(given)).toBe(message);
  });

  it('and whose the route is that is to be deleted', () => {
    const theirs = foreign('HTTPRoute', 'other-80');
    expect(messages({ others: [theirs] })).toContain('delete it, or this ServiceFailover');
    const labels = { 'linkspan.dev/service-failover': 'other' };
    const another = { ...theirs, metadata: { ...theirs.metadata, labels } };
    expect(messages({ others: [another] })).toContain('delete ServiceFailover other, or this ServiceFailover');
  });
});

import { describe, expect, it, test } from 'vitest';

import { type FailoverSettings, readFailover } from '../../../crds/failover/settings.ts';
import type { RouteKind } from '../../../constructs/rendered/index.ts';
import type { Service, ServicePort } from '../../../operator/kube/objects.ts';
import type { ObservedFailover, Route } from '../../../operator/failover/observed.ts';
import { type Decision, decideFailover } from '../../../operator/failover/plan.ts';
import { failoverOf, parentsOf, weightsIn } from '../../../operator/failover/routes.ts';
import { failoverStatus, readStatus } from '../../../operator/failover/status.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const HTTP: ServicePort = { name: 'http', port: 80 };

const service = (name: string, { ports = [HTTP], ...spec }: Service['spec'] = {}, annotations = {}): Service => ({
  metadata: { name, namespace: 'shop', annotations },
  spec: { ...spec, ports },
});

const settings = (spec: object = {}): FailoverSettings => {
  const read = readFailover({
    metadata: { name: 'web', namespace: 'shop' },
    spec: { service: 'web', backends: [{ service: 'web' }, { service: 'web-east' }], ...spec },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return read.value;
};

const READY = { ready: 1, total: 1 };
const NOT_READY = { ready: 0, total: 1 };

const observed = (given: Partial<ObservedFailover> = {}): ObservedFailover => ({
  settings: settings(),
  apex: service('web'),
  backends: [
    { live: service('web'), endpoints: READY },
    { live: service('web-east'), endpoints: READY },
  ],
  owned: [],
  others: [],
  kinds: { GRPCRoute: 'readable', HTTPRoute: 'readable', TCPRoute: 'readable' },
  hasProfile: false,
  before: new Map(),
  ...given,
});

const decide = (given: Partial<ObservedFailover> = {}): Decision => decideFailover(observed(given), NOW);

const foreign = (kind: RouteKind, name: string, parent: object = {}, createdAt = '2026-01-01T00:00:00Z'): Route => ({
  kind,
  metadata: { name, namespace: 'shop', creationTimestamp: createdAt },
  spec: { parentRefs: [{ group: 'core', kind: 'Service', name: 'web', ...parent }] },
});

/** A route of ours as the API server has it. */
const applied = (decision: Decision, createdAt = '2026-01-01T12:00:00Z'): readonly Route[] =>
  decision.routes.map(({ object }) => ({
    ...(object as Route),
    metadata: { ...object.metadata, creationTimestamp: createdAt },
  }));

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
});

describe('routes are ours by their label and their name', () => {
  const named = (name: string, failover?: string) => ({
    metadata: { name, labels: failover === undefined ? {} : { 'linkspan.dev/service-failover': failover } },
  });

  it.each([
    ['web-80', 'web', 'web'],
    ['web-80', undefined, undefined],
    ['copy', 'web', undefined],
    ['web-x', 'web', undefined],
    ['web-080', 'web', undefined],
  ])('%s of %s: %s', (name, failover, owner) => {
    expect(failoverOf(named(name, failover))).toBe(owner);
  });

  it('and those of others are read whatever they hold', () => {
    const hostile = { kind: 'HTTPRoute', metadata: { name: 'x', namespace: 'shop' } } as const;
    for (const spec of [
      undefined,
      null,
      1,
      { parentRefs: 1, rules: 'x' },
      { parentRefs: [null, 1, {}], rules: [null, { backendRefs: [{}] }] },
    ]) {
      const route = { ...hostile, spec } as unknown as Route;
      expect(parentsOf(route)).toEqual([]);
      weightsIn(route);
    }
  });
});

describe('the status of a ServiceFailover', () => {
  const now = new Date(NOW);
  const status = (given: Partial<ObservedFailover>, before?: unknown) =>
    failoverStatus(
      { operator: 'linkerd-multicluster', generation: 1, observed: observed(given), decision: decide(given) },
      before,
      now,
    );
  const ready = (given: Partial<ObservedFailover>): unknown =>
    status(given).conditions?.find(({ type }) => type === 'Ready');

  it('says where requests go, and what each backend is like', () => {
    expect(status({})).toMatchObject({
      observedGeneration: 1,
      active: 'web',
      backends: [
        {
          service: 'web',
          ready: true,
          weight: 1,
          readyEndpoints: 1,
          endpoints: 1,
          lastTransitionTime: '2026-01-02T03:04:05Z',
        },
        { service: 'web-east', ready: true, weight: 0 },
      ],
    });
    expect(ready({})).toMatchObject({
      status: 'True',
      reason: 'Ready',
      message: 'requests go to web',
      observedGeneration: 1,
    });
  });

  it('is not ready for what is in the way, or while no backend is', () => {
    expect(ready({ hasProfile: true })).toMatchObject({ status: 'False', reason: 'ServiceProfileExists' });
    const backends = ['web', 'web-east'].map((name) => ({ live: service(name), endpoints: NOT_READY }));
    expect(ready({ backends })).toMatchObject({ status: 'False', reason: 'NoBackendReady' });
  });

  it('is the same after a restart, before anything is known again: nothing is written (C5)', () => {
    const first = status({});
    const owned = applied(decide());
    const unknown = ['web', 'web-east'].map((name) => ({ live: service(name), endpoints: undefined }));
    const given = { owned, backends: unknown, before: readStatus(first).readiness };
    const later = new Date(NOW + 3_600_000);
    const decision = decideFailover(observed(given), later.getTime());
    expect(
      failoverStatus(
        { operator: 'linkerd-multicluster', generation: 1, observed: observed(given), decision },
        first,
        later,
      ),
    ).toEqual(first);
    expect(decision.routes.map(({ object }) => object)).toEqual(decide().routes.map(({ object }) => object));
  });

  it('keeps what an invalid one was served as', () => {
    const first = status({});
    const invalid = failoverStatus(
      { operator: 'linkerd-multicluster', generation: 2, invalid: [{ path: 'spec', reason: 'is required' }] },
      first,
      now,
    );
    expect(invalid).toMatchObject({ active: 'web', backends: first.backends });
    expect(invalid.conditions?.find(({ type }) => type === 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'Invalid',
    });
  });

  it('is read back whatever others have written into it', () => {
    for (const hostile of [
      undefined,
      null,
      1,
      [],
      { conditions: 1, backends: [1, null, { service: 1 }], active: {} },
    ]) {
      expect(readStatus(hostile)).toMatchObject({ conditions: [] });
      status({}, hostile);
    }
  });
});

import { describe, expect, it, test } from 'vitest';

import type { RouteKind } from '../../../constructs/rendered/index.ts';
import type { Service, ServicePort } from '../../../operator/kube/objects.ts';
import type { ParentRef, Route } from '../../../operator/failover/observed.ts';
import {
  conflictOf,
  failoverOf,
  hasPort,
  parentsOf,
  routedPorts,
  weightsIn,
} from '../../../operator/failover/routes.ts';
import { foreign, service, settings } from './given.ts';

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
    ['web-8080', 'web', 'web'],
    ['web-80x', 'web', undefined],
    ['web-123456', 'web', undefined],
    ['undefined-80', undefined, undefined],
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

describe('parents of a route that count', () => {
  const parents = (ref: ParentRef): unknown => parentsOf(foreign('HTTPRoute', 'theirs', ref));

  test.each<[string, object, unknown]>([
    ['a Service', {}, [{ name: 'web' }]],
    ['a Service, the group of which is empty', { group: '' }, [{ name: 'web' }]],
    ['one of its ports', { port: 80 }, [{ name: 'web', port: 80 }]],
    ['a Service of the same namespace', { namespace: 'shop' }, [{ name: 'web' }]],
    ['a Service of another namespace', { namespace: 'other' }, []],
    ['a Gateway', { kind: 'Gateway' }, []],
    ['a Service of another group', { group: 'example.com' }, []],
    ['one without a group', { group: undefined }, []],
    ['one without a name', { name: 1 }, []],
    ['a port that is no number', { port: '80' }, [{ name: 'web' }]],
  ])('%s', (_, ref, counted) => {
    expect(parents(ref)).toStrictEqual(counted);
  });
});

describe('the weights of a route', () => {
  const weights = (...backendRefs: readonly object[]): unknown => {
    const read = weightsIn({
      ...foreign('HTTPRoute', 'web-80'),
      spec: { rules: [{ backendRefs: backendRefs }] },
    });
    return read && [...read];
  };

  it('are 1 where it does not say, as the API has it', () => {
    expect(weights({ name: 'web' }, { name: 'web-east', weight: 0 }, { name: 'web-west', weight: '7' })).toEqual([
      ['web', 1],
      ['web-east', 0],
      ['web-west', 1],
    ]);
  });

  it('are those of named backends, and not known of a route without backends', () => {
    expect(weights({ weight: 2 }, 'web' as unknown as object, { name: 'web', weight: 3 })).toEqual([['web', 3]]);
    expect(weights()).toBeUndefined();
    expect(weightsIn(foreign('HTTPRoute', 'web-80'))).toBeUndefined();
  });
});

describe('ports of a Service that a route can be for', () => {
  const OPAQUE = 'config.linkerd.io/opaque-ports';
  const kinds = (port: ServicePort, opaque?: string): readonly RouteKind[] =>
    routedPorts(
      service('web', { ports: [port] }, opaque === undefined ? undefined : { [OPAQUE]: opaque }),
      undefined,
    ).map(({ kind }) => kind);

  test.each<[string | undefined, ServicePort, RouteKind]>([
    [undefined, { port: 3306 }, 'TCPRoute'],
    [undefined, { port: 3307 }, 'HTTPRoute'],
    ['', { port: 3306 }, 'HTTPRoute'],
    ['80, 443', { port: 443 }, 'TCPRoute'],
    ['80 , sql ', { name: 'sql', port: 9000 }, 'TCPRoute'],
    ['sql', { name: 'web', port: 9000 }, 'HTTPRoute'],
    ['70-90', { port: 70 }, 'TCPRoute'],
    ['70-90', { port: 90 }, 'TCPRoute'],
    ['70-90', { port: 69 }, 'HTTPRoute'],
    ['70-90', { port: 91 }, 'HTTPRoute'],
    [undefined, { port: 80, appProtocol: 'HTTP' }, 'HTTPRoute'],
  ])('opaque ports %j, port %j: %s', (opaque, port, kind) => {
    expect(kinds(port, opaque)).toEqual([kind]);
  });

  it('are those of TCP', () => {
    const ports = [
      { port: 80 },
      { port: 53, protocol: 'UDP' },
      { port: 81, protocol: 'TCP' },
      { port: 82, protocol: 'SCTP' },
    ];
    const both = service('web', { ports });
    expect(routedPorts(both, 'GRPCRoute')).toEqual([
      { port: 80, kind: 'GRPCRoute' },
      { port: 81, kind: 'GRPCRoute' },
    ]);
    expect([80, 53, 81, 82, 83].filter((port) => hasPort(both, port))).toEqual([80, 81]);
  });

  it('are none of a Service that has none', () => {
    const bare: Service = { metadata: { name: 'web', namespace: 'shop' } };
    expect(routedPorts(bare, undefined)).toEqual([]);
    expect(hasPort(bare, 80)).toBe(false);
  });
});

describe('routes of others that keep ours from having effect (J4)', () => {
  const OWN = foreign('HTTPRoute', 'web-80', {}, '2026-01-01T12:00:00Z');
  const twoParents = (...names: readonly string[]): Route => ({
    ...foreign('HTTPRoute', 'theirs'),
    spec: { parentRefs: names.map((name) => ({ group: 'core', kind: 'Service', name })) },
  });

  test.each<[string, Route, Route | undefined, boolean]>([
    ['older', foreign('HTTPRoute', 'theirs'), OWN, true],
    ['for the port', foreign('HTTPRoute', 'theirs', { port: 80 }), OWN, true],
    ['for another port', foreign('HTTPRoute', 'theirs', { port: 81 }), OWN, false],
    ['that has the Service as its second parent', twoParents('other', 'web'), OWN, true],
    ['that has other parents', twoParents('other', 'another'), OWN, false],
    ['as old, with a later name', foreign('HTTPRoute', 'x', {}, '2026-01-01T12:00:00Z'), OWN, false],
    ['as old, with the same name', foreign('HTTPRoute', 'web-80', {}, '2026-01-01T12:00:00Z'), OWN, false],
    [
      'younger, while there is none of ours',
      foreign('HTTPRoute', 'theirs', {}, '2027-01-01T00:00:00Z'),
      undefined,
      true,
    ],
    ['of a kind that comes after it, while there is none of ours', foreign('TCPRoute', 'theirs'), undefined, false],
  ])('one %s', (_, other, own, isInTheWay) => {
    expect(conflictOf({ settings: settings(), others: [other] }, 80, 'HTTPRoute', own)).toBe(
      isInTheWay ? other : undefined,
    );
  });
});

import { describe, expect, it, test } from 'vitest';

import type { ObservedFailover } from '../../../operator/failover/observed.ts';
import { decideFailover } from '../../../operator/failover/plan.ts';
import { anotherOf, failoverStatus, readStatus } from '../../../operator/failover/status.ts';
import { applied, decide, NOT_READY, NOW, observed, READY, service } from './given.ts';

const BY = { operator: 'linkerd-multicluster', generation: 1 };
const SINCE = '2026-01-02T03:00:00Z';
const now = new Date(NOW);

const status = (given: Partial<ObservedFailover>, before?: unknown) =>
  failoverStatus({ observed: observed(given), decision: decide(given) }, BY, before, now);

const invalid = (before?: unknown) =>
  failoverStatus({ invalid: [{ path: 'spec', reason: 'is required' }] }, { ...BY, generation: 2 }, before, now);

const backends = (...endpoints: readonly (typeof READY | undefined)[]): ObservedFailover['backends'] =>
  ['web', 'web-east'].map((name, at) => ({ live: service(name), endpoints: endpoints[at] }));

describe('the status of a ServiceFailover', () => {
  const condition = (of: string, given: Partial<ObservedFailover>): unknown =>
    status(given).conditions?.find(({ type }) => type === of);
  const ready = (given: Partial<ObservedFailover>): unknown => condition('Ready', given);

  it('says where requests go, and what each backend is like', () => {
    expect(status({})).toMatchObject({
      observedGeneration: 1,
      operator: 'linkerd-multicluster',
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
    expect(ready({ backends: backends(NOT_READY, NOT_READY) })).toMatchObject({ reason: 'NoBackendReady' });
    const [first = { live: undefined, endpoints: undefined }] = backends(READY);
    const missing = { backends: [first, { live: undefined, endpoints: undefined }] };
    expect(condition('BackendsFound', missing)).toMatchObject({ status: 'False', reason: 'BackendNotFound' });
    expect(ready(missing)).toMatchObject({ status: 'False', reason: 'BackendNotFound' });
    expect(status(missing).backends?.[1]).not.toHaveProperty('weight');
  });

  it('is ready while one backend of many is', () => {
    const given = { backends: backends(NOT_READY, READY) };
    expect(condition('BackendReady', given)).toMatchObject({ status: 'True' });
    expect(ready(given)).toMatchObject({ status: 'True', message: 'requests go to web-east' });
  });

  it('is not known while the kind of its routes has not been read, and is not ready where that is missing', () => {
    const kinds = { GRPCRoute: 'readable', HTTPRoute: 'unknown', TCPRoute: 'readable' } as const;
    expect(condition('RoutesApplied', { kinds })).toMatchObject({ status: 'Unknown', reason: 'Pending' });
    const missing = { kinds: { ...kinds, HTTPRoute: 'missing' } } as const;
    expect(condition('RoutesApplied', missing)).toMatchObject({ status: 'False', reason: 'RouteKindMissing' });
  });

  it('says why a route could not be written, before all else that is wrong with routes', () => {
    const failure = { reason: 'WriteFailed', message: 'denied' };
    const given = { hasProfile: true };
    const findings = { observed: observed(given), decision: decide(given), failure };
    expect(failoverStatus(findings, BY, undefined, now).conditions).toContainEqual(
      expect.objectContaining({ type: 'RoutesApplied', status: 'False', ...failure }),
    );
  });

  it('is the same after a restart, before anything is known again: nothing is written (C5)', () => {
    const first = status({});
    const owned = applied(decide());
    const given = { owned, backends: backends(), before: readStatus(first).readiness };
    const later = new Date(NOW + 3_600_000);
    const decision = decideFailover(observed(given), later.getTime());
    expect(failoverStatus({ observed: observed(given), decision }, BY, first, later)).toEqual(first);
    expect(decision.routes.map(({ object }) => object)).toEqual(decide().routes.map(({ object }) => object));
  });

  it('keeps what an invalid one was served as, and makes nothing up', () => {
    const first = status({});
    expect(invalid(first)).toMatchObject({ active: 'web', backends: first.backends, observedGeneration: 2 });
    expect(invalid(first).conditions).toContainEqual(
      expect.objectContaining({ type: 'Accepted', status: 'False', reason: 'Invalid' }),
    );
    expect(Object.keys(invalid())).toEqual(['observedGeneration', 'operator', 'conditions']);
  });
});

describe('a status is read back whatever others have written into it', () => {
  test.each([
    undefined,
    null,
    1,
    [],
    { conditions: 1, backends: [1, null, { service: 1 }], active: {}, operator: 1 },
    { backends: 'web', operator: '' },
  ])('%j', (hostile) => {
    expect(readStatus(hostile)).toEqual({
      conditions: [],
      readiness: new Map(),
      active: undefined,
      operator: undefined,
    });
    status({}, hostile);
    invalid(hostile);
  });

  it('backend by backend', () => {
    const good = { service: 'web', ready: false, lastTransitionTime: SINCE };
    const written = [
      good,
      { ...good, service: 1 },
      { ...good, service: 'a', ready: 'yes' },
      { ...good, service: 'b', lastTransitionTime: 'soon' },
      { ...good, service: 'c', lastTransitionTime: [SINCE] },
    ];
    const read = readStatus({ backends: written, active: 'web,web-east', operator: 'linkerd-multicluster' });
    expect([...read.readiness]).toEqual([['web', { ready: false, sinceMs: Date.parse(SINCE) }]]);
    expect(read).toMatchObject({ active: 'web,web-east', operator: 'linkerd-multicluster' });
  });

  test.each([
    [2, 3, { readyEndpoints: 2, endpoints: 3 }],
    [0, 3, { readyEndpoints: 0, endpoints: 3 }],
    [-1, 1.5, {}],
    ['2', null, {}],
  ])('counts that are not known stay as they were: %j of %j', (readyEndpoints, endpoints, kept) => {
    const before = { backends: [{ service: 'web', readyEndpoints, endpoints }] };
    const [web] = status({ backends: backends(undefined, READY) }, before).backends ?? [];
    const { readyEndpoints: _, endpoints: __, ...rest } = web ?? { service: '', ready: false, lastTransitionTime: '' };
    expect(web).toStrictEqual({ ...rest, ...kept });
  });
});

test('a ServiceFailover is served by the operator that its status names (J6)', () => {
  expect(anotherOf({ operator: 'other' }, 'own')).toBe('other');
  expect(anotherOf({ operator: 'own' }, 'own')).toBeUndefined();
  expect(anotherOf(undefined, 'own')).toBeUndefined();
});

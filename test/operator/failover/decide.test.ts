import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { type Candidate, readinessOf, type Shares, sharesOf } from '../../../operator/failover/decide.ts';
import { isEnough } from '../../../operator/failover/readiness.ts';

const HOLD_MS = 30_000;
const NOW = 1_000_000_000;
const LONG = NOW - 3_600_000;

const up = (service: string, sinceMs = LONG, weight?: number): Candidate => ({ service, ready: true, sinceMs, weight });
const down = (service: string, weight?: number): Candidate => ({ service, ready: false, sinceMs: LONG, weight });

const shares = (candidates: readonly Candidate[], current?: Readonly<Record<string, number>>): Shares =>
  sharesOf(candidates, current && new Map(Object.entries(current)), HOLD_MS, NOW);

describe('requests go to the first backend that is ready (J2)', () => {
  test.each<[string, readonly Candidate[], Readonly<Record<string, number>> | undefined, readonly number[]]>([
    ['at first, without a hold-down', [up('web', NOW), up('east')], undefined, [1, 0]],
    ['at first, to the second if the first is not ready', [down('web'), up('east')], undefined, [0, 1]],
    ['at first, to the first if none is ready', [down('web'), down('east')], undefined, [1, 0]],
    ['from one that is no longer', [down('web'), up('east', NOW)], { web: 1, east: 0 }, [0, 1]],
    ['and stay where they are while none is', [down('web'), down('east')], { web: 0, east: 1 }, [0, 1]],
    ['and back after the hold-down', [up('web', NOW - HOLD_MS), up('east')], { web: 0, east: 1 }, [1, 0]],
    ['and not before', [up('web', NOW - HOLD_MS + 1), up('east')], { web: 0, east: 1 }, [0, 1]],
    ['and back at once if nothing else is ready', [up('web', NOW), down('east')], { web: 0, east: 1 }, [1, 0]],
    [
      'or to a later one rather than to an earlier one that has yet to prove itself',
      [up('web', NOW), down('east'), up('north', NOW)],
      { web: 0, east: 1, north: 0 },
      [0, 0, 1],
    ],
    ['and to one that was not listed before', [down('web'), up('east')], { web: 1 }, [0, 1]],
    ['also if the one that they went to is no backend any more', [down('web'), up('east')], { old: 1 }, [0, 1]],
    [
      'or to a later one, if the one that they went to is gone, rather than to an earlier one that has yet to prove itself (L233)',
      [up('web', NOW), up('north')],
      { web: 0, east: 1, north: 0 },
      [0, 1],
    ],
    ['and back at once if nothing else is left (L233)', [up('web', NOW)], { web: 0, east: 1 }, [1]],
    [
      'and to the next one, if the one that they went to is gone, although that is ready only just now (L233)',
      [down('web'), up('north', NOW), up('south')],
      { web: 0, east: 1, north: 0, south: 0 },
      [0, 1, 0],
    ],
    ['and at once to the first of others, which were not listed', [up('web', NOW), up('east')], { old: 1 }, [1, 0]],
    ['and a backend alone has a weight, also while it is not ready', [down('web')], { web: 0 }, [1]],
  ])('%s', (_, candidates, current, weights) => {
    expect(shares(candidates, current).weights).toEqual(weights);
  });

  it('is decided again when the hold-down ends', () => {
    const sinceMs = NOW - 10_000;
    expect(shares([up('web', sinceMs), up('east')], { web: 0, east: 1 }).dueMs).toBe(sinceMs + HOLD_MS);
    expect(shares([up('web'), up('east')], { web: 1, east: 0 }).dueMs).toBeUndefined();
    expect(shares([up('web', sinceMs), up('north')], { web: 0, east: 1, north: 0 }).dueMs).toBe(sinceMs + HOLD_MS);
    const two = [up('web', sinceMs), up('east', sinceMs - 5_000), up('north')];
    expect(shares(two, { web: 0, east: 0, north: 1 }).dueMs).toBe(sinceMs - 5_000 + HOLD_MS);
  });
});

describe('requests are divided by weight among what is ready (J2)', () => {
  test.each<[string, readonly Candidate[], Readonly<Record<string, number>> | undefined, readonly number[]]>([
    ['all of it', [up('web', LONG, 90), up('east', LONG, 10)], { web: 90, east: 10 }, [90, 10]],
    ['without what is not', [down('web', 90), up('east', LONG, 10)], { web: 90, east: 10 }, [0, 10]],
    ['as before while none is', [down('web', 90), down('east', 10)], { web: 0, east: 10 }, [0, 10]],
    ['all of it at first, without a hold-down', [up('web', NOW, 90), up('east', LONG, 10)], undefined, [90, 10]],
    ['all, if none ever was', [down('web', 90), down('east', 10)], undefined, [90, 10]],
    [
      'with one again after the hold-down',
      [up('web', NOW - HOLD_MS, 90), up('east', LONG, 10)],
      { web: 0, east: 10 },
      [90, 10],
    ],
    ['and not before', [up('web', NOW, 90), up('east', LONG, 10)], { web: 0, east: 10 }, [0, 10]],
    [
      'and not before, if those that they went to are gone (L233)',
      [up('web', NOW, 90), up('north', LONG, 10)],
      { web: 0, east: 10, north: 0 },
      [0, 10],
    ],
    ['all of others, which were not listed', [up('web', NOW, 90), up('east', NOW, 10)], { old: 1 }, [90, 10]],
  ])('%s', (_, candidates, current, weights) => {
    expect(shares(candidates, current).weights).toEqual(weights);
  });
});

describe('the readiness of a backend (J3)', () => {
  const before = { ready: true, sinceMs: LONG };
  const view = { exists: true, endpoints: { ready: 2, total: 4 }, isActive: false };

  it('holds since it came to be so', () => {
    expect(readinessOf(view, { count: 2 }, before, NOW)).toEqual(before);
    expect(readinessOf(view, { count: 3 }, before, NOW)).toEqual({ ready: false, sinceMs: NOW });
    expect(readinessOf(view, { percent: 50 }, before, NOW)).toEqual(before);
    expect(readinessOf(view, { percent: 51 }, before, NOW + 1)).toEqual({ ready: false, sinceMs: NOW + 1000 });
  });

  it('stays as it was while nothing is known, and is what the route takes it for at first', () => {
    const unknown = { ...view, endpoints: undefined };
    expect(readinessOf(unknown, { count: 1 }, before, NOW)).toEqual(before);
    expect(readinessOf(unknown, { count: 1 }, undefined, NOW).ready).toBe(false);
    expect(readinessOf({ ...unknown, isActive: true }, { count: 1 }, undefined, NOW).ready).toBe(true);
  });

  it('needs the Service, and an endpoint', () => {
    expect(readinessOf({ ...view, exists: false }, { count: 1 }, before, NOW).ready).toBe(false);
    expect(isEnough({ ready: 0, total: 0 }, { percent: 1 })).toBe(false);
  });
});

/** What happens to the backends of one route: which are ready from some time on, and when anything is decided. */
const history = fc.record({
  backends: fc.integer({ min: 1, max: 4 }),
  weights: fc.option(fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 4, maxLength: 4 }), { nil: undefined }),
  holdDownMs: fc.constantFrom(0, 1_000, 30_000),
  steps: fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 40_000 }),
      /** Undefined: what it was is not known now. */
      ready: fc.array(fc.option(fc.boolean(), { nil: undefined }), { minLength: 4, maxLength: 4 }),
      exists: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      restarts: fc.boolean(),
    }),
    { maxLength: 20 },
  ),
});

test('of 2,000 histories none leaves a route without a weight, turns it to what is not ready, or turns it back too early (J2)', () => {
  fc.assert(
    fc.property(history, ({ backends, weights, holdDownMs, steps }) => {
      const names = Array.from({ length: backends }, (_, at) => `b${at}`);
      let nowMs = 1_700_000_000_000;
      let route: ReadonlyMap<string, number> | undefined;
      let known = new Map<string, { ready: boolean; sinceMs: number }>();
      // As the statement has it, apart from what is tested: since when each backend is ready without a break.
      const readySince = new Map<string, number>();
      for (const { afterMs, ready, exists, restarts } of steps) {
        nowMs += afterMs;
        // A restart knows the status, which has whole seconds, and the route.
        if (restarts) known = new Map([...known].map(([name, each]) => [name, { ...each }]));
        const candidates = names.flatMap((service, at): readonly Candidate[] => {
          const now = ready[at];
          const endpoints = now === undefined ? undefined : { ready: now ? 1 : 0, total: 1 };
          const isActive = (route?.get(service) ?? 0) > 0;
          const state = readinessOf(
            { exists: exists[at] === true, endpoints, isActive },
            { count: 1 },
            known.get(service),
            nowMs,
          );
          known.set(service, state);
          if (!state.ready) readySince.delete(service);
          else if (!readySince.has(service)) readySince.set(service, nowMs);
          return exists[at] === true ? [{ service, ...state, weight: weights?.[at] }] : [];
        });
        if (candidates.length === 0) continue;
        const before = route;
        const decided = sharesOf(candidates, before, holdDownMs, nowMs);
        route = new Map(candidates.map(({ service }, at) => [service, decided.weights[at] ?? 0]));

        const on = candidates.filter(({ service }) => (route?.get(service) ?? 0) > 0);
        expect([...route.keys()], 'a standby is listed').toEqual(candidates.map(({ service }) => service));
        expect(on.length, 'never all weights are 0').toBeGreaterThan(0);
        const isAnyReady = candidates.some((each) => each.ready);
        if (isAnyReady)
          expect(
            on.every((each) => each.ready),
            'nothing goes to what is not ready',
          ).toBe(true);
        if (weights === undefined && isAnyReady) expect(on).toHaveLength(1);
        const wasOn = candidates.filter(({ service }) => (before?.get(service) ?? 0) > 0);
        if (!isAnyReady && wasOn.length > 0)
          expect(on.map(({ service }) => service)).toEqual(wasOn.map(({ service }) => service));
        // Back, while something that it went to is ready, only what has been ready for the hold-down.
        if (wasOn.some((each) => each.ready)) {
          for (const each of on.filter((one) => !wasOn.includes(one))) {
            expect(nowMs - (readySince.get(each.service) ?? nowMs), 'hold-down').toBeGreaterThanOrEqual(holdDownMs);
          }
        }
        // The same again decides the same.
        expect(sharesOf(candidates, route, holdDownMs, nowMs).weights).toEqual(decided.weights);
      }
    }),
    { numRuns: 2_000 },
  );
});

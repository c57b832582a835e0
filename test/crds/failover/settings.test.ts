import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { formatFieldErrors } from '../../../crds/field-error.ts';
import { readFailover } from '../../../crds/failover/settings.ts';
import { INVALID, VALID } from './specs.ts';

const read = (spec: unknown, name = 'web') => readFailover({ metadata: { name, namespace: 'shop' }, spec });

describe('a ServiceFailover is read (J1)', () => {
  it('with defaults: one ready endpoint, and 30 s of hold-down', () => {
    expect(read(VALID['one backend'])).toEqual({
      ok: true,
      value: {
        name: 'web',
        namespace: 'shop',
        uid: '',
        generation: 0,
        service: 'web',
        backends: [{ service: 'web', minReady: { count: 1 } }],
        holdDownMs: 30_000,
      },
    });
  });

  it('with thresholds, weights and times as numbers', () => {
    expect(read(VALID['an order, with thresholds'])).toMatchObject({
      value: {
        backends: [{ minReady: { percent: 50 } }, { minReady: { count: 2 } }],
        holdDownMs: 90_000,
        routeKind: 'GRPCRoute',
      },
    });
    expect(read(VALID['weights'])).toMatchObject({
      value: { backends: [{ weight: 90 }, { weight: 10 }], holdDownMs: 0 },
    });
  });

  test.each(Object.entries(INVALID))('or refused, with the reason: %s', (_, { spec, name, errors }) => {
    const found = read(spec, name);
    expect(found.ok ? [] : found.errors.map((each) => formatFieldErrors([each]))).toEqual(errors);
  });

  it('or refused for a hold-down of more than a day', () => {
    expect(read({ service: 'web', backends: [{ service: 'web' }], holdDown: '25h' })).toMatchObject({
      errors: [{ path: 'spec.holdDown', reason: 'must be between 0 and 24h' }],
    });
  });

  it('whatever it is: no form makes the reading throw', () => {
    const json = fc.jsonValue() as fc.Arbitrary<unknown>;
    const spec = fc.record({
      service: json,
      backends: fc.array(fc.record({ service: json, minReady: json, weight: json })),
    });
    fc.assert(
      fc.property(fc.oneof(json, spec), (given) => {
        readFailover(given);
        read(given);
      }),
    );
  });
});

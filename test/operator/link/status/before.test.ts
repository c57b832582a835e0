import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { verdict } from '../../../../operator/kube/conditions.ts';
import { linkStatus, NO_FINDINGS } from '../../../../operator/link/status/status.ts';
import { readStatus } from '../../../../operator/link/status/before.ts';
import { mirrored } from '../../../../operator/mirror/status.ts';

const TIME = '2026-01-01T00:00:00Z';
const NOW = new Date('2026-01-02T00:00:00Z');
const READY = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: TIME,
};
const WEB = {
  remoteRef: { namespace: 'shop', name: 'web' },
  conditions: [{ status: 'True', lastTransitionTime: TIME }],
};

describe('a status that is read back (G1, L47)', () => {
  it('is as it was written', () => {
    const status = { observedGeneration: 3, conditions: [READY], mirrorServices: [WEB] };
    expect(readStatus(status)).toEqual(status);
  });

  it('has neither conditions nor mirrors where there are none', () => {
    for (const foreign of [undefined, null, 'x', 7, [], {}]) {
      expect(readStatus(foreign)).toEqual({
        observedGeneration: undefined,
        conditions: undefined,
        mirrorServices: undefined,
      });
    }
  });

  test.each<[string, object]>([
    ['of no type', { type: undefined }],
    ['of an unknown status', { status: 'Maybe' }],
    ['whose reason the API server would refuse', { reason: 'no reason' }],
    ['whose time the API server would refuse', { lastTransitionTime: 'yesterday' }],
    ['whose time does not exist', { lastTransitionTime: '2026-13-41T00:00:00Z' }],
  ])('has no condition %s', (_, over) => {
    expect(readStatus({ conditions: [{ ...READY, ...over }, READY] }).conditions).toEqual([READY]);
  });

  test.each<[string, unknown]>([
    ['without conditions', { ...WEB, conditions: undefined }],
    ['with an empty list of conditions', { ...WEB, conditions: [] }],
    ['with a condition without a time', { ...WEB, conditions: [{ status: 'True' }] }],
    ['without a Service', { ...WEB, remoteRef: undefined }],
    ['that is no object', 'web'],
  ])('has no entry %s', (_, entry) => {
    expect(readStatus({ mirrorServices: [entry, WEB] }).mirrorServices).toEqual([WEB]);
  });

  it('of any form leads to a status that can be written', () => {
    const any = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(READY, WEB, TIME, 'True'));
    const loose = (keys: readonly string[]): fc.Arbitrary<object> =>
      fc.record(Object.fromEntries(keys.map((key) => [key, any])), { requiredKeys: [] });
    const condition = fc.oneof(any, loose(Object.keys(READY)));
    const entry = fc.oneof(any, fc.record({ remoteRef: fc.oneof(any, loose(['namespace', 'name'])), conditions: any }));
    const status = fc.oneof(
      any,
      fc.record({ conditions: fc.oneof(any, fc.array(condition)), mirrorServices: fc.oneof(any, fc.array(entry)) }),
    );
    const findings = {
      ...NO_FINDINGS,
      namespace: 'linkerd-multicluster',
      name: 'west',
      generation: 1,
      accepted: verdict('True', 'Accepted', ''),
      isServed: true,
      mirrors: new Map([['shop/web', mirrored({ namespace: 'shop', name: 'web' }, 'west', '')]]),
    };
    fc.assert(
      fc.property(status, (foreign) => {
        const { conditions, mirrorServices } = linkStatus(findings, readStatus(foreign), NOW);
        expect(conditions.filter(({ type }) => type === 'Ready')).toHaveLength(1);
        expect(mirrorServices).toHaveLength(1);
      }),
      { numRuns: 500, seed: 1 },
    );
  });
});

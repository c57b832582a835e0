import { describe, expect, it } from 'vitest';
import { MAX_CONDITION_MESSAGE, setCondition, type Condition } from '../../../operator/kube/conditions.ts';

const noon = new Date('2026-01-01T12:00:00.123Z');
const later = new Date('2026-01-01T13:00:00.456Z');
const ready = (over: Partial<Condition> = {}) => ({
  type: 'Ready',
  status: 'True' as const,
  reason: 'Synced',
  message: 'all is well',
  observedGeneration: 1,
  ...over,
});

describe('setCondition', () => {
  it('adds a condition with the time, in whole seconds', () => {
    expect(setCondition([], ready(), noon)).toEqual([{ ...ready(), lastTransitionTime: '2026-01-01T12:00:00Z' }]);
  });

  it('keeps lastTransitionTime while only reason, message or generation change (G1)', () => {
    const before = setCondition([], ready(), noon);
    const after = setCondition(before, ready({ reason: 'Other', message: 'x', observedGeneration: 2 }), later);
    expect(after).toEqual([
      {
        ...ready({ reason: 'Other', message: 'x', observedGeneration: 2 }),
        lastTransitionTime: '2026-01-01T12:00:00Z',
      },
    ]);
  });

  it('moves lastTransitionTime when the status changes (G1)', () => {
    const after = setCondition(setCondition([], ready(), noon), ready({ status: 'Unknown' }), later);
    expect(after[0]?.lastTransitionTime).toBe('2026-01-01T13:00:00Z');
  });

  it('keeps the order of conditions, and one of each type', () => {
    const three = ['A', 'B', 'C'].reduce<readonly Condition[]>(
      (conditions, type) => setCondition(conditions, ready({ type }), noon),
      [],
    );
    const twice = [...three, three[1]!];
    expect(setCondition(twice, ready({ type: 'B', status: 'False' }), later).map(({ type }) => type)).toEqual([
      'A',
      'B',
      'C',
    ]);
  });

  it('does not change what it is given', () => {
    const before = Object.freeze(setCondition([], ready(), noon).map((condition) => Object.freeze(condition)));
    setCondition(before, ready({ status: 'False' }), later);
    expect(before[0]?.status).toBe('True');
  });

  it('cuts a long message', () => {
    const [condition] = setCondition([], ready({ message: 'x'.repeat(5000) }), noon);
    expect(condition?.message).toHaveLength(MAX_CONDITION_MESSAGE);
  });

  it.each(['', 'not camel', '1st', 'ends-with-dash', 'Dot.'])('refuses the reason "%s"', (reason) => {
    expect(() => setCondition([], ready({ reason }), noon)).toThrow('must be CamelCase');
  });
});

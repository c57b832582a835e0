import { describe, expect, it } from 'vitest';
import { importIds } from '../../../operator/mcs/ids.ts';

const party = (cluster: string, claimedId: string | null | undefined, createdAt = '2026-01-01T00:00:00Z') => ({
  cluster,
  claimedId,
  seniority: { createdAt, name: cluster },
});
const ids = (...given: Parameters<typeof importIds>) => {
  const { local, targets } = importIds(...given);
  return { local, ...Object.fromEntries(targets) };
};

describe('what the clusters of ServiceImports are called (K2)', () => {
  it('is what they claim, else the name in the Link, and local for the cluster itself', () => {
    expect(ids(null, [party('east', null), party('west', 'w')])).toEqual({ local: 'local', east: 'east', west: 'w' });
    expect(ids('here', [party('west', 'w')])).toEqual({ local: 'here', west: 'w' });
    expect(ids('Not.A.Label', [])).toEqual({ local: 'local' });
  });

  it('is not known while what they claim is not', () => {
    expect(ids(undefined, [party('east', undefined), party('west', 'w')])).toEqual({ local: undefined, west: 'w' });
  });

  it('of two that claim one id, that of the older Link, then of the first by name', () => {
    const older = party('west', 'x', '2025-01-01T00:00:00Z');
    expect(ids(null, [party('east', 'x'), older])).toEqual({ local: 'local', east: 'east', west: 'x' });
    expect(ids(null, [party('west', 'x'), party('east', 'x')])).toEqual({ local: 'local', east: 'x', west: 'west' });
  });

  it('is never that of the cluster itself, nor the name of another, with a session or without', () => {
    expect(ids('here', [party('east', 'here'), party('west', 'north')], ['north'])).toEqual({
      local: 'here',
      east: 'east',
      west: 'west',
    });
    expect(ids(null, [party('local', 'x'), party('west', null)], ['local'])).toEqual({ local: 'local', west: 'west' });
  });
});

import { describe, expect, it } from 'vitest';
import { unserved, unservedBy } from '../../../../synth/commands/common/lease.ts';

describe('a Link is served', () => {
  const NOW = Date.parse('2026-01-01T01:00:00Z');
  const lease = (renewTime: string, holderIdentity = 'linkspan-0') => ({
    metadata: { name: 'x' },
    spec: { holderIdentity, renewTime, leaseDurationSeconds: 30 },
  });
  it.each([
    ['its Lease is renewed', lease('2026-01-01T00:59:50.000000Z'), undefined],
    ['the clocks differ by less than a minute', lease('2026-01-01T00:58:40.000000Z'), undefined],
    ['the clock of the cluster is ahead by less than a minute', lease('2026-01-01T01:00:50.000000Z'), undefined],
  ])('if %s', (_, found, expected) => {
    expect(unserved(found, NOW)).toBe(expected);
  });
  it.each([
    ['there is no Lease', undefined],
    ['nobody holds it', lease('2026-01-01T00:59:50.000000Z', '')],
    ['it is not renewed', lease('2026-01-01T00:50:00.000000Z')],
    ['its time is garbage', lease('often')],
    ['its time is yet to come', lease('2026-01-01T02:00:00.000000Z')],
  ])('not if %s', (_, found) => {
    expect(unserved(found, NOW)).toContain('what it reports may be old');
    expect(unservedBy({ found }, NOW)).toMatchObject({ reason: 'NotServed' });
  });

  it('is not known if its Lease may not be read', () => {
    expect(unservedBy({ obstacle: 'east: forbidden' }, NOW)).toEqual({
      reason: 'NotKnown',
      message: 'whether an operator serves it is not known: east: forbidden',
    });
    expect(unservedBy({ found: lease('2026-01-01T00:59:50.000000Z') }, NOW)).toBeUndefined();
  });
});

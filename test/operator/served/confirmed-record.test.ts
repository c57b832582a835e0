import { describe, expect, it } from 'vitest';
import { Annotation } from '../../../crds/wire.ts';
import type { Lease } from '../../../operator/kube/objects.ts';
import { confirmedRecordOf, readConfirmedRecord } from '../../../operator/served/confirmed-record.ts';

const LINK = { uid: 'u1', confirmPrune: '3-0a1b2c3d', asked: 'this' };
const DIGESTS = new Set([0, 7, 0xff_ff_ff_ff]);
const RECORD = confirmedRecordOf(DIGESTS, LINK, 3)[Annotation.confirmed]!;

const lease = (text: string | undefined, leaseTransitions: number | undefined = 3): Lease => ({
  metadata: { name: 'a', annotations: text === undefined ? {} : { [Annotation.confirmed]: text } },
  spec: { leaseTransitions },
});

describe('what a Lease records of a loss that was confirmed (E6)', () => {
  it('is read back', () => {
    expect(readConfirmedRecord(lease(RECORD), LINK)).toEqual([...DIGESTS]);
  });

  it('is removed when nothing of it is left, or nothing is confirmed', () => {
    expect(confirmedRecordOf(new Set(), LINK, 3)).toEqual({ [Annotation.confirmed]: undefined });
    expect(confirmedRecordOf(DIGESTS, { uid: 'u1', asked: 'this' }, 3)).toEqual({ [Annotation.confirmed]: undefined });
  });

  it('is not written if it is too long for a Lease', () => {
    const many = new Set(Array.from({ length: 12_001 + 500 }, (_, at) => at));
    expect(confirmedRecordOf(many, LINK, 3)).toEqual({ [Annotation.confirmed]: undefined });
    const most = new Set(Array.from({ length: 12_000 }, (_, at) => at));
    expect(confirmedRecordOf(most, LINK, 3)[Annotation.confirmed]).toBeDefined();
  });

  it.each<readonly [string, Lease, Parameters<typeof readConfirmedRecord>[1]]>([
    ['of another Link', lease(RECORD), { ...LINK, uid: 'u2' }],
    ['of a Link that is not known by a uid', lease(RECORD.replace('u1', '')), { ...LINK, uid: '' }],
    ['of another confirmation', lease(RECORD), { ...LINK, confirmPrune: '4-0a1b2c3d' }],
    ['of one that was taken back', lease(RECORD), { uid: 'u1', asked: 'this' }],
    ['of a Link that asks for something else now (L295)', lease(RECORD), { ...LINK, asked: 'that' }],
    ['that does not say what the Link asked for', lease(RECORD.replace('asked', 'was')), LINK],
    ['that another has held since', lease(RECORD, 4), LINK],
    ['that has none', lease(undefined), LINK],
    ['that is no JSON', lease('{'), LINK],
    ['that is no object', lease('[]'), LINK],
    ['of digests that are no text', lease(JSON.stringify({ ...LINK, leaseTransitions: 3, digests: 3 })), LINK],
    ['that is too long', lease(`${RECORD}${' '.repeat(70_000)}`), LINK],
  ])('counts for nothing on a Lease %s', (_, object, link) => {
    expect(readConfirmedRecord(object, link)).toEqual([]);
  });

  it('counts as far as it is whole', () => {
    const digests = Buffer.from([0, 0, 0, 7, 1]).toString('base64');
    expect(readConfirmedRecord(lease(JSON.stringify({ ...LINK, leaseTransitions: 3, digests })), LINK)).toEqual([7]);
  });
});

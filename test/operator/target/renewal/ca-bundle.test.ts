import { describe, expect, it } from 'vitest';
import { rotatedCa } from '../../../../operator/target/renewal/ca-bundle.ts';
import { ANCHOR, EXPIRED_ANCHOR, OTHER_ANCHOR } from '../../../support/trust-anchors.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const count = (pem: string): number => pem.match(/BEGIN CERTIFICATE/g)?.length ?? 0;
const squeezed = (pem: string): string => pem.replaceAll(/\s/g, '');

describe('the CA of an API server (P3)', () => {
  it('stays to the letter while the target publishes the same', () => {
    expect(rotatedCa(ANCHOR, ANCHOR, NOW)).toBe(ANCHOR);
    expect(rotatedCa(`${ANCHOR}${OTHER_ANCHOR}`, ANCHOR, NOW)).toBe(`${ANCHOR}${OTHER_ANCHOR}`);
  });

  it('is old and new together once the target publishes another', () => {
    const both = rotatedCa(ANCHOR, OTHER_ANCHOR, NOW);
    expect(squeezed(both)).toBe(squeezed(ANCHOR + OTHER_ANCHOR));
    expect(rotatedCa(both, OTHER_ANCHOR, NOW)).toBe(both);
  });

  it('loses what has ended', () => {
    expect(squeezed(rotatedCa(`${EXPIRED_ANCHOR}${ANCHOR}`, ANCHOR, NOW))).toBe(squeezed(ANCHOR));
  });

  it('takes as many new ones as have ended (L116)', () => {
    const before = `${EXPIRED_ANCHOR}${ANCHOR}`;
    const rotated = rotatedCa(before, `${ANCHOR}${OTHER_ANCHOR}`, NOW);
    expect(squeezed(rotated)).toBe(squeezed(ANCHOR + OTHER_ANCHOR));
    expect(squeezed(rotatedCa(EXPIRED_ANCHOR, OTHER_ANCHOR, NOW))).toBe(squeezed(OTHER_ANCHOR));
  });

  it('stays as it is where all has ended, or the target publishes nothing of use', () => {
    expect(rotatedCa(EXPIRED_ANCHOR, EXPIRED_ANCHOR, NOW)).toBe(EXPIRED_ANCHOR);
    for (const published of ['', 'garbage', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])
      expect(rotatedCa(ANCHOR, published, NOW)).toBe(ANCHOR);
  });

  it('is not replaced by more than can be of use, whatever a target publishes', () => {
    expect(rotatedCa(ANCHOR, OTHER_ANCHOR.repeat(1_000), NOW)).toBe(ANCHOR);
    expect(count(rotatedCa(ANCHOR, OTHER_ANCHOR.repeat(20), NOW))).toBe(2);
  });
});

/** Bundles of trust anchors, compared as certificates. */
import { describe, expect, test } from 'vitest';
import { distrust, readBundle } from '../../../../synth/commands/check/trust.ts';
import { ANCHOR, EXPIRED_ANCHOR, OTHER_ANCHOR } from '../../../support/trust-anchors.ts';

const NOW = new Date('2026-11-22T00:00:00Z');

const between = (one: string, other: string): string | undefined => {
  const [a, b] = [readBundle(one), readBundle(other)];
  if (!a.ok || !b.ok) throw new Error('not a bundle');
  return distrust(a.anchors, b.anchors, NOW);
};

describe('clusters trust each other', () => {
  test.each([
    ['with the same anchor', ANCHOR, ANCHOR],
    ['with the same anchors in another order', ANCHOR + OTHER_ANCHOR, OTHER_ANCHOR + ANCHOR],
    ['whatever white space and text there is', ANCHOR, `# root\r\n\n${ANCHOR.replaceAll('\n', '\r\n')}\n\n`],
    ['with lines that are indented', ANCHOR, ANCHOR.replaceAll(/^/gm, '  ')],
    ['while anchors are rotated', ANCHOR, ANCHOR + OTHER_ANCHOR],
    ['with an anchor that has expired beside one that is valid', EXPIRED_ANCHOR + ANCHOR, ANCHOR + EXPIRED_ANCHOR],
  ])('%s', (_, one, other) => {
    expect(between(one, other)).toBeUndefined();
    expect(between(other, one)).toBeUndefined();
  });
});

describe('clusters do not trust each other', () => {
  test('without an anchor in common', () => {
    expect(between(ANCHOR, OTHER_ANCHOR)).toBe('have no trust anchor in common');
  });

  test('with none in common but one that has expired', () => {
    expect(between(EXPIRED_ANCHOR + ANCHOR, EXPIRED_ANCHOR + OTHER_ANCHOR)).toBe(
      'have only trust anchors in common that are not valid now, the last until Jan  1 00:00:00 2021 GMT',
    );
  });
});

test.each([
  ['', 'has no PEM certificate'],
  ['no certificate', 'has no PEM certificate'],
  ['-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----', 'has a certificate that is not valid X.509'],
  [`${ANCHOR}-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----`, 'has a certificate that is not valid X.509'],
])('refuses the bundle %j', (text, reason) => {
  expect(readBundle(text)).toEqual({ ok: false, reason });
});

import { expect, test } from 'vitest';
import { federationOf } from '../../../../synth/commands/link/federation.ts';

test.each([
  [{ gateway: true, flat: true }, undefined],
  [{ gateway: true, flat: false }, 'gateway'],
  [{ gateway: false, flat: false }, undefined],
  [{ federation: 'gateway', gateway: true, flat: true }, 'gateway'],
  [{ federation: 'flat', gateway: true, flat: true }, 'flat'],
] as const)('with %j, federated Services are reached by %s', (flags, expected) => {
  expect(federationOf(flags)).toBe(expected);
});

import { expect, test } from 'vitest';
import { type Family, sliceSuffix, withoutSuffix } from '../../crds/slice-names.ts';

const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

test.each(
  FAMILIES.flatMap((family) =>
    [0, 1, 11].flatMap((index) => ['', '0', '101'].map((bits) => [family, index, bits] as const)),
  ),
)('a name is told apart from what the slice of %s, subset %i and part %j adds to it', (family, index, bits) => {
  for (const name of ['web', 'web-ipv4', 'web-ipv6-2', 'web-b1'])
    expect(withoutSuffix(`${name}-${sliceSuffix(family, index, bits)}`)).toBe(name);
});

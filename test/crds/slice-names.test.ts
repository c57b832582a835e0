import { expect, test } from 'vitest';
import { clusterPartOf, type Family, sliceSuffix, withoutSuffix } from '../../crds/slice-names.ts';

const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

test.each(
  FAMILIES.flatMap((family) =>
    [0, 1, 11].flatMap((index) => ['', '0', '101'].map((bits) => [family, index, bits] as const)),
  ),
)('a name is told apart from what the slice of %s, subset %i and part %j adds to it', (family, index, bits) => {
  for (const name of ['web', 'web-ipv4', 'web-ipv6-2', 'web-b1'])
    expect(withoutSuffix(`${name}-${sliceSuffix(family, index, bits)}`)).toBe(name);
});

test('a slice of the second subset has a 2 in its name', () => {
  expect([sliceSuffix('IPv4', 0, ''), sliceSuffix('IPv6', 1, '01')]).toEqual(['ipv4', 'ipv6-2-b01']);
});

test('the slices of one cluster that lead from a Service have a part of their names in common', () => {
  expect(clusterPartOf('web-federated.west-ipv4')).toBe('web-federated.west');
  expect(clusterPartOf('web-federated.west-ipv6-2-b1')).toBe('web-federated.west');
  expect(clusterPartOf('web-federated.west.web-x7k2p')).toBe('web-federated.west');
});

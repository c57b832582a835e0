import { expect, test } from 'vitest';

import { isCidr, isIpAddress, isNetwork, isPartOf, networkOf } from '../../crds/network.ts';

test.each(['0.0.0.0/0', '198.51.100.0/24', '203.0.113.7/32', '::/0', '2001:db8::/32', '2001:db8::1/128'])(
  '%s is a network',
  (text) => {
    expect(isCidr(text)).toBe(true);
  },
);

test.each([
  '',
  '198.51.100.0',
  '198.51.100.0/',
  '198.51.100.0/33',
  '198.51.100/24',
  '::/129',
  '10.0.0.0/08',
  'all/0',
  '10.0.0.0/8/8',
  'fe80::1%eth0/64',
])('%s is none', (text) => {
  expect(isCidr(text)).toBe(false);
});

test('an IP address is of either family, and nothing but an address', () => {
  expect(['203.0.113.7', '2001:db8::7'].every(isIpAddress)).toBe(true);
  expect(['203.0.113', 'west.example', '203.0.113.7:80', 'fe80::1%eth0', ''].some(isIpAddress)).toBe(false);
});

test.each([
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['192.0.2.255/25', '192.0.2.128/25'],
  ['192.0.2.1/32', '192.0.2.1/32'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:db8::5/32', '2001:db8::/32'],
  ['2001:DB8:0:0::/33', '2001:db8::/33'],
  ['::/0', '::/0'],
  ['fd00::1:2:3/112', 'fd00::1:2:0/112'],
])('%s is in %s', (cidr, network) => {
  expect(networkOf(cidr)).toBe(network);
  expect(isNetwork(network)).toBe(true);
});

test('a network is one in any spelling, and an address in one is not', () => {
  expect(['2001:DB8:0::/32', '0:0::/0'].map(isNetwork)).toEqual([true, true]);
  expect(['10.1.2.3/8', '::1/0'].map(isNetwork)).toEqual([false, false]);
});

test.each([
  ['10.1.0.0/16', '10.0.0.0/8', true],
  ['2001:db8:1::/48', '2001:DB8::/32', true],
  ['203.0.113.7/32', '0.0.0.0/0', true],
  ['10.0.0.0/8', '10.0.0.0/8', false],
  ['10.0.0.0/7', '10.0.0.0/8', false],
  ['11.0.0.0/16', '10.0.0.0/8', false],
  ['::/8', '0.0.0.0/0', false],
  ['10.0.0.0/16', '::/0', false],
])('whether %s is a part of %s: %s', (part, whole, isPart) => {
  expect(isPartOf(part, whole)).toBe(isPart);
});

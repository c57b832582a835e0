import { expect, test } from 'vitest';

import { isCidr, isIpAddress } from '../../crds/network.ts';

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
])('%s is none', (text) => {
  expect(isCidr(text)).toBe(false);
});

test('an IP address is of either family, and nothing but an address', () => {
  expect(['203.0.113.7', '2001:db8::7'].every(isIpAddress)).toBe(true);
  expect(['203.0.113', 'west.example', '203.0.113.7:80', ''].some(isIpAddress)).toBe(false);
});

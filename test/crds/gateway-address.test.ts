import { describe, expect, it } from 'vitest';

import { addressProblem } from '../../crds/gateway-address.ts';

describe('a gateway address', () => {
  it.each([
    '192.0.2.1',
    '10.0.0.1',
    '2001:db8::1',
    'FD00::1',
    'gateway',
    'gw.example.com',
    'gw.example.com.',
    'GW.Example.com',
    'a1b2c3-0123.elb.us-east-1.amazonaws.com',
    '_gw.example.com',
    '1password.com',
    'a.1b',
  ])('may be %s', (address) => {
    expect(addressProblem(address)).toBeUndefined();
  });

  it.each(['0.0.0.0', '127.0.0.1', '127.1.2.3', '169.254.169.254', '224.0.0.1', '::', '::1', 'fe80::1', 'ff02::1'])(
    'may not be %s, which Kubernetes refuses in Endpoints',
    (address) => {
      expect(addressProblem(address)).toBe(
        'must not be a loopback, link-local or unspecified address: Endpoints cannot hold one',
      );
    },
  );

  it.each(['::ffff:203.0.113.1', '::FFFF:cb00:7101'])(
    'may not be %s, which is of no family to Endpoints',
    (address) => {
      expect(addressProblem(address)).toBe('must not be an IPv4 address in IPv6 form: write it as IPv4');
    },
  );

  it('may not have a zone', () => {
    expect(addressProblem('fe80::1%eth0')).toBe('must not have a zone: Endpoints cannot hold one');
  });

  it.each([
    '300.1.2.3',
    '1.2.3',
    '12',
    '192.0.2.1:4143',
    '[2001:db8::1]',
    'http://gw',
    'a..b',
    '-a',
    'a-',
    'a b',
    'gw/x',
    `${'a'.repeat(64)}.com`,
    'a.'.repeat(127) + 'a',
  ])('may not be %s, which is no address', (address) => {
    expect(addressProblem(address)).toBe('must be a valid IP address or host name');
  });
});

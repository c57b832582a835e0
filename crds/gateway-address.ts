/**
 * The addresses of a gateway as a Link has them: IPs and host names, comma separated.
 * An address that passes is one that Endpoints may hold, or a name that can be looked up.
 */
import { BlockList, isIP } from 'node:net';

import { SUBDOMAIN_MAX_LENGTH } from './names.ts';

/** Addresses that Kubernetes refuses in Endpoints and EndpointSlices. */
const REFUSED = new BlockList();
REFUSED.addAddress('0.0.0.0');
REFUSED.addSubnet('127.0.0.0', 8);
REFUSED.addSubnet('169.254.0.0', 16);
REFUSED.addSubnet('224.0.0.0', 24);
REFUSED.addAddress('::', 'ipv6');
REFUSED.addAddress('::1', 'ipv6');
REFUSED.addSubnet('fe80::', 10, 'ipv6');
REFUSED.addSubnet('ff02::', 16, 'ipv6');

/** An IPv4 address in IPv6 form, `::ffff:192.0.2.1`, which Endpoints take for neither family. */
const IPV4_MAPPED = new BlockList();
IPV4_MAPPED.addSubnet('::ffff:0:0', 96, 'ipv6');

const HOST_LABEL = '[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?';
/** The last label must not be a number: `300.1.2.3` is a mistyped IP. */
const HOST_NAME = new RegExp(`^(${HOST_LABEL}\\.)*(?!\\d+\\.?$)${HOST_LABEL}\\.?$`, 'i');

/** The addresses in a text, trimmed, each once, in order; empty ones are left out. */
export const splitAddresses = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(',')
      .map((address) => address.trim())
      .filter((address) => address !== ''),
  ),
];

/** The reason why `address` cannot be the address of a gateway; `undefined` if it can. */
export const addressProblem = (address: string): string | undefined => {
  const family = isIP(address);
  if (family === 0) {
    return address.length <= SUBDOMAIN_MAX_LENGTH && HOST_NAME.test(address)
      ? undefined
      : 'must be a valid IP address or host name';
  }
  if (address.includes('%')) return 'must not have a zone: Endpoints cannot hold one';
  if (family === 6 && IPV4_MAPPED.check(address, 'ipv6'))
    return 'must not be an IPv4 address in IPv6 form: write it as IPv4';
  return REFUSED.check(address, family === 4 ? 'ipv4' : 'ipv6')
    ? 'must not be a loopback, link-local or unspecified address: Endpoints cannot hold one'
    : undefined;
};

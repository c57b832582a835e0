/** IP addresses and networks as text, judged as Kubernetes judges them. */
import { isIP } from 'node:net';

/** An IPv4 or IPv6 address. One with a zone, as `fe80::1%eth0`, is none to Kubernetes. */
export const isIpAddress = (text: string): boolean => familyOf(text) !== 0;

/** `address/bits`, of either family. */
export const isCidr = (text: string): boolean => {
  const [, address = '', bits = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const most = { 0: -1, 4: 32, 6: 128 }[familyOf(address)] ?? -1;
  return bits !== '' && Number(bits) <= most;
};

/** The network that an address in CIDR notation is in: `10.0.0.0/8` of `10.1.2.3/8`. The text must be CIDR notation. */
export const networkOf = (cidr: string): string => {
  const [address = '', bits = ''] = cidr.split('/');
  const is4 = isIP(address) === 4;
  const [size, groups] = is4 ? [8, address.split('.').map(Number)] : [16, ipv6Groups(address)];
  const masked = groups.map((group, index) => {
    const host = Math.min(size, Math.max(0, (index + 1) * size - Number(bits)));
    return group - (group % 2 ** host);
  });
  const text = is4 ? masked.join('.') : canonical(masked.map((group) => group.toString(16)).join(':'));
  return `${text}/${bits}`;
};

/** Reports whether a network is written as such, without bits of a host. */
export const isNetwork = (cidr: string): boolean => {
  const [address = '', bits = ''] = cidr.split('/');
  return networkOf(cidr) === `${isIP(address) === 4 ? address : canonical(address)}/${bits}`;
};

/** Reports whether a network is a part of another, and not all of it. Both must be in CIDR notation. */
export const isPartOf = (part: string, whole: string): boolean => {
  const [address = '', bits] = part.split('/');
  const [, wholeBits = ''] = whole.split('/');
  return Number(bits) > Number(wholeBits) && networkOf(`${address}/${wholeBits}`) === networkOf(whole);
};

/** 4 or 6; 0 for what is no address. */
const familyOf = (text: string): number => (text.includes('%') ? 0 : isIP(text));

/** An IPv6 address as short as it can be. */
const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

const ipv6Groups = (address: string): readonly number[] => {
  const [head = '', tail] = canonical(address).split('::');
  const parse = (text = ''): number[] => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));
  const [first, last] = [parse(head), parse(tail)];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
};

/** IP addresses and networks as text, judged as Kubernetes judges them. */
import { isIP } from 'node:net';

/** An IPv4 or IPv6 address. */
export const isIpAddress = (text: string): boolean => isIP(text) !== 0;

/** `address/bits`, of either family. */
export const isCidr = (text: string): boolean => {
  const [, address = '', bits = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return bits !== '' && Number(bits) <= most;
};

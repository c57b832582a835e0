/** Ports of a ServiceImport, and ports and addresses of the Services that are derived from it. */
import { isIPv6 } from '../../common/prop-rules.ts';
import type { ImportPort } from './props.ts';

/** The part of a Service's spec that says which addresses it has: those given, or those that the API server chooses. */
export const addressSpec = (ips: readonly string[], ipFamilies: readonly ('IPv4' | 'IPv6')[] = []) => {
  const families = ips.length > 0 ? ips.map(familyOf) : ipFamilies;
  return {
    ...(ips.length > 0 && { clusterIP: ips[0], clusterIPs: ips }),
    ...(families.length > 0 && {
      ipFamilies: families,
      ipFamilyPolicy: families.length > 1 ? 'RequireDualStack' : 'SingleStack',
    }),
  };
};

const familyOf = (ip: string): 'IPv4' | 'IPv6' => (isIPv6(ip) ? 'IPv6' : 'IPv4');

/** Ports of the derived Service: as the ServiceImport has them, but each of several has a name, as Services need. */
export const importPorts = (ports: readonly ImportPort[]) => {
  const nameOf = derivedPortName(ports);
  return ports.map(({ name = '', protocol = 'TCP', port, appProtocol }) => ({
    name: nameOf(name) || undefined,
    protocol,
    port,
    appProtocol: appProtocol || undefined,
  }));
};

/** Returns the name in the derived Service of a port of that name; a port without one gets one if there are others. */
export const derivedPortName = (ports: readonly ImportPort[]): ((name: string) => string) => {
  const names = new Set(ports.map(({ name = '' }) => name));
  let unnamed = '';
  if (ports.length > 1) for (unnamed = 'unnamed'; names.has(unnamed); unnamed += '-0') continue;
  return (name) => (name === '' ? unnamed : name);
};

/** Ports of a ServiceImport, and those of its derived Service, which must all have names if there are several. */
import type { ImportPort } from './import-props.ts';

/** Ports of the derived Service: as the ServiceImport has them, but each of several has a name. */
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

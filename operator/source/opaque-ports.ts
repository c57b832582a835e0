/** The ports of a Service whose connections Linkerd does not look into. Pure. */
import { Annotation, Default } from '../../crds/wire.ts';
import type { Service, ServicePort } from '../kube/objects.ts';

/** Application protocols whose requests Linkerd's proxies read. */
const HTTP_PROTOCOLS: ReadonlySet<string> = new Set(['http', 'kubernetes.io/h2c']);
/** A list of more would be no list of ports. */
const MAX_LENGTH = 4_096;

/**
 * Reports whether Linkerd does not look into the connections to a port: by its application protocol if it has one,
 * whatever the Service lists; else by what the Service lists, or by Linkerd's default.
 */
export function isOpaque({ metadata: { annotations } }: Service, { port, name, appProtocol }: ServicePort): boolean {
  if (appProtocol !== undefined) return !HTTP_PROTOCOLS.has(appProtocol.toLowerCase());
  const listed = (annotations?.[Annotation.opaquePorts] ?? Default.opaquePorts).slice(0, MAX_LENGTH);
  return listed
    .split(',')
    .map((item) => item.trim())
    .some((item) => item === name || isWithin(port, item));
}

function isWithin(port: number, range: string): boolean {
  const { least, most = least } = /^(?<least>\d{1,5})(?:-(?<most>\d{1,5}))?$/.exec(range)?.groups ?? {};
  return least !== undefined && Number(least) <= port && port <= Number(most);
}

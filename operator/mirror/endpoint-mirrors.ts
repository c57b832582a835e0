/** The endpoint mirrors that a headless Service has in the source cluster, by the pods that they stand for. */
import type { EndpointPort } from '../../constructs/rendered/index.ts';
import { isDnsLabel } from '../../crds/names.ts';
import { Annotation, Label } from '../../crds/wire.ts';
import type { Service } from '../kube/objects.ts';
import type { OwnedObjects } from './observed.ts';
import { onceEach } from './owned-index.ts';

/** Returns the ports of each pod that has an endpoint mirror, by hostname. */
export const endpointMirrors = ({
  services,
}: Pick<OwnedObjects, 'services'>): ReadonlyMap<string, readonly EndpointPort[]> => portsByHostname(services);

/** Returns the endpoint mirrors of each pod, by hostname. It may have two while it gets another name. */
export const endpointMirrorsByPod = ({
  services,
}: Pick<OwnedObjects, 'services'>): ReadonlyMap<string, readonly Service[]> => servicesByHostname(services);

const servicesByHostname = onceEach((services: readonly Service[]) => {
  const found = new Map<string, Service[]>();
  for (const service of services) {
    const { hostname } = podOf(service);
    if (hostname === undefined) continue;
    const others = found.get(hostname);
    if (others === undefined) found.set(hostname, [service]);
    else others.push(service);
  }
  return found;
});

const portsByHostname = onceEach((services: readonly Service[]) => {
  const found = new Map<string, readonly EndpointPort[]>();
  for (const service of services) {
    const { hostname, ports } = podOf(service);
    if (hostname !== undefined) found.set(hostname, ports);
  }
  return found;
});

/** The pod that a Service stands for. */
interface Pod {
  /** Undefined if it stands for none. */
  readonly hostname: string | undefined;
  readonly ports: readonly EndpointPort[];
}

const known = new WeakMap<Service, Pod>();

/** Returns what is read once of each Service: with each event of a pod, all pods of its Service are looked at. */
function podOf(service: Service): Pod {
  const before = known.get(service);
  if (before !== undefined) return before;
  const hostname = hostnameOf(service);
  const pod = { hostname, ports: hostname === undefined ? [] : portsOfPod(service) };
  known.set(service, pod);
  return pod;
}

/**
 * Returns the hostname of the pod that a Service stands for; undefined if it stands for none. The mirror's own name may
 * be another than the hostname says (rule A7), but proxies reach the pod by it.
 */
export function hostnameOf({ metadata: { labels, annotations } }: Service): string | undefined {
  if (labels?.[Label.headlessMirrorSvcName] === undefined) return undefined;
  const [hostname = ''] = annotations?.[Annotation.remoteSvcFqName]?.split('.') ?? [];
  return isDnsLabel(hostname) ? hostname : undefined;
}

/** Returns the key of the headless mirror that an endpoint mirror belongs to; undefined for any other Service. */
export function headlessMirrorOf(service: Service | undefined): string | undefined {
  const { labels, namespace = '' } = service?.metadata ?? {};
  const name = labels?.[Label.headlessMirrorSvcName];
  return name === undefined ? undefined : `${namespace}/${name}`;
}

/** Returns the ports of a Service that stands for a pod: those that the pod listens on. */
export const portsOfPod = ({ spec }: Service): readonly EndpointPort[] =>
  (spec?.ports ?? []).map(({ name, port, protocol, appProtocol }) => {
    const ofPod = { name, port, protocol, appProtocol };
    return ofPod as EndpointPort;
  });

/**
 * What mirrors need of a target Service's EndpointSlices: whether anything is ready, the hostnames, and the ports that
 * each listens on. Slices come from the target and are not trusted: an endpoint without a hostname, with an empty one,
 * or without ports is ordinary, and does not affect the others.
 */
import type { EndpointPort, HeadlessMirrorSubset } from '../../constructs/rendered/index.ts';
import { isDnsLabel } from '../../crds/names.ts';
import type { EndpointSlice, Service } from '../kube/objects.ts';

/** One named pod behind a headless Service. */
export interface TargetHost {
  readonly hostname: string;
  /** Whether it is ready, or published although it is not. */
  readonly listed: boolean;
  readonly ports: readonly EndpointPort[];
}

/** Hostnames that listen on the same ports. */
export interface TargetSubset {
  readonly hostnames: readonly string[];
  readonly ports: readonly EndpointPort[];
}

export interface TargetEndpoints {
  /** Whether there is any endpoint, ready or not. */
  readonly any: boolean;
  readonly anyReady: boolean;
  /** By hostname. */
  readonly hosts: ReadonlyMap<string, TargetHost>;
  /** The hosts that are listed, by ports. */
  readonly subsets: readonly TargetSubset[];
}

/** What was last read of a Service. */
interface Known {
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: TargetEndpoints;
}

const known = new WeakMap<Service, Known>();

/** Reads the slices of one Service; the same slices once, since a Service may have thousands of pods (rule E10). */
export function readSlices(service: Service, slices: readonly EndpointSlice[]): TargetEndpoints {
  const before = known.get(service);
  if (before?.slices.length === slices.length && slices.every((slice, at) => slice === before.slices[at])) {
    return before.endpoints;
  }
  const endpoints = readAnew(service, slices);
  known.set(service, { slices, endpoints });
  return endpoints;
}

function readAnew(service: Service, slices: readonly EndpointSlice[]): TargetEndpoints {
  const publishAll = service.spec?.publishNotReadyAddresses === true;
  const hosts = new Map<string, TargetHost>();
  const subsets = new Map<string, { hostnames: Set<string>; ports: readonly EndpointPort[] }>();
  let any = false;
  let anyReady = false;
  for (const { isReady, hostname, ports, portsKey } of listings(service, slices)) {
    const isListed = publishAll || isReady;
    any = true;
    anyReady ||= isListed;
    if (hostname === undefined) continue;
    const known = hosts.get(hostname);
    const merged = known === undefined ? ports : mergePorts(known.ports, ports);
    hosts.set(hostname, { hostname, listed: isListed || known?.listed === true, ports: merged });
    if (!isListed) continue;
    const own = known === undefined ? ports : ports.filter((port) => isAmong(merged, port));
    // Another slice tells all of them.
    if (own.length === 0 && ports.length > 0) continue;
    const key = own.length === ports.length ? portsKey : JSON.stringify(own);
    const subset = subsets.get(key) ?? { hostnames: new Set<string>(), ports: own };
    subset.hostnames.add(hostname);
    subsets.set(key, subset);
  }
  return {
    any,
    anyReady,
    hosts,
    subsets: [...subsets.values()].map(({ hostnames, ports }) => ({ hostnames: [...hostnames], ports })),
  };
}

/** One endpoint as a slice lists it. */
interface Listing {
  readonly isReady: boolean;
  /** Undefined also if it is none that a pod can have. */
  readonly hostname: string | undefined;
  readonly ports: readonly EndpointPort[];
  readonly portsKey: string;
}

/** Returns what slices list, those first that count where two tell different ports of one pod: {@link newestFirst}. */
function listings(service: Service, slices: readonly EndpointSlice[]): readonly Listing[] {
  // Addresses that are host names are not routed to.
  const all = newestFirst(slices)
    .filter(({ addressType }) => addressType !== 'FQDN')
    .flatMap((slice) => listingsOf(service, slice));
  return [...all.filter(({ isReady }) => isReady), ...all.filter(({ isReady }) => !isReady)];
}

/** What was last read of a slice. */
const listed = new WeakMap<EndpointSlice, { readonly service: Service; readonly listings: readonly Listing[] }>();

/** Returns what one slice lists; read once, since an event of one pod changes one slice of many. */
function listingsOf(service: Service, slice: EndpointSlice): readonly Listing[] {
  const before = listed.get(slice);
  if (before?.service === service) return before.listings;
  const ports = endpointPorts(slice, service);
  const portsKey = JSON.stringify(ports);
  const listings = (slice.endpoints ?? []).map(({ conditions, hostname }): Listing => {
    const isOfPod = hostname !== undefined && isDnsLabel(hostname);
    // The API defines an absent `ready` as ready.
    return { isReady: conditions?.ready ?? true, hostname: isOfPod ? hostname : undefined, ports, portsKey };
  });
  listed.set(slice, { service, listings });
  return listings;
}

/**
 * Returns the slices in the order in which they count. While a port changes its number, Kubernetes lists a pod in two
 * slices for a while: what the one says counts in which the pod is ready, then what the newer one says.
 */
export const newestFirst = (slices: readonly EndpointSlice[]): readonly EndpointSlice[] =>
  slices.length < 2
    ? slices
    : slices.toSorted(({ metadata: a }, { metadata: b }) =>
        a.creationTimestamp === b.creationTimestamp
          ? compare(a.name, b.name)
          : compare(b.creationTimestamp ?? '', a.creationTimestamp ?? ''),
      );

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the endpoints with pods that are gone and keep their endpoint mirrors, as pods that are only not ready.
 * @param departed hostnames
 * @param mirrored ports of the pods that have an endpoint mirror, by hostname
 */
export function withDeparted(
  endpoints: TargetEndpoints,
  departed: Iterable<string>,
  mirrored: ReadonlyMap<string, readonly EndpointPort[]>,
): TargetEndpoints {
  const hosts = new Map(endpoints.hosts);
  for (const hostname of departed) {
    const ports = mirrored.get(hostname);
    if (ports !== undefined && !hosts.has(hostname)) hosts.set(hostname, { hostname, listed: false, ports });
  }
  return { ...endpoints, hosts };
}

/**
 * Returns the headless mirror's subsets: each listed hostname with its endpoint mirror's ClusterIP, if it has one yet.
 */
export function mirrorSubsets(
  subsets: readonly TargetSubset[],
  clusterIPs: ReadonlyMap<string, string>,
): readonly HeadlessMirrorSubset[] {
  return subsets.map(({ hostnames, ports }) => ({
    ports,
    addresses: hostnames.flatMap((hostname) => {
      const ip = clusterIPs.get(hostname);
      return ip === undefined ? [] : [{ hostname, ip }];
    }),
  }));
}

/** Returns the ports of a slice. A slice without ports stands for all ports, so the Service's are used. */
export function endpointPorts(slice: EndpointSlice, service: Service): readonly EndpointPort[] {
  const given = (slice.ports ?? []).filter(({ port }) => typeof port === 'number');
  if (given.length > 0) return sortPorts(given as EndpointPort[]);
  return sortPorts(
    (service.spec?.ports ?? []).map(({ targetPort, port, ...rest }) => ({
      ...(rest as Omit<EndpointPort, 'port'>),
      port: typeof targetPort === 'number' ? targetPort : port,
    })),
  );
}

/** Returns the ports of both; of two of one name and protocol, the first. */
export const mergePorts = (a: readonly EndpointPort[], b: readonly EndpointPort[]): readonly EndpointPort[] =>
  sortPorts([...a, ...b.filter((port) => !a.some((other) => nameOf(other) === nameOf(port)))]);

const nameOf = ({ name, protocol }: EndpointPort): string => `${name ?? ''}/${protocol ?? 'TCP'}`;

const isAmong = (ports: readonly EndpointPort[], of: EndpointPort): boolean =>
  ports.some((port) => nameOf(port) === nameOf(of) && port.port === of.port);

const sortPorts = (ports: readonly EndpointPort[]): readonly EndpointPort[] =>
  ports
    .map(({ name, port, protocol, appProtocol }) => ({ name, port, protocol, appProtocol }))
    .sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : (a.name ?? '') > (b.name ?? '') ? 1 : a.port - b.port));

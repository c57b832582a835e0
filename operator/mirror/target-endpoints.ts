/**
 * What mirrors need of a target Service's EndpointSlices: whether anything is ready, the hostnames, and the ports that
 * each listens on. Slices come from the target and are not trusted: an endpoint without a hostname, with an empty one,
 * or without ports is ordinary, and does not affect the others.
 */
import type { EndpointPort, HeadlessMirrorSubset } from '../../constructs/rendered/index.ts';
import { isDnsLabel } from '../../crds/names.ts';
import type { EndpointSlice, Service, SliceEndpoint } from '../kube/objects.ts';
import { ByHostname } from './by-hostname.ts';
import { changesOf } from '../runtime/changes.ts';

/** One named pod behind a headless Service. */
export interface TargetHost {
  readonly hostname: string;
  /** Whether it is ready, or published although it is not. */
  readonly listed: boolean;
  readonly ports: readonly EndpointPort[];
  /** The ports that it is listed with: of each slice that lists it, those that count. */
  readonly listedOn: readonly (readonly EndpointPort[])[];
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
  readonly hosts: ByHostname<TargetHost>;
}

/** What was last read of a Service. */
interface Known {
  readonly slices: readonly EndpointSlice[];
  /** Where each pod is listed, in the order that counts. */
  readonly listings: Map<string, readonly Listing[]>;
  readonly endpoints: TargetEndpoints;
}

const known = new WeakMap<Service, Known>();

/** Reads the slices of one Service. Of those that were read before, only the ones that have changed are (rule E10). */
export function readSlices(service: Service, slices: readonly EndpointSlice[]): TargetEndpoints {
  const before = known.get(service);
  if (before?.slices.length === slices.length && slices.every((slice, at) => slice === before.slices[at])) {
    return before.endpoints;
  }
  const listings = before?.listings ?? new Map<string, readonly Listing[]>();
  const changed = relisted(service, listings, before?.slices ?? [], slices);
  const publishAll = service.spec?.publishNotReadyAddresses === true;
  const hosts = before?.endpoints.hosts ?? ByHostname.none<TargetHost>();
  const read = slices.map((slice) => listingsOf(service, slice));
  const endpoints = {
    any: read.some(({ any }) => any),
    anyReady: read.some(({ any, anyReady }) => anyReady || (publishAll && any)),
    hosts: hosts.with(
      [...changed]
        .map((hostname) => [hostname, hostOf(hostname, listings.get(hostname) ?? [], publishAll)] as const)
        .filter(([hostname, host]) => !isSameHost(hosts.get(hostname), host)),
    ),
  };
  known.set(service, { slices, listings, endpoints });
  return endpoints;
}

/** Brings up to date where pods are listed. Returns the hostnames that slices list which have come, or gone. */
function relisted(
  service: Service,
  listings: Map<string, readonly Listing[]>,
  before: readonly EndpointSlice[],
  slices: readonly EndpointSlice[],
): ReadonlySet<string> {
  const { gone, come } = changesOf(before, slices);
  const changed = new Set<string>();
  for (const slice of gone) {
    for (const { hostname } of listingsOf(service, slice).pods) {
      changed.add(hostname);
      const others = (listings.get(hostname) ?? []).filter((each) => each.slice !== slice);
      if (others.length === 0) listings.delete(hostname);
      else listings.set(hostname, others);
    }
  }
  for (const slice of come) {
    for (const listing of listingsOf(service, slice).pods) {
      changed.add(listing.hostname);
      listings.set(listing.hostname, [...(listings.get(listing.hostname) ?? []), listing].sort(byCount));
    }
  }
  return changed;
}

/** Returns what the listings of one pod come to; undefined if it is not listed. */
function hostOf(hostname: string, listings: readonly Listing[], publishAll: boolean): TargetHost | undefined {
  const [first] = listings;
  if (first === undefined) return undefined;
  let { ports } = first;
  let listed = false;
  const listedOn = new Map<string, readonly EndpointPort[]>();
  for (const listing of listings) {
    const merged = listing === first ? ports : mergePorts(ports, listing.ports);
    const own = listing === first ? ports : listing.ports.filter((port) => isAmong(merged, port));
    ports = merged;
    if (!publishAll && !listing.isReady) continue;
    listed = true;
    // Another slice tells all of them.
    if (own.length === 0 && listing.ports.length > 0) continue;
    const key = own.length === listing.ports.length ? listing.portsKey : JSON.stringify(own);
    if (!listedOn.has(key)) listedOn.set(key, own);
  }
  return { hostname, listed, ports, listedOn: [...listedOn.values()] };
}

const isSameHost = (a: TargetHost | undefined, b: TargetHost | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b));

/** Returns the pods that are listed, by the ports that they are listed with. */
export function subsetsOf(hosts: Iterable<TargetHost>): readonly TargetSubset[] {
  const subsets = new Map<string, { hostnames: string[]; ports: readonly EndpointPort[] }>();
  for (const { hostname, listedOn } of hosts) {
    for (const ports of listedOn) {
      const key = keyOfPorts(ports);
      const subset = subsets.get(key) ?? { hostnames: [], ports };
      subset.hostnames.push(hostname);
      subsets.set(key, subset);
    }
  }
  return [...subsets.values()];
}

const portKeys = new WeakMap<readonly EndpointPort[], string>();

/** Returns a text that is the same for ports of one value. */
export function keyOfPorts(ports: readonly EndpointPort[]): string {
  const key = portKeys.get(ports) ?? JSON.stringify(ports);
  portKeys.set(ports, key);
  return key;
}

/** One pod as a slice lists it. */
interface Listing {
  readonly slice: EndpointSlice;
  readonly isReady: boolean;
  readonly hostname: string;
  readonly ports: readonly EndpointPort[];
  readonly portsKey: string;
}

/** What one slice lists. */
interface ListedBySlice {
  /** Whether it lists any endpoint, be it one that no pod can have. */
  readonly any: boolean;
  readonly anyReady: boolean;
  /** Those with a hostname that a pod can have. */
  readonly pods: readonly Listing[];
}

/** Addresses that are host names are not routed to. */
const NOBODY: ListedBySlice = { any: false, anyReady: false, pods: [] };

/** What was last read of a slice. */
const listed = new WeakMap<EndpointSlice, { readonly service: Service; readonly by: ListedBySlice }>();

/** Returns what one slice lists; read once, since an event of one pod changes one slice of many. */
function listingsOf(service: Service, slice: EndpointSlice): ListedBySlice {
  if (slice.addressType === 'FQDN') return NOBODY;
  const before = listed.get(slice);
  if (before?.service === service) return before.by;
  const ports = endpointPorts(slice, service);
  const portsKey = keyOfPorts(ports);
  const endpoints = slice.endpoints ?? [];
  // The API defines an absent `ready` as ready.
  const isReady = ({ conditions }: SliceEndpoint): boolean => conditions?.ready ?? true;
  const by = {
    any: endpoints.length > 0,
    anyReady: endpoints.some(isReady),
    pods: endpoints.flatMap((endpoint): readonly Listing[] => {
      const { hostname } = endpoint;
      if (hostname === undefined || !isDnsLabel(hostname)) return [];
      return [{ slice, isReady: isReady(endpoint), hostname, ports, portsKey }];
    }),
  };
  listed.set(slice, { service, by });
  return by;
}

/**
 * Orders what slices list of one pod as it counts. While a port changes its number, Kubernetes lists a pod in two
 * slices for a while: what the one says counts in which the pod is ready, then what the newer one says:
 * {@link newestFirst}.
 */
const byCount = (a: Listing, b: Listing): number =>
  a.isReady === b.isReady ? byAge(a.slice, b.slice) : a.isReady ? -1 : 1;

/** Returns the slices in the order in which they count, as far as the pods are ready in all of them. */
export const newestFirst = (slices: readonly EndpointSlice[]): readonly EndpointSlice[] =>
  slices.length < 2 ? slices : slices.toSorted(byAge);

const byAge = ({ metadata: a }: EndpointSlice, { metadata: b }: EndpointSlice): number =>
  a.creationTimestamp === b.creationTimestamp
    ? compare(a.name, b.name)
    : compare(b.creationTimestamp ?? '', a.creationTimestamp ?? '');

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
  const { hosts } = endpoints;
  const kept = [...departed].flatMap((hostname): readonly (readonly [string, TargetHost])[] => {
    const ports = hosts.has(hostname) ? undefined : mirrored.get(hostname);
    return ports === undefined ? [] : [[hostname, { hostname, listed: false, ports, listedOn: [] }]];
  });
  return { ...endpoints, hosts: hosts.with(kept) };
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

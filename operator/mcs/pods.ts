/**
 * Reads the pods of a target's headless Service that is reached through a gateway, and chooses which pods get a Service
 * of their own in the source cluster (rule K3). Slices come from the target and are not trusted. Left out are endpoints
 * with an invalid hostname, endpoints that have neither a hostname nor a valid address, and invalid ports. Pure.
 */
import { isIP } from 'node:net';
import { type ImportedPod, podHostname } from '../../constructs/rendered/index.ts';
import { podServiceName } from '../../crds/mcs/derived-name.ts';
import { isDnsLabel } from '../../crds/names.ts';
import { flagOf } from '../../crds/operator-setting-names.ts';
import { Annotation, Label } from '../../crds/wire.ts';
import type { EndpointSlice, Service } from '../kube/objects.ts';
import { portsOfPod } from '../mirror/endpoint-mirrors.ts';
import { endpointPorts, mergePorts, newestFirst } from '../mirror/target-endpoints.ts';
import { isOfPod, podServicesOf, slicesOf, type Standing } from './membership.ts';
import type { ObservedImport, TargetExporter } from './observed.ts';

/** The imported pods of one cluster. */
export interface ImportedPods {
  /**
   * The pods, each with the ClusterIPs of the Service that stands for the pod. A pod has no ClusterIPs here until its
   * Service has some.
   */
  readonly pods: readonly ImportedPod[];
  /** Why some pods are not imported, for the status; empty if all pods are imported. */
  readonly notes: readonly string[];
  /** Whether a foreign Service has the name that the Service of a pod needs. */
  readonly isBlocked: boolean;
}

/**
 * Chooses the pods of a target that are imported. Those that already have a Service come first, and all of them are
 * imported. The others follow in the order of their hostnames, as far as the limit allows. A pod is left out if a
 * foreign Service has the name that the Service of the pod needs. A pod that is gone but still keeps its Service counts
 * as not ready.
 */
export function importedPods(observed: ObservedImport, target: TargetExporter, service: Service): ImportedPods {
  const { name, namespace, isForeign, maxPods } = observed;
  const { cluster } = target.link;
  const standing = new Map(podServicesOf(observed, target).map((each) => [each.metadata.name, each]));
  const all = [...readPods(service, target.slices ?? []), ...departedPods(observed, target)].map((pod) => {
    const serviceName = podServiceName(name, cluster, podHostname(pod));
    return { pod, serviceName, standing: standing.get(serviceName) };
  });
  const isTaken = (each: (typeof all)[number]): boolean => each.standing === undefined && isForeign(each.serviceName);
  const foreign = all.filter(isTaken);
  const free = all.filter((each) => !isTaken(each));
  const kept = free.filter((each) => each.standing !== undefined);
  const others = free.filter((each) => each.standing === undefined);
  const admitted = [...kept, ...others.slice(0, Math.max(0, maxPods - kept.length))];
  return {
    pods: admitted.map((each) => ({ ...each.pod, ips: addressesOf(each.standing) })),
    notes: [
      ...foreign
        .slice(0, 1)
        .map(
          ({ pod, serviceName }) =>
            `pod ${podHostname(pod)} of ${cluster} is left out${foreign.length > 1 ? `, like ${foreign.length - 1} more` : ''}: Service ${namespace}/${serviceName} exists and is not derived from this ServiceImport; rename or delete it`,
        ),
      ...(free.length > admitted.length
        ? [`${admitted.length} of ${free.length} pods of ${cluster} are imported (${flagOf('maxEndpointMirrors')})`]
        : []),
    ],
    isBlocked: foreign.length > 0,
  };
}

/** Returns the pods that are gone but still keep their Services, with the ports of those Services. */
const departedPods = (observed: ObservedImport, target: TargetExporter): readonly ImportedPod[] =>
  podServicesOf(observed, target).flatMap((service) => {
    const hostname = service.metadata.labels?.[Label.importedPod] ?? '';
    return target.departed.has(hostname) ? [{ hostname, ports: portsOfPod(service), ready: false }] : [];
  });

/**
 * Returns the hostnames of the pods that are gone but might come back, so that their Services are kept for a while.
 * A pod counts only if requests address it by its hostname ({@link ownHostname}), and if it still has slices in the
 * source cluster. A pod without a hostname of its own does not come back, because its successor has another address.
 * The list is empty if the target does not export a headless Service of this name. Undefined while it is not known
 * which pods are gone.
 */
export function gonePods(standing: Standing, target: Omit<TargetExporter, 'departed'>): readonly string[] | undefined {
  const { isKnown, service, slices } = target;
  if (!isKnown || slices === undefined) return undefined;
  if (service?.spec?.clusterIP !== 'None') return [];
  const listed = new Set(readPods(service, slices).map(podHostname));
  const named = slicesOf(standing, target)
    .filter(isOfPod)
    .flatMap((slice) => ownHostname(slice, standing.name));
  return [...new Set(named)].filter((hostname) => !listed.has(hostname));
}

/**
 * Returns a list with the hostname of the pod that a slice leads to. The list is empty if requests do not address that
 * pod by its hostname.
 * @param service name of the headless Service that the pod belongs to
 */
const ownHostname = ({ metadata: { labels, annotations } }: EndpointSlice, service: string): readonly string[] => {
  const hostname = labels?.[Label.importedPod] ?? '';
  const isAskedFor = annotations?.[Annotation.remoteSvcFqName]?.startsWith(`${hostname}.${service}.`) === true;
  return isAskedFor ? [hostname] : [];
};

/**
 * Returns the ClusterIPs of a Service. The list is empty if the Service is headless or missing, or has no ClusterIP
 * yet.
 */
const addressesOf = (service: Service | undefined): readonly string[] => {
  const { clusterIP = '', clusterIPs = [clusterIP] } = service?.spec ?? {};
  return clusterIPs.filter((ip) => ip !== '' && ip !== 'None');
};

/**
 * Returns the pods in the slices of a headless Service, each once, sorted by hostname. A pod without a hostname is
 * named after its address in the Service's first IP family. Slices of address type FQDN are left out.
 */
export function readPods(service: Service, slices: readonly EndpointSlice[]): readonly ImportedPod[] {
  const { publishNotReadyAddresses, ipFamilies = [] } = service.spec ?? {};
  const [family] = ipFamilies;
  const named = new Map<string, ImportedPod>();
  const unnamed = new Map<string, ImportedPod>();
  for (const slice of newestFirst(slices)) {
    if (slice.addressType === 'FQDN') continue;
    const ports = endpointPorts(slice, service).filter(({ port }) => isPortNumber(port));
    for (const { hostname, addresses, conditions } of slice.endpoints ?? []) {
      // The API defines an absent `ready` as ready.
      const ready = publishNotReadyAddresses === true || (conditions?.ready ?? true);
      const [address] = addresses;
      if (hostname !== undefined && hostname !== '') add(named, { hostname, ports, ready });
      else if (address !== undefined && isIP(address) !== 0 && slice.addressType === (family ?? slice.addressType))
        add(unnamed, { address, ports: reachable(ports, service), ready });
    }
  }
  return [...new Map([...unnamed, ...named])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pod]) => pod);
}

function add(pods: Map<string, ImportedPod>, pod: ImportedPod): void {
  const hostname = podHostname(pod);
  if (!isDnsLabel(hostname)) return;
  const known = pods.get(hostname);
  if (known === undefined) {
    pods.set(hostname, pod);
    return;
  }
  const [first, second] = pod.ready === true && known.ready !== true ? [pod, known] : [known, pod];
  const ready = known.ready === true || pod.ready === true;
  pods.set(hostname, { ...pod, ready, ports: mergePorts(first.ports, second.ports) });
}

const isPortNumber = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;

/**
 * Returns the ports at which a pod without a hostname can be reached. A request to such a pod names only the Service
 * and a port number. Linkerd uses the Service's port with that number if there is one, and the pod's port with that
 * number otherwise. A port of the pod is therefore left out if the Service has a differently named port with the same
 * number and protocol.
 */
const reachable = (ports: ImportedPod['ports'], { spec }: Service): ImportedPod['ports'] =>
  ports.filter(({ name = '', port, protocol = 'TCP' }) =>
    (spec?.ports ?? []).every(
      (each) => each.port !== port || (each.protocol ?? 'TCP') !== protocol || (each.name ?? '') === name,
    ),
  );

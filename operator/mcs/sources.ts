/**
 * The endpoints of each cluster in a ServiceImport. The construct renders the objects of a cluster, unless something
 * that these objects are made from is not known ({@link isRetained}). In that case, the existing objects of the cluster
 * stay, with these changes:
 * - Slices that do not fit the present type and mode of the ServiceImport are left out ({@link isOfShape}). Services
 *   that stand for pods are left out unless the ServiceImport is headless.
 * - If the export is known, ports that are no longer imported are removed from slices ({@link withPorts}), except from
 *   slices of Services that stand for pods.
 * - Slices that lead to a gateway get the present state of that gateway ({@link refreshedSlices}).
 *
 * Pure.
 */
import {
  derivedPortName,
  type ImportedCluster,
  type ImportPort,
  type ImportType,
  type MirrorMode,
  sharedPorts,
} from '../../constructs/rendered/index.ts';
import { derivedName, importSlicePrefix } from '../../crds/mcs/derived-name.ts';
import { withoutSuffix } from '../../crds/slice-names.ts';
import { Label } from '../../crds/wire.ts';
import { asCopied, gatewayEndpointsOf, isOfAddresses, refreshedSlices } from '../federation/member-slices.ts';
import type { EndpointSlice, KubeObject, Service } from '../kube/objects.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { ExportedService } from './exports.ts';
import { isOfPod, podServicesOf, slicesOf } from './membership.ts';
import { type Exporter, type ObservedImport, type TargetExporter, targetOf } from './observed.ts';
import { type ImportedPods, importedPods } from './pods.ts';

/**
 * A cluster that is part of a ServiceImport. `exported` is undefined while it is not known what the cluster exports.
 */
export interface Source {
  readonly exporter: Exporter;
  /** Id of the cluster. */
  readonly id: string;
  readonly exported: ExportedService | undefined;
}

/** How clients reach a ServiceImport. */
export interface Shape {
  readonly type: ImportType;
  readonly mode: MirrorMode;
  /** Ports of the ServiceImport. */
  readonly ports: readonly ImportPort[];
}

/**
 * A cluster in the form that the construct takes, with the existing objects of the cluster that stay, and with notes
 * for the status.
 */
export interface SourceCluster extends Omit<ImportedPods, 'pods'> {
  readonly cluster: ImportedCluster;
  /** Existing objects of the cluster that the construct does not render, and that stay. */
  readonly retained: { readonly services: readonly Service[]; readonly slices: readonly KubeObject[] };
}

const NOTHING: SourceCluster['retained'] = { services: [], slices: [] };

/**
 * Returns a cluster in the form that the construct takes, with those of its existing objects that stay, and with notes
 * for the status. If the cluster has no endpoints, the construct renders no slices for it.
 */
export function sourceCluster(observed: ObservedImport, source: Source, shape: Shape): SourceCluster {
  const target = targetOf(source.exporter);
  const cluster: ImportedCluster = {
    id: source.id,
    targetCluster: target?.link.cluster,
    targetClusterDomain: target?.link.clusterDomain,
    ports: source.exported?.ports,
  };
  const complete = (more: Partial<ImportedCluster>, notes: readonly string[] = []): SourceCluster => ({
    cluster: { ...cluster, ...more },
    retained: NOTHING,
    notes,
    isBlocked: false,
  });
  if (isRetained(observed, source, shape)) {
    const notes = lacksAddress(observed, target, shape) ? [unreachable(target)] : undiscoverable(target, shape);
    return { ...complete({}, notes), retained: retainedOf(observed, source, shape) };
  }
  if (target === undefined || shape.mode === 'remote-discovery')
    return complete({ slices: copies(observed, source, shape) }, undiscoverable(target, shape));
  if (shape.type !== 'Headless') {
    const endpoints = sharedGateway(observed, target);
    return complete({ endpoints }, endpoints === undefined ? [unreachable(target)] : []);
  }
  if (target.gateway === undefined || target.service === undefined) return complete({}, [unreachable(target)]);
  const { pods, ...left } = importedPods(observed, target, target.service);
  return { ...left, retained: NOTHING, cluster: { ...cluster, pods, endpoints: podGateway(observed, target) } };
}

/**
 * Reports whether requests go to a target through its gateway, but neither the gateway nor the slices that lead to it
 * have an address. False if the target has no known gateway.
 */
function lacksAddress(
  observed: ObservedImport,
  target: TargetExporter | undefined,
  { mode, type }: Shape,
): target is TargetExporter {
  if (mode !== 'gateway' || target?.gateway?.addresses.length !== 0) return false;
  return (type === 'Headless' ? podGateway : sharedGateway)(observed, target) === undefined;
}

/** Returns a note that says why no request reaches a cluster in gateway mode. */
const unreachable = ({ link, gateway }: TargetExporter): string =>
  gateway === undefined
    ? `nothing leads to ${link.cluster}: its Link has no gatewayAddress; set spec.gatewayAddress`
    : `nothing leads to ${link.cluster} yet: the host name in gatewayAddress of its Link has no IP address`;

/**
 * Returns a list with a note if Linkerd cannot find the pods of a cluster on a flat network. The list is empty for a
 * headless ServiceImport, whose clients have the addresses of the pods.
 */
const undiscoverable = (target: TargetExporter | undefined, { type, mode }: Shape): readonly string[] =>
  target?.isDiscoverable === false && mode === 'remote-discovery' && type !== 'Headless'
    ? [
        `nothing leads to ${target.link.cluster}: Linkerd's control plane has no credentials of it; create the copy of its credentials Secret in the control plane's namespace`,
      ]
    : [];

/**
 * Returns those slices that were imported from a target and lead to the target's gateway. Left out are:
 * - Copies of the target's own slices.
 * - Slices of Services that stand for pods.
 * - Slices with hostnames. Their endpoints are the addresses of Services that stand for pods.
 */
const gatewaySlices = (observed: ObservedImport, target: TargetExporter): readonly EndpointSlice[] =>
  slicesOf(observed, target)
    .filter(({ metadata }) => metadata.name.startsWith(`${importSlicePrefix(observed.name, target.link.cluster)}-ipv`))
    .filter(hasNoHostnames);

/**
 * Returns all existing slices. Slices that lead to a target's gateway get the present state of that gateway
 * ({@link refreshedSlices}).
 */
export function followingGateways(observed: ObservedImport): readonly KubeObject[] {
  const former = new Set<string>();
  const followed = observed.targets.flatMap((target) => {
    const shared = gatewaySlices(observed, target);
    const ofPods = slicesOf(observed, target).filter(isOfPod);
    for (const { metadata } of [...shared, ...ofPods]) former.add(metadata.name);
    const slicePrefix = importSlicePrefix(observed.name, target.link.cluster);
    return [
      ...refreshedSlices(target, shared, { service: derivedName(observed.name), slicePrefix }),
      ...refreshedPodSlices(target, ofPods),
    ];
  });
  return [...observed.imported.filter(({ metadata }) => !former.has(metadata.name)), ...followed];
}

/** Returns the endpoints of the gateway for the derived Service; undefined in the cases of {@link podGateway}. */
const sharedGateway = (observed: ObservedImport, target: TargetExporter) =>
  gatewayEndpointsOf(target, gatewaySlices(observed, target));

/**
 * Returns the endpoints of the gateway for the Services that stand for a target's pods. Undefined if the target has no
 * known gateway, or if neither the gateway nor the slices of these Services have an address.
 */
const podGateway = (observed: ObservedImport, target: TargetExporter) => {
  const { gateway, service, slices = [] } = target;
  const anyReady = service !== undefined && readSlices(service, slices).anyReady;
  return gatewayEndpointsOf({ gateway, anyReady }, slicesOf(observed, target).filter(isOfPod));
};

/**
 * Reports whether the existing objects of a cluster stay, as {@link retainedOf} returns them. They stay if at least one
 * of these is true:
 * - The export of the cluster is not known.
 * - The slices of the exported Service are needed, but not known.
 * - The ServiceImport is headless, a gateway leads to the pods of the cluster, and no address of that gateway is known.
 */
function isRetained(observed: ObservedImport, { exporter, exported }: Source, { type, mode }: Shape): boolean {
  if (exported === undefined) return true;
  const target = targetOf(exporter);
  if (target === undefined || mode === 'remote-discovery') return exporter.slices === undefined;
  if (type !== 'Headless' || target.gateway === undefined) return false;
  return target.slices === undefined || podGateway(observed, target) === undefined;
}

/**
 * Returns those existing objects of a cluster that stay. Called only if {@link isRetained} returns true for the
 * cluster.
 */
const retainedOf = (observed: ObservedImport, source: Source, shape: Shape): SourceCluster['retained'] => ({
  services: shape.type === 'Headless' ? podServicesOf(observed, source.exporter) : [],
  slices: retainedSlices(observed, source, shape),
});

function retainedSlices(observed: ObservedImport, source: Source, shape: Shape): readonly KubeObject[] {
  const all = slicesOf(observed, source.exporter);
  const slices = all.filter((each) => isOfShape(each, observed.name, shape));
  const target = targetOf(source.exporter);
  const ofPods = shape.type === 'Headless' ? refreshedPodSlices(target, all.filter(isOfPod)) : [];
  if (source.exported !== undefined) {
    const { ports } = source.exported;
    return [...ofPods, ...slices.flatMap((each) => withPorts(each, ports, shape))];
  }
  if (target === undefined || shape.mode !== 'gateway' || shape.type === 'Headless') return [...ofPods, ...slices];
  const slicePrefix = importSlicePrefix(observed.name, target.link.cluster);
  return refreshedSlices(target, slices, { service: derivedName(observed.name), slicePrefix });
}

/**
 * Returns the slices of Services that stand for pods, with the present state of the gateway ({@link refreshedSlices}).
 */
const refreshedPodSlices = (
  target: TargetExporter | undefined,
  slices: readonly EndpointSlice[],
): readonly KubeObject[] =>
  // The slices are grouped by their names, which start with the names of their Services. Unlike a label, a name cannot
  // be changed or removed.
  [...Map.groupBy(slices, ({ metadata }) => withoutSuffix(metadata.name))].flatMap(([service, of]) =>
    refreshedSlices(target ?? {}, of, { service, slicePrefix: service }),
  );

/**
 * Reports whether a slice fits the present type and mode, by the label that names its Service and by its hostnames:
 * - Headless: a slice without that label fits, unless it belongs to a Service that stands for a pod.
 * - ClusterSetIP in gateway mode: a slice without hostnames fits if the label names the derived Service or is missing,
 *   because a slice of the derived Service can have lost the label.
 * - ClusterSetIP in flat mode: a slice without hostnames fits if the label is missing.
 */
function isOfShape(slice: EndpointSlice, name: string, { type, mode }: Shape): boolean {
  const service = slice.metadata.labels?.[Label.serviceName];
  if (type === 'Headless') return service === undefined && !isOfPod(slice);
  const isOfService = mode === 'gateway' ? [derivedName(name), undefined].includes(service) : service === undefined;
  return isOfService && hasNoHostnames(slice);
}

const hasNoHostnames = ({ endpoints }: EndpointSlice): boolean =>
  (endpoints ?? []).every(({ hostname }) => hostname === undefined);

/**
 * Returns a list with a slice that stays, without the ports that are no longer imported. The list is empty if no port
 * is left. If the ServiceImport has no ports, the slice is returned unchanged.
 * @param had ports that the cluster exports
 */
function withPorts(slice: EndpointSlice, had: readonly ImportPort[], { type, ports }: Shape): readonly KubeObject[] {
  if (ports.length === 0) return [slice];
  const nameOf = type === 'Headless' ? (name: string) => name : derivedPortName(ports);
  const names = new Set(sharedPorts(ports, had).map(({ name = '' }) => nameOf(name)));
  const kept = (slice.ports ?? []).filter(({ name = '' }) => names.has(name));
  if (kept.length === slice.ports?.length) return [slice];
  const { name, namespace, labels, annotations } = slice.metadata;
  const { addressType, endpoints } = slice;
  return kept.length === 0
    ? []
    : [{ metadata: { name, namespace, labels, annotations }, addressType, endpoints, ports: kept } as KubeObject];
}

/**
 * Returns copies of those slices of an exporter's Service that have addresses of an IP family of the source cluster.
 */
const copies = ({ families }: ObservedImport, { exporter }: Source, { type }: Shape) =>
  (exporter.slices ?? [])
    .filter((slice) => isOfAddresses(slice) && families.some((family) => family === slice.addressType))
    .map((slice) => (type === 'Headless' ? withHostnames(slice) : asCopied(slice)));

const withHostnames = (slice: EndpointSlice) => {
  const copied = asCopied(slice);
  return {
    ...copied,
    endpoints: copied.endpoints.map((endpoint, index) => {
      const hostname = slice.endpoints?.[index]?.hostname;
      return { ...endpoint, ...(typeof hostname === 'string' && { hostname }) };
    }),
  };
};

/**
 * Where the endpoints of each cluster come from: what the construct is given for those that are known, and the slices of
 * the others as they are, with at most their gateway brought up to date. Pure.
 */
import {
  derivedPortName,
  type ImportedCluster,
  type ImportPort,
  importSlicePrefix,
  type ImportType,
  type MirrorMode,
  sharedPorts,
} from '../../constructs/mirror/index.ts';
import { Label } from '../../crds/wire.ts';
import { asCopied, gatewayEndpointsOf, isOfAddresses, refreshedSlices } from '../federation/member-slices.ts';
import type { EndpointSlice, KubeObject } from '../kube/objects.ts';
import type { ExportedService } from './exports.ts';
import { slicesOf } from './membership.ts';
import { type Exporter, type ObservedImport, targetOf } from './observed.ts';

/** A cluster that a ServiceImport is made of; `exported` is undefined while it is not known what it exports. */
export interface Source {
  readonly exporter: Exporter;
  /** Id of the cluster. */
  readonly id: string;
  readonly exported: ExportedService | undefined;
}

/** How a ServiceImport is reached. */
export interface Shape {
  readonly type: ImportType;
  readonly mode: MirrorMode;
  /** Ports of the ServiceImport. */
  readonly ports: readonly ImportPort[];
}

/** Returns what the construct renders of a cluster. Without endpoints, it renders none. */
export function importedCluster(observed: ObservedImport, source: Source, shape: Shape): ImportedCluster {
  const target = targetOf(source.exporter);
  const cluster: ImportedCluster = {
    id: source.id,
    targetCluster: target?.link.cluster,
    targetClusterDomain: target?.link.clusterDomain,
    ports: source.exported?.ports,
  };
  if (source.exported === undefined || isRetained(source, shape)) return cluster;
  if (target === undefined || shape.mode === 'remote-discovery')
    return { ...cluster, slices: copies(observed, source, shape) };
  if (shape.type === 'Headless') return cluster;
  return { ...cluster, endpoints: gatewayEndpointsOf(target, slicesOf(observed, target)) };
}

/** Reports whether the slices of a cluster stay as they are: what they hold is not known. */
function isRetained({ exporter, exported }: Source, { type, mode }: Shape): boolean {
  if (exported === undefined) return true;
  const target = targetOf(exporter);
  if (target === undefined || mode === 'remote-discovery') return exporter.slices === undefined;
  return type === 'Headless' && target.slices === undefined && target.gateway !== undefined;
}

/** Returns the slices of a cluster that the construct does not render. */
export function retainedSlices(observed: ObservedImport, source: Source, shape: Shape): readonly KubeObject[] {
  if (!isRetained(source, shape)) return [];
  const slices = slicesOf(observed, source.exporter).filter((each) => isOfShape(each, shape));
  if (source.exported !== undefined)
    return slices.flatMap((each) => withPorts(each, source.exported?.ports ?? [], shape));
  const target = targetOf(source.exporter);
  if (target === undefined || shape.mode !== 'gateway' || shape.type === 'Headless') return slices;
  return refreshedSlices(target.gateway, slices, importSlicePrefix(observed.name, target.link.cluster));
}

/** Reports whether a slice can stay in this shape: it is the derived Service's or nobody's, with hostnames or without. */
function isOfShape({ metadata, endpoints }: EndpointSlice, { type, mode }: Shape): boolean {
  const isOfService = metadata.labels?.[Label.serviceName] !== undefined;
  if (type === 'Headless') return !isOfService;
  return isOfService === (mode === 'gateway') && (endpoints ?? []).every(({ hostname }) => hostname === undefined);
}

/** A slice of which the pods are not known, with those of its ports that are still imported; none if it has no others. */
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

/** The slices of a Service with the addresses that pods of this cluster can connect to. */
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

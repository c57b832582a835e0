/** Finds out from the existing objects of a ServiceImport which clusters are part of it. Pure. */
import type { ImportType, MirrorMode } from '../../constructs/rendered/index.ts';
import { derivedName, importSlicePrefix } from '../../crds/mcs/derived-name.ts';
import { Annotation, federatedEntry, Label } from '../../crds/wire.ts';
import type { EndpointSlice, KubeObject, Service } from '../kube/objects.ts';
import { sourceOf } from '../source/owner.ts';
import { type Exporter, type ObservedImport, type TargetExporter, targetOf } from './observed.ts';

/** Reports whether an object is our ServiceImport with this name, or is derived from it. */
export const isOfImport = (name: string, { metadata }: KubeObject): boolean =>
  metadata.labels?.[Label.serviceImport] === name;

/**
 * Returns the recorded order of exports (precedence.ts); undefined if there is no ServiceImport of ours, or if the
 * ServiceImport records no order.
 */
export const recordedOrder = ({ name, live }: Pick<ObservedImport, 'name' | 'live'>): string | undefined =>
  live !== undefined && isOfImport(name, live) ? live.metadata.annotations?.[Annotation.exports] : undefined;

/**
 * Returns the names of the clusters that the recorded order lists. The name is empty for the local cluster. Entries
 * that cannot be read are left out.
 */
export const recordedClusters = (standing: Pick<ObservedImport, 'name' | 'live'>): readonly string[] =>
  (recordedOrder(standing)?.split(',') ?? []).flatMap((entry) => clusterOf(entry) ?? []);

/**
 * Returns the cluster name in an entry of the recorded order. The name is empty for the local cluster. Undefined if the
 * entry cannot be read.
 */
export const clusterOf = (entry: string): string | undefined => /^([^/]*)\//.exec(entry)?.[1];

/** Returns those slices of a ServiceImport that were imported from one cluster. */
export const slicesOf = (
  { imported }: Pick<ObservedImport, 'imported'>,
  exporter: Exporter,
): readonly EndpointSlice[] => imported.filter((slice) => sourceOf(slice) === targetOf(exporter)?.link.cluster);

/** Returns the Services that stand for the pods of one cluster; none for the local cluster. */
export const podServicesOf = (
  { podServices }: Pick<ObservedImport, 'podServices'>,
  exporter: Exporter,
): readonly Service[] => {
  const target = targetOf(exporter);
  return target === undefined
    ? []
    : podServices.filter(({ metadata }) => metadata.labels?.[Label.importedFrom] === target.link.cluster);
};

/** Returns whether the slices of a target lead to its gateway or to its pods; undefined if the target has no slices. */
export function modeOfSlices(
  observed: Pick<ObservedImport, 'name' | 'imported'>,
  target: TargetExporter,
): MirrorMode | undefined {
  const slices = slicesOf(observed, target);
  if (slices.length === 0) return undefined;
  const prefix = `${importSlicePrefix(observed.name, target.link.cluster)}-ipv`;
  const isToGateway = slices.some((slice) => isOfPod(slice) || slice.metadata.name.startsWith(prefix));
  return isToGateway ? 'gateway' : 'remote-discovery';
}

/** Reports whether a slice has the label that names the derived Service of a ServiceImport with this name. */
export const isOfDerived = (name: string, { metadata }: EndpointSlice): boolean =>
  metadata.labels?.[Label.serviceName] === derivedName(name);

/** Reports whether a slice belongs to a Service that stands for a pod. */
export const isOfPod = ({ metadata }: EndpointSlice): boolean => metadata.labels?.[Label.importedPod] !== undefined;

/**
 * The existing objects of a ServiceImport. `live` and `derived` are the objects with the names of the ServiceImport and
 * of its derived Service, whoever owns them.
 */
export type Standing = Pick<ObservedImport, 'name' | 'live' | 'derived' | 'podServices' | 'imported'>;

/**
 * Returns the ClusterIPs of the derived Service. The list is empty if the Service is missing or foreign, or if it has
 * no ClusterIP, for example because somebody has changed its type to ExternalName.
 */
export const derivedAddresses = ({ name, derived }: Pick<Standing, 'name' | 'derived'>): readonly string[] => {
  const { clusterIP = '', clusterIPs = [clusterIP] } =
    (derived !== undefined && isOfImport(name, derived) ? derived.spec : undefined) ?? {};
  return clusterIPs.filter((ip) => ip !== '' && ip !== 'None');
};

/** Reports whether all existing derived objects can belong to a ServiceImport of this type. */
export function isLeftOf({ name, derived, podServices, imported }: Standing, type: ImportType): boolean {
  if (type === 'Headless')
    return (derived === undefined || !isOfImport(name, derived)) && !imported.some((slice) => isOfDerived(name, slice));
  const endpoints = imported.flatMap((slice) => slice.endpoints ?? []);
  return podServices.length === 0 && endpoints.every(({ hostname }) => hostname === undefined);
}

/**
 * Reports whether a cluster is part of a ServiceImport. This is the case if at least one of these belongs to the
 * cluster or names it:
 * - A slice, or a Service that stands for a pod.
 * - An annotation of the derived Service by which Linkerd discovers pods.
 * - The status of the ServiceImport, which names clusters by their ids.
 * - The recorded order of exports (precedence.ts), while the exports or the id of the cluster are not known: the status
 *   might name the cluster by a former id (L134). The recorded order does not count for a target whose cluster name is
 *   the id of the local cluster.
 * @param ownId id of the local cluster; in the status, this id stands for the local cluster, never for a target
 */
export function isMember(observed: Standing, exporter: Exporter, ownId: string | undefined): boolean {
  const { name, live, derived } = observed;
  if (slicesOf(observed, exporter).length > 0 || podServicesOf(observed, exporter).length > 0) return true;
  const { annotations = {} } = derived !== undefined && isOfImport(name, derived) ? derived.metadata : {};
  const target = targetOf(exporter);
  const isTold =
    target === undefined
      ? annotations[Annotation.localDiscovery] === name
      : (annotations[Annotation.remoteDiscovery] ?? '').split(',').includes(federatedEntry(name, target.link.cluster));
  if (isTold) return true;
  const isNamedAsLocal = target !== undefined && target.link.cluster === ownId;
  const isUnknown = !exporter.isKnown || exporter.id === undefined;
  if (isUnknown && !isNamedAsLocal && recordedClusters(observed).includes(target?.link.cluster ?? '')) return true;
  const clusters = live !== undefined && isOfImport(name, live) ? (live.status?.clusters ?? []) : [];
  const called = exporter.id ?? target?.link.cluster;
  return clusters.some(({ cluster }) => cluster === called && (target === undefined || cluster !== ownId));
}

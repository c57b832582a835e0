/**
 * Determines who owns an object of the source cluster (rule A6): a target cluster, and what in that cluster the object
 * was made for. Only labels and names are read, so that an operator that has just started knows what is ours.
 */
import { derivingName, importedFrom } from '../../crds/mcs/derived-name.ts';
import { withoutSuffix } from '../../crds/slice-names.ts';
import { Annotation, federatedEntry, isProbeName, Label, memberName, Value } from '../../crds/wire.ts';
import type { EndpointSlice, KubeObject, Service } from '../kube/objects.ts';

/** The key of a Link's probe Service; every other key is `namespace/name` of a target Service. */
export const PROBE_KEY = '!probe';

/**
 * Prefix of a name in a key, for an object that is ours by its labels but does not have the name of a mirror of its
 * cluster.
 */
const STRAY = '~';

export interface Owner {
  /** Name of the target cluster. */
  readonly cluster: string;
  /** `namespace/name` of a target Service, or {@link PROBE_KEY}. */
  readonly key: string;
}

export const sameOwner = (a: Owner | undefined, b: Owner | undefined): boolean =>
  a?.cluster === b?.cluster && a?.key === b?.key;

/** Returns the value by which indexes find the objects of an owner. */
export const indexValueOf = ({ cluster, key }: Owner): string => `${cluster}|${key}`;

/**
 * Returns the owner of an object; undefined if the object is not ours, or belongs to a federated Service or a
 * ServiceImport.
 * @param operatorNamespace namespace of the operator, where probe Services are
 */
export function ownerOf(object: KubeObject, operatorNamespace: string): Owner | undefined {
  const { labels = {}, name, namespace = '' } = object.metadata;
  const cluster = labels[Label.clusterName];
  if (cluster === undefined || cluster === '') return undefined;
  if (labels[Label.mirroredService] === Value.true) {
    const mirror = labels[Label.headlessMirrorSvcName] ?? serviceOf(object);
    return { cluster, key: `${namespace}/${mirroredName(mirror, cluster) ?? STRAY + name}` };
  }
  // For Endpoints and slices of a probe Service, the label with the cluster's name is enough.
  const isProbe = labels[Label.mirroredGateway] === Value.true || (object as Service).spec === undefined;
  return isProbe && namespace === operatorNamespace && isProbeName(serviceOf(object))
    ? { cluster, key: PROBE_KEY }
    : undefined;
}

/**
 * Returns the name of the target Service that a mirror with this name stands for; undefined if a mirror of this cluster
 * cannot have the name.
 */
export function mirroredName(mirror: string, cluster: string): string | undefined {
  const suffix = `-${cluster}`;
  return mirror.endsWith(suffix) && mirror.length > suffix.length ? mirror.slice(0, -suffix.length) : undefined;
}

/**
 * Returns the name of the Service that an object is, or whose endpoints the object holds. If a slice lacks the label
 * that names its Service, its own name up to the first dot counts, since that is how slices of federated Services are
 * named.
 */
export function serviceOf(object: KubeObject | EndpointSlice): string {
  const { labels, name } = object.metadata;
  if (!('addressType' in object)) return name;
  const { [Label.serviceName]: service = '' } = labels ?? {};
  return service === '' ? name.replace(/\..*/, '') : service;
}

/**
 * Reports whether the labels of a Service export it to other clusters through the gateway. Mirrors and federated
 * Services are never exported.
 */
export const isExportedHere = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  labels[Label.mirroredService] === undefined &&
  (labels[Label.exported] === Value.true || labels[Label.federated] === Value.federatedMember);

/**
 * Reports whether a Service is a federated Service, made by us or by Linkerd's controllers (rule I8). Unlike a
 * federated Service, a mirror has a label that names its cluster, and a user's Service lacks the label {@link
 * Label.mirroredService}.
 */
export function isFederated(service: KubeObject): boolean {
  const { labels = {} } = service.metadata;
  return (
    labels[Label.mirroredService] === Value.true &&
    labels[Label.clusterName] === undefined &&
    (isFlat(service) || labels[Label.federation] === Value.gatewayFederation)
  );
}

/** Reports whether a Service has an annotation by which Linkerd finds members on a flat network. */
export const isFlat = ({ metadata: { annotations = {} } }: KubeObject): boolean =>
  Annotation.remoteDiscovery in annotations || Annotation.localDiscovery in annotations;

/** Returns the target clusters that are members according to a federated Service or to one of its slices. */
export function memberClusters(object: KubeObject): readonly string[] {
  const { annotations = {}, name } = object.metadata;
  if ('addressType' in object) return [memberOf(object)].filter((cluster) => cluster !== undefined);
  return discovered(annotations[Annotation.remoteDiscovery], memberName(name) ?? '');
}

/**
 * Returns the target cluster of the member that a slice of a federated Service belongs to. Undefined for a slice of the
 * local member, or if no target cluster is found. The name of the slice decides, since nobody can change it. A label
 * counts only if the name does not have the form that we give to such slices.
 */
export function memberOf({ metadata: { name, labels = {} } }: KubeObject): string | undefined {
  const [service = '', member = '', ...copied] = name.split('.');
  const target = withoutSuffix(member);
  if (memberName(service) !== undefined) {
    if (member === 'local' && copied.length > 0) return undefined;
    if (target !== member && copied.length === 0) return target;
  }
  return labels[Label.federationMember];
}

/**
 * Returns the key of the federated Service that an object belongs to: `namespace/name` of its members. The object may
 * be that Service, its slice, or another Service with its name. Undefined if the object has nothing to do with a
 * federated Service.
 */
export function federationOf(object: KubeObject): string | undefined {
  const { labels, namespace = '' } = object.metadata;
  const isSlice = 'addressType' in object;
  if (isSlice && labels?.[Label.federation] !== Value.gatewayFederation) return undefined;
  const name = memberName(serviceOf(object));
  return name === undefined ? undefined : `${namespace}/${name}`;
}

/**
 * Returns `namespace/name` of the ServiceImport that a Service or slice is derived from; undefined if it is not derived
 * from any.
 */
export function importOf({ metadata: { labels, namespace = '' } }: KubeObject): string | undefined {
  const name = labels?.[Label.serviceImport];
  return name === undefined ? undefined : `${namespace}/${name}`;
}

/**
 * Returns the target cluster that an object was imported from: a slice, or a Service that stands for a pod. Undefined
 * if it was imported from the source cluster itself, or if no cluster is found. The name of a slice decides, since
 * nobody can change it. A label counts only if the name does not have the form that we give to such slices.
 */
export const sourceOf = ({ metadata: { name, labels = {} } }: KubeObject): string | undefined => {
  const byName = importedFrom(name);
  return byName === undefined ? labels[Label.importedFrom] : (byName ?? undefined);
};

/** Returns the target clusters that an object leads to: a Service or slice that is derived from a ServiceImport. */
export function importedClusters(object: KubeObject): readonly string[] {
  const { labels = {}, annotations = {} } = object.metadata;
  const cluster = sourceOf(object);
  if (cluster !== undefined) return [cluster];
  return discovered(annotations[Annotation.remoteDiscovery], labels[Label.serviceImport] ?? '');
}

/**
 * Returns the clusters in which Linkerd finds the pods of a Service, as an annotation lists them.
 * @param list value of the annotation; undefined if it is missing
 * @param service name of the Service whose entries are returned
 */
function discovered(list: string | undefined, service: string): readonly string[] {
  const prefix = federatedEntry(service, '');
  const entries = (list ?? '').split(',').filter((entry) => entry.startsWith(prefix));
  return entries.map((entry) => entry.slice(prefix.length));
}

/** Reports whether an object is a federated Service, or a slice of one. */
export const isOfFederation = (object: KubeObject): boolean =>
  federationOf(object) !== undefined && ('addressType' in object || isFederated(object));

/**
 * Returns the key of the ServiceImport that an object is derived from. For another Service, returns the key of the
 * ServiceImport whose derived Service would have its name. Empty if there is neither.
 */
export function importsOf(object: KubeObject): readonly string[] {
  const derivedFrom = importOf(object);
  if (derivedFrom !== undefined) return [derivedFrom];
  const { name, namespace = '' } = object.metadata;
  const service = 'addressType' in object ? undefined : derivingName(name);
  return service === undefined ? [] : [`${namespace}/${service}`];
}

/**
 * Whose an object of the source cluster is (rule A6): the target cluster, and what in it the object belongs to. Read
 * from labels and names alone, so that an operator that has just started knows what is ours.
 */
import { derivingName, importedFrom } from '../../crds/mcs/derived-name.ts';
import { withoutSuffix } from '../../crds/slice-names.ts';
import { Annotation, federatedEntry, isProbeName, Label, memberName, Value } from '../../crds/wire.ts';
import type { EndpointSlice, KubeObject, Service } from '../kube/objects.ts';

/** The key of a Link's probe Service; every other key is `namespace/name` of a target Service. */
export const PROBE_KEY = '!probe';

/** In a key: ours by its labels, but the mirror of nothing that could exist. */
const STRAY = '~';

export interface Owner {
  /** Name of the target cluster. */
  readonly cluster: string;
  /** `namespace/name` of a target Service, or {@link PROBE_KEY}. */
  readonly key: string;
}

export const sameOwner = (a: Owner | undefined, b: Owner | undefined): boolean =>
  a?.cluster === b?.cluster && a?.key === b?.key;

/** The value that an owner's objects are indexed by. */
export const indexValueOf = ({ cluster, key }: Owner): string => `${cluster}|${key}`;

/**
 * Who owns an object, or undefined if it is not ours.
 * @param operatorNamespace where probe Services are
 */
export function ownerOf(object: KubeObject, operatorNamespace: string): Owner | undefined {
  const { labels = {}, name, namespace = '' } = object.metadata;
  const cluster = labels[Label.clusterName];
  if (cluster === undefined || cluster === '') return undefined;
  if (labels[Label.mirroredService] === Value.true) {
    const mirror = labels[Label.headlessMirrorSvcName] ?? serviceOf(object);
    return { cluster, key: `${namespace}/${mirroredName(mirror, cluster) ?? STRAY + name}` };
  }
  // The Endpoints of a probe Service carry no more than the cluster's name.
  const isProbe = labels[Label.mirroredGateway] === Value.true || (object as Service).spec === undefined;
  return isProbe && namespace === operatorNamespace && isProbeName(serviceOf(object))
    ? { cluster, key: PROBE_KEY }
    : undefined;
}

/** Name of the target Service that a mirror of that name would be of; undefined if it cannot be one of this cluster. */
export function mirroredName(mirror: string, cluster: string): string | undefined {
  const suffix = `-${cluster}`;
  return mirror.endsWith(suffix) && mirror.length > suffix.length ? mirror.slice(0, -suffix.length) : undefined;
}

/**
 * Name of the Service that an object is, or is the endpoints of. A slice of a federated Service that has lost its label is
 * known by its name, before the dot.
 */
export function serviceOf(object: KubeObject | EndpointSlice): string {
  const { labels, name } = object.metadata;
  if (!('addressType' in object)) return name;
  const { [Label.serviceName]: service = '' } = labels ?? {};
  return service === '' ? name.replace(/\..*/, '') : service;
}

/** Reports whether the labels of a Service export it to other clusters through the gateway: no mirror is exported. */
export const isExportedHere = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  labels[Label.mirroredService] === undefined &&
  (labels[Label.exported] === Value.true || labels[Label.federated] === Value.federatedMember);

/**
 * Reports whether a Service is a federated one, made by us or by Linkerd's controllers (rule I8): a mirror names its
 * cluster, and a user's Service has no such label.
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

/** Returns the target clusters that a federated Service, or a slice of one, says are members. */
export function memberClusters(object: KubeObject): readonly string[] {
  const { annotations = {}, name } = object.metadata;
  if ('addressType' in object) return [memberOf(object)].filter((cluster) => cluster !== undefined);
  return discovered(annotations[Annotation.remoteDiscovery], memberName(name) ?? '');
}

/**
 * Returns the target cluster that a slice of a federated Service is of; undefined if it is the local member's. Its name tells,
 * which nobody can change; a label counts only where that does not.
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
 * Returns `namespace/name` of the Services that join the federated Service that an object is, is a slice of, or has the
 * name of; undefined if it has nothing to do with one.
 */
export function federationOf(object: KubeObject): string | undefined {
  const { labels, namespace = '' } = object.metadata;
  const isSlice = 'addressType' in object;
  if (isSlice && labels?.[Label.federation] !== Value.gatewayFederation) return undefined;
  const name = memberName(serviceOf(object));
  return name === undefined ? undefined : `${namespace}/${name}`;
}

/** Returns `namespace/name` of the ServiceImport that a Service or slice is derived from; undefined if it is derived from none. */
export function importOf({ metadata: { labels, namespace = '' } }: KubeObject): string | undefined {
  const name = labels?.[Label.serviceImport];
  return name === undefined ? undefined : `${namespace}/${name}`;
}

/**
 * Returns the target cluster that a Service of a pod or a slice is imported from; undefined if it is of this cluster. The name of
 * a slice tells, which nobody can change; a label counts only where that does not.
 */
export const sourceOf = ({ metadata: { name, labels = {} } }: KubeObject): string | undefined => {
  const byName = importedFrom(name);
  return byName === undefined ? labels[Label.importedFrom] : (byName ?? undefined);
};

/** Returns the target clusters that a Service or slice that is derived from a ServiceImport leads to. */
export function importedClusters(object: KubeObject): readonly string[] {
  const { labels = {}, annotations = {} } = object.metadata;
  const cluster = sourceOf(object);
  if (cluster !== undefined) return [cluster];
  return discovered(annotations[Annotation.remoteDiscovery], labels[Label.serviceImport] ?? '');
}

/** The clusters in which Linkerd is to find the pods of a Service. */
function discovered(list: string | undefined, service: string): readonly string[] {
  const prefix = federatedEntry(service, '');
  const entries = (list ?? '').split(',').filter((entry) => entry.startsWith(prefix));
  return entries.map((entry) => entry.slice(prefix.length));
}

/** Reports whether an object is a federated Service, or a slice of one. */
export const isOfFederation = (object: KubeObject): boolean =>
  federationOf(object) !== undefined && ('addressType' in object || isFederated(object));

/** The ServiceImport that an object is derived from, or, if it is a Service of anybody else, whose name it has. */
export function importsOf(object: KubeObject): readonly string[] {
  const derivedFrom = importOf(object);
  if (derivedFrom !== undefined) return [derivedFrom];
  const { name, namespace = '' } = object.metadata;
  const service = 'addressType' in object ? undefined : derivingName(name);
  return service === undefined ? [] : [`${namespace}/${service}`];
}

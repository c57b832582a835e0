/**
 * Whose an object of the source cluster is (rule A6): the target cluster, and what in it the object belongs to. Read
 * from labels and names alone, so that an operator that has just started knows what is ours.
 */
import { isProbeName, Label, Value } from '../../crds/wire.ts';
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

/** Name of the target Service that a mirror of that name would be of; undefined: it cannot be one of this cluster. */
export function mirroredName(mirror: string, cluster: string): string | undefined {
  const suffix = `-${cluster}`;
  return mirror.endsWith(suffix) && mirror.length > suffix.length ? mirror.slice(0, -suffix.length) : undefined;
}

/** Name of the Service that an object is, or is the endpoints of. */
const serviceOf = (object: KubeObject | EndpointSlice): string =>
  ('addressType' in object ? object.metadata.labels?.[Label.serviceName] : undefined) ?? object.metadata.name;

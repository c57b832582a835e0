/**
 * Reduces objects of the source cluster to the fields that are read or compared, since there may be thousands of
 * objects.
 */
import { Annotation, Label, Value } from '../../crds/wire.ts';
import type { Endpoints, EndpointSlice, KubeObject, Namespace, Service } from '../kube/objects.ts';

export function trimService(object: Service): Service {
  const { type, clusterIP, selector, externalName, externalIPs, internalTrafficPolicy, sessionAffinity } =
    object.spec ?? {};
  const { publishNotReadyAddresses, ports } = object.spec ?? {};
  return {
    metadata: trimMetadata(object),
    spec: {
      type,
      clusterIP,
      selector,
      externalName,
      externalIPs,
      internalTrafficPolicy,
      sessionAffinity,
      publishNotReadyAddresses,
      ports,
    },
  } as Service;
}

/** Reduces a Service that is derived from a ServiceImport. All its ClusterIPs are kept. */
export function trimDerivedService(object: Service): Service {
  const { metadata, spec } = trimService(object);
  return { metadata, spec: { ...spec, clusterIPs: object.spec?.clusterIPs } } as Service;
}

/**
 * Reduces a Service that is not ours. What matters is that its name is taken, whether it can be the parent or a backend
 * of a route, and whether and to which clients it is exported.
 */
export function trimForeignService({ metadata, spec }: Service): Service {
  const { name, namespace, uid, resourceVersion } = metadata;
  const annotations = picked(metadata.annotations, [Annotation.opaquePorts, Annotation.clients]);
  const labels = picked(metadata.labels, [Label.exported, Label.federated, Label.mirroredService]);
  const { type, clusterIP, ports } = spec ?? {};
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
    spec: {
      type,
      // Only the absence of a ClusterIP matters.
      ...(clusterIP === 'None' && { clusterIP }),
      ports: ports?.map(({ name, port, protocol, appProtocol }) => ({ name, port, protocol, appProtocol })),
    },
  } as Service;
}

export const trimEndpoints = (object: Endpoints): Endpoints =>
  ({ metadata: trimMetadata(object), subsets: object.subsets }) as Endpoints;

/**
 * Reduces a slice.
 * @param of what the slice belongs to; undefined if the slice is not ours
 */
export function trimSlice(slice: EndpointSlice, of: unknown): EndpointSlice {
  if (of === undefined) return trimForeignSlice(slice);
  const { addressType, endpoints, ports } = slice;
  return { metadata: trimMetadata(slice), addressType, endpoints, ports } as EndpointSlice;
}

/** Reduces a slice that is not ours. What matters is its name, and the name of its Service. */
export function trimForeignSlice({ metadata, addressType }: EndpointSlice): EndpointSlice {
  const { name, namespace, uid, resourceVersion, labels } = metadata;
  const service = labels?.[Label.serviceName];
  return {
    metadata: {
      ...{ name, namespace, uid, resourceVersion },
      ...(service !== undefined && { labels: { [Label.serviceName]: service } }),
    },
    addressType,
    endpoints: [],
  } as EndpointSlice;
}

export function trimNamespace({ metadata }: Namespace): Namespace {
  const { name, uid, resourceVersion, deletionTimestamp, labels } = metadata;
  const cluster = labels?.[Label.mirroredService] === Value.true ? labels[Label.clusterName] : undefined;
  const ours = cluster === undefined ? {} : { labels: { [Label.clusterName]: cluster } };
  return { metadata: { name, uid, resourceVersion, deletionTimestamp, ...ours } } as Namespace;
}

/** Returns the entries with these keys; undefined if there are none. */
function picked(
  from: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const found = keys.flatMap((key) => (from?.[key] === undefined ? [] : [[key, from[key]] as const]));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

const trimMetadata = ({ metadata }: KubeObject) => {
  const { name, namespace, uid, resourceVersion, labels, annotations } = metadata;
  return { name, namespace, uid, resourceVersion, labels, annotations };
};

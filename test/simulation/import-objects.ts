/** The objects of the MCS API in a history, and whose they are. */
import { AboutApi, McsApi } from '../../crds/wire.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { Content } from './cluster.ts';

const kindOf = (kind: string) => ({ apiVersion: McsApi.apiVersion, kind }) as const;

export const SERVICE_EXPORT = kindOf(McsApi.serviceExport.kind);
export const SERVICE_IMPORT = kindOf(McsApi.serviceImport.kind);
export const CLUSTER_PROPERTY = { apiVersion: AboutApi.apiVersion, kind: AboutApi.clusterProperty.kind } as const;
/** The name of the ClusterProperty that a cluster claims its id by. */
export const ID = 'cluster.clusterset.k8s.io';

export const OF_IMPORT = 'linkspan.dev/service-import';
export const FROM = 'linkspan.dev/imported-from';
export const POD = 'linkspan.dev/imported-pod';
export const SERVICE_NAME = 'kubernetes.io/service-name';

type Kind = typeof SERVICE_EXPORT | typeof CLUSTER_PROPERTY;

/** The objects of a kind; none where there is no such kind. */
export const all = (cluster: Content, kind: Kind): readonly KubeObject[] =>
  cluster.has(kind) ? cluster.list(kind.apiVersion, kind.kind) : [];

/** An object; undefined also where there is no such kind. */
export const one = (
  cluster: Content,
  kind: Kind,
  namespace: string | undefined,
  name: string,
): KubeObject | undefined => (cluster.has(kind) ? cluster.get(kind.apiVersion, kind.kind, namespace, name) : undefined);

export const keyOf = ({ metadata: { namespace, name } }: Pick<KubeObject, 'metadata'>): string =>
  `${namespace}/${name}`;

/** Name of the Service that is derived from a ServiceImport. */
export const derivedName = (name: string): string => `${name}-clusterset`;

/** `namespace/name` of the ServiceImport that an object of ours is, or is derived from; undefined: it is none. */
export function importOf({ kind, metadata }: KubeObject): string | undefined {
  const name = metadata.labels?.[OF_IMPORT];
  if (name === undefined || (kind === SERVICE_IMPORT.kind && metadata.name !== name)) return undefined;
  return `${metadata.namespace}/${name}`;
}

/** The target cluster whose gateway a slice of ours leads to; undefined: it leads to none. */
export const gatewayOf = ({ kind, metadata: { labels = {} } }: KubeObject): string | undefined =>
  kind === 'EndpointSlice' && OF_IMPORT in labels && SERVICE_NAME in labels ? labels[FROM] : undefined;

/** The target clusters that a Service or a slice of ours leads to. */
export function clustersIn({ metadata: { labels = {}, annotations = {} } }: KubeObject): readonly string[] {
  const from = labels[FROM];
  if (from !== undefined) return [from];
  const told = (annotations['multicluster.linkerd.io/remote-discovery'] ?? '').split(',');
  return told.flatMap((entry) => entry.split('@').slice(1));
}

/** The namespace of the operator that an object names as the one that serves it. */
export const operatorOf = ({ metadata }: Annotated): string | undefined =>
  metadata.annotations?.['linkspan.dev/operator'];

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
}

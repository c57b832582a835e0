/** Paths of the Kubernetes API. Names come from anywhere: each is encoded, so that none leaves its place in a path. */
import { PODS, type Resource } from './objects.ts';

/** Path of one version of a resource's group. */
export const versionPath = (of: Pick<Resource, 'group' | 'version'>): string =>
  of.group === '' ? `/api/${of.version}` : `/apis/${of.group}/${of.version}`;

/** Path of all objects of a resource; of one namespace, if it is given and the resource has namespaces. */
export function collectionPath(of: Resource, namespace: string | undefined): string {
  const base = versionPath(of);
  return namespace === undefined || !of.namespaced
    ? `${base}/${of.plural}`
    : `${base}/namespaces/${encodeURIComponent(namespace)}/${of.plural}`;
}

export const objectPath = (of: Resource, namespace: string | undefined, name: string): string =>
  `${collectionPath(of, namespace)}/${encodeURIComponent(name)}`;

/** Path of what a pod answers at a port: the API server asks it. */
export const podPath = (
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port: number },
  path: string,
): string => `${objectPath(PODS, namespace, `${name}:${port}`)}/proxy${path}`;

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** A query with its `?`; parameters that are undefined or empty are left out. */
export function queryString(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string | number | boolean] => {
    return entry[1] !== undefined && entry[1] !== '';
  });
  if (given.length === 0) return '';
  return `?${given.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')}`;
}

/**
 * The state of a source as a value that two courses of one run must have in common: all that the operator writes, without
 * what differs each time (uids, versions, times), and with names in the place of addresses that the cluster gives.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { ENDPOINT_SLICE_MANAGER } from '../../crds/wire.ts';
import { idOf } from './writes.ts';

/** By `<Kind> <namespace>/<name>`. */
export type State = ReadonlyMap<string, string>;

/** What Kubernetes has, and what only passes by. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['Pod', 'Secret', 'Event', 'CustomResourceDefinition', 'ServiceAccount', 'ConfigMap'],
  ...['ClusterRole', 'ClusterRoleBinding', 'Node'],
]);

/** Fields that differ each time, wherever they are. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set([
  ...['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'generation', 'observedGeneration'],
  ...['lastTransitionTime', 'mirror.linkerd.io/remote-resource-version', 'clusterIPs', 'ownerReferences'],
  // Of them, uids and generations are a part.
  ...['linkspan.dev/served-spec', 'linkspan.dev/exports'],
  ...['acquireTime', 'renewTime', 'leaseTransitions', 'leaseDurationSeconds', 'holderIdentity', 'readySince', 'since'],
]);

/** Digests of credentials, times, and of several lists that fail, the one that did so first. */
const VARYING: readonly (readonly [text: RegExp, by: string])[] = [
  [/SHA-256 [0-9a-f]+…/, 'SHA-256 …'],
  [/\blist [a-z]+ at /, 'list … at '],
  [/\bsince [-0-9T:.]+Z/, 'since …'],
];

const cut = (text: string): string => VARYING.reduce((rest, [varying, by]) => rest.replace(varying, by), text);

const isLeftOut = ({ kind, metadata }: KubeObject): boolean => {
  if (LEFT_OUT.has(kind) || metadata.namespace === 'default') return true;
  const manager = metadata.labels?.['endpointslice.kubernetes.io/managed-by'];
  return kind === 'EndpointSlice' && manager !== undefined && manager !== ENDPOINT_SLICE_MANAGER;
};

export function stateOf(objects: readonly KubeObject[]): State {
  const names = new Map<string, string>();
  for (const { kind, metadata, spec } of objects) {
    const { clusterIP } = (spec ?? {}) as { readonly clusterIP?: string };
    if (kind === 'Service' && clusterIP !== undefined && clusterIP !== 'None')
      names.set(clusterIP, `<address of ${metadata.name}>`);
  }
  const clean = (value: unknown, key?: string): unknown => {
    if (typeof value === 'string') return names.get(value) ?? cut(value);
    if (Array.isArray(value)) {
      const items: readonly unknown[] = value;
      const cleaned = items.map((item) => clean(item));
      // Kubernetes keeps no order of addresses, and which address a pod has differs.
      return key === 'addresses' || key === 'endpoints' || key === 'notReadyAddresses'
        ? cleaned.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
        : cleaned;
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        // An empty list of a status is none.
        .filter(([name, inner]) => !OF_THE_MOMENT.has(name) && !(Array.isArray(inner) && inner.length === 0))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, inner]) => [name, clean(inner, name)]),
    );
  };
  return new Map(
    objects.filter((object) => !isLeftOut(object)).map((object) => [idOf(object), JSON.stringify(clean(object))]),
  );
}

/** What is different, object by object. */
export function differentStates(wanted: State, found: State): readonly string[] {
  return [...new Set([...wanted.keys(), ...found.keys()])].sort().flatMap((id) => {
    const [want, have] = [wanted.get(id), found.get(id)];
    if (want === have) return [];
    if (have === undefined) return [`${id} is missing`];
    if (want === undefined) return [`${id} should not be there`];
    return [`${id}: ${differences(JSON.parse(want), JSON.parse(have)).join('; ')}`];
  });
}

/** Where two values differ, by path, from the first to the second. */
export function differences(before: unknown, after: unknown, path = ''): readonly string[] {
  const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null;
  if (!isTree(before) || !isTree(after)) {
    return before === after ? [] : [`${path} is ${JSON.stringify(after)}, not ${JSON.stringify(before)}`];
  }
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    differences(before[key], after[key], path === '' ? key : `${path}.${key}`),
  );
}

/** ClusterIPs and uids of the Services of an operator: what clients hold on to. */
export const identities = (objects: readonly KubeObject[]): ReadonlyMap<string, string> =>
  new Map(
    objects
      .filter(({ kind, metadata }) => kind === 'Service' && metadata.labels?.['mirror.linkerd.io/mirrored-service'])
      .map((object) => {
        const { clusterIP = '' } = (object.spec ?? {}) as { readonly clusterIP?: string };
        return [idOf(object), `${clusterIP} ${object.metadata.uid}`];
      }),
  );

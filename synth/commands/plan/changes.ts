/** Changes as people read them: what differs in an object, and why it would be written. Pure. */
import { Annotation } from '../../../crds/wire.ts';
import { type ForecastChange, isAssigned } from '../../../operator/forecast/index.ts';
import { apiVersionOf, type KubeObject, type ServicePort, SERVICES } from '../../../operator/kube/objects.ts';

export type Action = 'create' | 'change' | 'replace' | 'delete';

/** One field that would differ. */
export interface Difference {
  readonly path: string;
  /** Undefined if it is not there. */
  readonly before: unknown;
  readonly after: unknown;
}

/** A change of one object. */
export interface PlannedChange {
  readonly action: Action;
  readonly link: string;
  readonly cluster: string;
  /** `namespace/name` of the target Service, or of the ServiceFailover; undefined for what is the Link's own. */
  readonly service: string | undefined;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly reason: string;
  readonly differences: readonly Difference[];
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** In place of a ClusterIP that only the API server gives. */
const ASSIGNED = '(assigned)';

export const describeChange = (change: ForecastChange): PlannedChange => {
  const { of, link, cluster, service } = change;
  const action = actionOf(change);
  const before = change.before && shown(change.before, change);
  const after = change.after && shown(change.after, change);
  const { namespace, name } = (change.after ?? change.before)?.metadata ?? { name: '' };
  const differences = before === undefined || after === undefined ? [] : differencesOf(before, after, of);
  const reason = reasonOf(change, action, differences);
  return { action, link, cluster, service, kind: of.kind, namespace, name, reason, differences, before, after };
};

const actionOf = ({ before, after }: ForecastChange): Action => {
  if (before === undefined) return 'create';
  if (after === undefined) return 'delete';
  return before.metadata.uid === after.metadata.uid ? 'change' : 'replace';
};

/** The object without what only the API server writes. */
const shown = (object: KubeObject, { of }: ForecastChange): KubeObject => {
  const {
    apiVersion: _version,
    kind: _kind,
    metadata,
    status: _status,
    ...rest
  } = object as KubeObject & {
    readonly status?: unknown;
  };
  const { name, namespace, labels, annotations } = metadata;
  const bare = {
    apiVersion: apiVersionOf(of),
    kind: of.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
    ...rest,
  };
  return JSON.parse(JSON.stringify(bare), (_key, value: unknown) =>
    typeof value === 'string' && isAssigned(value) ? ASSIGNED : value,
  ) as KubeObject;
};

const reasonOf = (
  { service, cluster, link, status, of, why }: ForecastChange,
  action: Action,
  differences: readonly Difference[],
): string => {
  if (service === undefined) {
    return action === 'change' ? changed(differences) : `probe of the gateway of Link ${link}`;
  }
  if (why !== undefined && (action === 'create' || action === 'delete')) return why[action];
  switch (action) {
    case 'create':
      return of.namespaced ? `${service} is exported by ${cluster}` : `${service} of ${cluster} is in it`;
    case 'change':
      return changed(differences);
    case 'replace':
      return 'what differs cannot be changed in place: the object is made anew';
    case 'delete':
      if (status === undefined) return `${service} is not exported by ${cluster}`;
      return status.mirrored
        ? `it is no part of the mirror of ${service} any more`
        : `${status.reason}: ${status.message}`;
  }
};

const changed = (differences: readonly Difference[]): string =>
  differences.length === 0 ? 'it differs' : `differs in ${differences.map(({ path }) => path).join(', ')}`;

/** Fields in the order in which they are listed; others come after them. Each but `spec` is compared as one. */
const FIELDS: readonly string[] = ['spec', 'subsets', 'addressType', 'endpoints', 'ports'];

/** Fields that say which object it is, or are compared apart. */
const OF_EVERY_OBJECT: readonly string[] = ['apiVersion', 'kind', 'metadata'];

/** Fields of a Service's spec that mirrors never have, or have filled in by the API server. */
const OF_SPEC = ['type', 'selector', 'externalName', 'externalIPs', 'publishNotReadyAddresses'] as const;

type Fields = Readonly<Record<string, unknown>>;

const differencesOf = (
  before: KubeObject,
  after: KubeObject,
  { kind }: ForecastChange['of'],
): readonly Difference[] => {
  const found: Difference[] = [];
  const compare = (path: string, a: unknown, b: unknown): void => {
    if (JSON.stringify(a ?? null) !== JSON.stringify(b ?? null)) found.push({ path, before: a, after: b });
  };
  for (const field of ['labels', 'annotations'] as const) {
    const [a, b] = [before.metadata[field] ?? {}, after.metadata[field] ?? {}];
    for (const key of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()) {
      // It alone causes no write (rule B4).
      if (key !== Annotation.remoteResourceVersion) compare(`${field}["${key}"]`, a[key], b[key]);
    }
  }
  const [was, is] = [before, after] as unknown as readonly [Fields, Fields];
  const others = Object.keys({ ...was, ...is }).filter((field) => !OF_EVERY_OBJECT.includes(field));
  for (const field of new Set([...FIELDS, ...others.sort()])) {
    if (field !== 'spec') compare(field, was[field], is[field]);
    else if (kind !== SERVICES.kind) {
      const [a, b] = [(was['spec'] ?? {}) as Fields, (is['spec'] ?? {}) as Fields];
      for (const each of new Set([...Object.keys(a), ...Object.keys(b)])) compare(`spec.${each}`, a[each], b[each]);
    } else {
      const [a, b] = [(was['spec'] ?? {}) as Fields, (is['spec'] ?? {}) as Fields];
      compare('spec.ports', portsOf(a), portsOf(b));
      compare('spec.clusterIP', a['clusterIP'], b['clusterIP']);
      for (const each of OF_SPEC) compare(`spec.${each}`, a[each] ?? DEFAULTS[each], b[each] ?? DEFAULTS[each]);
    }
  }
  return found;
};

const DEFAULTS: Fields = { type: 'ClusterIP', publishNotReadyAddresses: false };

const portsOf = ({ ports = [] }: { readonly ports?: readonly ServicePort[] }): readonly object[] =>
  ports.map(({ name, protocol = 'TCP', port, targetPort = port, appProtocol }) => ({
    name,
    protocol,
    port,
    targetPort,
    appProtocol,
  }));

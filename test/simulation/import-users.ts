/** What users do with imports: exports come and go, clusters claim ids, and what was derived is edited. */
import { clusterPropertyCrd, serviceExportCrd, serviceImportCrd } from '../../crds/index.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { Content, HistoryCluster } from './cluster.ts';
import { CLUSTER_OF, type Command, OTHER_CLUSTER, type OfSource } from './command.ts';
import { FAILURE_403 } from './failing.ts';
import { at, fateOf } from './hostile.ts';
import type { ImportKind } from './import-commands.ts';
import {
  all,
  CLUSTER_PROPERTY,
  derivedName,
  FROM,
  ID,
  importOf,
  OF_IMPORT,
  one,
  SERVICE_EXPORT,
  SERVICE_IMPORT,
  SERVICE_NAME,
} from './import-objects.ts';

type Of<T extends Command['do']> = Omit<Extract<Command, { do: T }>, 'do'>;

/** What an export says, beside its name. */
const SPECS: readonly object[] = [
  {},
  { spec: { exportedLabels: { team: 'x' } } },
  { spec: { exportedLabels: { team: 'y', tier: 'gold' }, exportedAnnotations: { 'example.com/note': 'a' } } },
  { spec: { exportedAnnotations: { 'multicluster.kubernetes.io/derived-service': 'another' } } },
];
export const SPECS_COUNT = SPECS.length;

/** How a Service treats sessions, and where it sends requests. */
const TRAFFIC: readonly object[] = [
  { sessionAffinity: 'None' },
  { sessionAffinity: 'ClientIP' },
  { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } },
  { internalTrafficPolicy: 'Local' },
];
export const TRAFFIC_COUNT = TRAFFIC.length;

const CRDS: Readonly<Record<ImportKind, KubeObject>> = {
  ServiceExport: serviceExportCrd,
  ServiceImport: serviceImportCrd,
  ClusterProperty: clusterPropertyCrd,
};

/** Whether something can be made in a namespace. */
const isOpen = (cluster: HistoryCluster, namespace: string): boolean => {
  const found = cluster.get('v1', 'Namespace', undefined, namespace);
  return found !== undefined && found.metadata.deletionTimestamp === undefined;
};

export function putExport(cluster: HistoryCluster, { namespace, name, metadata }: Omit<Of<'put export'>, 'at'>): void {
  if (!cluster.has(SERVICE_EXPORT) || !isOpen(cluster, namespace)) return;
  const status = one(cluster, SERVICE_EXPORT, namespace, name)?.status;
  cluster.put({
    ...SERVICE_EXPORT,
    metadata: { name, namespace },
    ...at(SPECS, metadata),
    ...(status !== undefined && { status }),
  });
}

export function removeExport(cluster: HistoryCluster, { namespace, name }: Omit<Of<'remove export'>, 'at'>): void {
  if (!cluster.has(SERVICE_EXPORT)) return;
  cluster.remove(SERVICE_EXPORT.apiVersion, SERVICE_EXPORT.kind, namespace, name);
}

/** Loses ServiceExports without an event. */
export const loseExports = (target: HistoryCluster, part: number | undefined): void =>
  target.faults.wipe(
    ({ kind, metadata }) =>
      kind === SERVICE_EXPORT.kind &&
      (part === undefined || Number(metadata.name.replace(/\D/g, '') || '0') % 3 === part),
  );

export function setTraffic(cluster: HistoryCluster, { namespace, name, index }: Omit<Of<'set traffic'>, 'at'>): void {
  const there = cluster.get('v1', 'Service', namespace, name);
  const spec = there?.spec as { readonly type?: string; readonly [field: string]: unknown } | undefined;
  // What no API server would store it does not let users change in part.
  if (there === undefined || fateOf(there) !== undefined) return;
  if (spec === undefined || spec.type === 'ExternalName') return;
  const { sessionAffinity: _a, sessionAffinityConfig: _c, internalTrafficPolicy: _p, ...others } = spec;
  cluster.put({ ...there, spec: { ...others, ...at(TRAFFIC, index) } });
}

export function claimId(cluster: HistoryCluster, id: string | undefined): void {
  if (!cluster.has(CLUSTER_PROPERTY)) return;
  if (id === undefined) cluster.remove(CLUSTER_PROPERTY.apiVersion, CLUSTER_PROPERTY.kind, undefined, ID);
  else cluster.put({ ...CLUSTER_PROPERTY, metadata: { name: ID }, spec: { value: id } });
}

/** What somebody has under the name of a ServiceImport, or of its derived Service. */
interface Own extends OfSource {
  readonly kind: 'ServiceImport' | 'Service';
}

/** The source is not called as one of its targets any more: that target would have no id. */
export function mendId(east: HistoryCluster): void {
  const { value } = (one(east, CLUSTER_PROPERTY, undefined, ID)?.spec ?? {}) as { readonly value?: string };
  if ([...Object.values(CLUSTER_OF), OTHER_CLUSTER].some((cluster) => cluster === value)) claimId(east, 'here');
}

/** Somebody's own object, where there is none. */
export function putOwn(east: HistoryCluster, { kind, namespace, name }: Own): void {
  if (!isOpen(east, namespace)) return;
  if (kind === 'Service') {
    const metadata = { name: derivedName(name), namespace };
    if (east.get('v1', 'Service', namespace, metadata.name) !== undefined) return;
    east.put({ apiVersion: 'v1', kind, metadata, spec: { ports: [{ port: 1234 }], selector: { app: 'own' } } });
  } else if (east.has(SERVICE_IMPORT) && one(east, SERVICE_IMPORT, namespace, name) === undefined) {
    east.put({
      ...SERVICE_IMPORT,
      metadata: { name, namespace },
      spec: { type: 'ClusterSetIP', ports: [{ port: 1234, protocol: 'TCP' }] },
    });
  }
}

export function removeOwn(east: HistoryCluster, { kind, namespace, name }: Own): void {
  const isService = kind === 'Service';
  const object = isService
    ? east.get('v1', kind, namespace, derivedName(name))
    : one(east, SERVICE_IMPORT, namespace, name);
  if (object !== undefined && importOf(object) === undefined)
    east.remove(isService ? 'v1' : SERVICE_IMPORT.apiVersion, kind, namespace, object.metadata.name);
}

/** All objects of ours of a kind. */
export const ours = (east: Content, kind: 'ServiceImport' | 'Service' | 'EndpointSlice'): readonly KubeObject[] =>
  (kind === 'ServiceImport'
    ? all(east, SERVICE_IMPORT)
    : east.list(kind === 'Service' ? 'v1' : 'discovery.k8s.io/v1', kind)
  ).filter((object) => importOf(object) !== undefined);

export function editImport(east: HistoryCluster, { kind, index, how }: Of<'edit import'>): void {
  const there = ours(east, kind).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const object = there[index % Math.max(1, there.length)];
  if (object === undefined) return;
  const { apiVersion, metadata, ...rest } = object as KubeObject & { readonly apiVersion: string };
  const { name, namespace, labels = {}, annotations = {} } = metadata;
  const put = (changed: object, body: object = {}): void =>
    east.put({ apiVersion, ...rest, ...body, metadata: { ...metadata, ...changed } });
  switch (how) {
    case 'delete':
      east.remove(apiVersion, kind, namespace, name);
      break;
    case 'label': {
      // Without the label by which it is ours, a slice would be somebody's in the way of ours.
      const own = kind === 'ServiceImport' ? { team: 'edited' } : at(LABELS, index);
      put({ labels: { ...labels, ...own } });
      break;
    }
    case 'annotation':
      put({ annotations: { ...annotations, ...at(ANNOTATIONS, index) } });
      break;
    case 'content':
      put({}, at(CONTENTS[kind], index)(object));
      break;
    case 'status':
      if (kind === 'ServiceImport') put({}, { status: { clusters: [{ cluster: 'edited' }], conditions: [] } });
      break;
    case 'finalizer':
      put({ finalizers: [FINALIZER] });
      break;
    case 'disown': {
      if (kind === 'EndpointSlice') return;
      const { [OF_IMPORT]: _, ...others } = labels;
      put({ labels: others });
    }
  }
}

const FINALIZER = 'example.com/hold';

/** Labels by which objects are found, as somebody spoils them. What is of a cluster that was never known here is left alone. */
const LABELS: readonly Readonly<Record<string, string>>[] = [
  { [OF_IMPORT]: 'other' },
  { [FROM]: 'west' },
  { 'multicluster.kubernetes.io/source-cluster': 'other' },
  { 'multicluster.kubernetes.io/service-name': 'other' },
  { 'endpointslice.kubernetes.io/managed-by': 'somebody' },
  { [SERVICE_NAME]: 'other' },
];

const ANNOTATIONS: readonly Readonly<Record<string, string>>[] = [
  { 'multicluster.kubernetes.io/derived-service': 'other' },
  { 'multicluster.linkerd.io/remote-discovery': 'web@west' },
  { 'mirror.linkerd.io/remote-svc-fq-name': 'other' },
];

type Edit = (object: KubeObject) => object;

const CONTENTS: Readonly<Record<'ServiceImport' | 'Service' | 'EndpointSlice', readonly Edit[]>> = {
  ServiceImport: [
    ({ spec }) => ({ spec: { ...(spec as object), ports: [{ name: 'edited', port: 81, protocol: 'TCP' }] } }),
    ({ spec }) => ({ spec: { ...(spec as object), sessionAffinity: 'ClientIP' } }),
  ],
  Service: [({ spec }) => ({ spec: { ...(spec as object), ports: [{ name: 'edited', port: 81, protocol: 'TCP' }] } })],
  EndpointSlice: [
    () => ({ endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }] }),
    () => ({ endpoints: [] }),
  ],
};

/** Deletes all that was derived by its label, as the documentation has it. */
export function clearImports(east: HistoryCluster): void {
  for (const kind of ['ServiceImport', 'Service', 'EndpointSlice'] as const) {
    for (const { metadata } of ours(east, kind)) {
      const { apiVersion } = kind === 'ServiceImport' ? SERVICE_IMPORT : VERSIONS[kind];
      east.remove(apiVersion, kind, metadata.namespace, metadata.name);
    }
  }
}

const VERSIONS = { Service: { apiVersion: 'v1' }, EndpointSlice: { apiVersion: 'discovery.k8s.io/v1' } } as const;

/** Lets go of what was held by {@link editImport}. */
export function releaseHeld(east: HistoryCluster): void {
  for (const kind of ['ServiceImport', 'Service', 'EndpointSlice'] as const) {
    const objects = kind === 'ServiceImport' ? all(east, SERVICE_IMPORT) : east.list(VERSIONS[kind].apiVersion, kind);
    const held = objects.filter(({ metadata }) => metadata.finalizers?.includes(FINALIZER) === true);
    for (const { status: _, ...object } of held)
      east.put({ ...object, metadata: { ...object.metadata, finalizers: [] } });
  }
}

/** Makes a CRD, or deletes it, with all that there is of it. */
export function defineKind(cluster: HistoryCluster, kind: ImportKind, isThere: boolean): void {
  const crd = CRDS[kind];
  if (isThere) cluster.put(crd);
  else cluster.remove('apiextensions.k8s.io/v1', 'CustomResourceDefinition', undefined, crd.metadata.name);
}

/** Takes the right away to read ServiceExports. @returns gives it back */
export function forbidExports({ faults }: HistoryCluster): () => void {
  const match = ({ verb, resource }: { readonly verb: string; readonly resource: string }): boolean =>
    resource === 'serviceexports' && (verb === 'list' || verb === 'watch' || verb === 'get');
  const heal = faults.refuse({ failure: FAILURE_403, match });
  faults.dropWatches(match);
  return heal;
}

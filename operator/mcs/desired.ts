/**
 * Renders the manifests of one ServiceImport from what is observed and decided. The manifests come from a construct
 * that users can use too. Services are written first, because the ServiceImport contains the address of the derived
 * Service, and slices contain the addresses of the Services that stand for pods. Pure.
 */
import { type ApiJson, type ImportedCluster, renderOf, ServiceImport } from '../../constructs/rendered/index.ts';
import { derivedName } from '../../crds/mcs/derived-name.ts';
import { Annotation, federatedEntry, Label } from '../../crds/wire.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type KubeObject,
  type Resource,
  type Service,
  SERVICES,
} from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { isFlat } from '../source/owner.ts';
import type { ImportPlan, ImportRefusal } from './import-plan.ts';
import { isOfImport, podServicesOf, slicesOf } from './membership.ts';
import { SERVICE_IMPORTS } from './objects.ts';
import { type Exporter, type ObservedImport, targetOf } from './observed.ts';
import { followingGateways, sourceCluster } from './sources.ts';

/** The objects of one ServiceImport. */
export interface ImportManifests {
  readonly imports: readonly Desired[];
  readonly services: readonly Desired[];
  readonly endpoints: readonly Desired[];
  /** Whether more objects are desired once these have been written. */
  readonly isPartial: boolean;
  /** Whether a foreign object has a name that is needed. The key is then reconciled again later. */
  readonly isBlocked: boolean;
}

export const NO_IMPORT: ImportManifests = {
  imports: [],
  services: [],
  endpoints: [],
  isPartial: false,
  isBlocked: false,
};

/** Returns all our objects unchanged, so that nothing is written or deleted. */
export const asItIs = ({ name, live, derived, podServices, imported }: ObservedImport): ImportManifests => ({
  ...NO_IMPORT,
  imports: ours(SERVICE_IMPORTS, name, live),
  services: [...ours(SERVICES, name, derived), ...podServices.map(service)],
  endpoints: imported.map(slice),
});

/**
 * Returns all our objects unchanged, except that slices that lead to a gateway get the present addresses, port,
 * identity and readiness of that gateway ({@link followingGateways}, rule F3).
 */
export const standing = (observed: ObservedImport): ImportManifests => ({
  ...asItIs(observed),
  endpoints: followingGateways(observed).map(slice),
});

/**
 * Returns all our objects as {@link standing} does, except the slices of the clusters in `left`, and the Services that
 * stand for pods of these clusters. The derived Service stays, without the annotation entries of these clusters.
 * @param left clusters that are known to have no valid export, or whose export is beyond a limit of their Link
 */
export function withoutThose(observed: ObservedImport, left: readonly Exporter[]): ImportManifests {
  const gone = new Set<KubeObject>(
    left.flatMap((each) => [...slicesOf(observed, each), ...podServicesOf(observed, each)]),
  );
  const stays = (object: KubeObject): boolean => !gone.has(object);
  const { imported, podServices, derived } = observed;
  return standing({
    ...observed,
    imported: imported.filter(stays),
    podServices: podServices.filter(stays),
    derived: derived && undiscovered(observed.name, derived, left),
  });
}

/**
 * Returns the derived Service without the annotation entries by which Linkerd discovers pods of the clusters in `left`.
 */
function undiscovered(name: string, derived: Service, left: readonly Exporter[]): Service {
  const {
    [Annotation.remoteDiscovery]: remote,
    [Annotation.localDiscovery]: local,
    ...others
  } = derived.metadata.annotations ?? {};
  const targets = left.map(targetOf);
  const gone = targets.map((target) => target && federatedEntry(name, target.link.cluster));
  const stays = remote?.split(',').filter((entry) => !gone.includes(entry));
  const isLocal = local !== undefined && !targets.includes(undefined);
  if (stays?.join(',') === remote && isLocal === (local !== undefined)) return derived;
  const annotations = {
    ...others,
    ...(stays !== undefined && { [Annotation.remoteDiscovery]: stays.join(',') }),
    ...(isLocal && { [Annotation.localDiscovery]: local }),
  };
  const { name: own, namespace, labels } = derived.metadata;
  return { metadata: { name: own, namespace, labels, annotations }, spec: derived.spec } as Service;
}

/**
 * Returns all our objects unchanged, except that the ServiceImport names this operator and records the order of the
 * exports. Other changes are made in later passes, so that the operator that served the ServiceImport before can notice
 * the takeover (rule K7).
 * @param order the order of exports to record; undefined if the recorded order stays
 */
export function claimed(observed: ObservedImport, order: string | undefined): ImportManifests {
  const { namespace, live } = observed;
  if (live === undefined) return asItIs(observed);
  const { kind } = SERVICE_IMPORTS;
  const { name, labels = {}, annotations } = live.metadata;
  const marks = marksOf(observed, { kind, metadata: { name } }, order);
  const metadata = { name, namespace, labels, annotations: { ...annotations, ...marks } };
  const object = { metadata, spec: live.spec } as KubeObject;
  return { ...asItIs(observed), imports: [{ of: SERVICE_IMPORTS, object }], isPartial: true };
}

const ours = (of: Resource, name: string, object: KubeObject | undefined): readonly Desired[] =>
  object !== undefined && isOfImport(name, object) ? [{ of, object }] : [];

const slice = (object: KubeObject): Desired => ({ of: ENDPOINT_SLICES, object });

const service = (object: KubeObject): Desired => ({ of: SERVICES, object });

/** The manifests of a ServiceImport, and what its status reports: a refusal if it cannot be used, and notes. */
export interface DesiredImport {
  readonly manifests: ImportManifests;
  readonly refusal: ImportRefusal | undefined;
  /**
   * Notes for the status: pods that are left out, and clusters that no request reaches, with the reasons. Empty if
   * there are none.
   */
  readonly notes: readonly string[];
}

/** Returns the manifests for a plan, with a refusal if the ServiceImport cannot be used. */
export function desired(observed: ObservedImport, plan: ImportPlan): DesiredImport {
  const { derived, name, namespace, families } = observed;
  const { type, ipFamilies } = plan;
  const refused = (reason: ImportRefusal['reason'], message: string, isBlocked: boolean): DesiredImport => ({
    manifests: { ...NO_IMPORT, imports: importsIn(rendered(observed, plan, [])), isBlocked },
    refusal: { reason, message },
    notes: [],
  });
  if (ipFamilies.length === 0) {
    const message = `the Service has addresses of other families than this cluster, which has ${families.join(', ')}`;
    return refused('IPFamilyNotSupported', message, false);
  }
  const isHeadless = type === 'Headless';
  if (!isHeadless && derived !== undefined && !isOfImport(name, derived)) {
    const message = `Service ${namespace}/${derivedName(name)} exists and is not derived from this ServiceImport; it is left alone. Rename or delete it`;
    return refused('Pending', message, true);
  }
  const clusters = plan.sources.map((source) => sourceCluster(observed, source, plan));
  const objects = soundly(
    observed,
    plan,
    clusters.map(({ cluster }) => cluster),
  );
  const services = [
    ...objects.filter(({ kind }) => kind === 'Service'),
    ...clusters.flatMap(({ retained }) => retained.services),
  ].map(service);
  const endpoints = [
    ...objects.filter(({ kind }) => kind === 'EndpointSlice'),
    ...clusters.flatMap(({ retained }) => retained.slices),
  ].map(slice);
  const imports = importsIn(objects);
  const notes = clusters.flatMap((each) => each.notes);
  if (isHeadless || plan.ips.length > 0) {
    const isBlocked = clusters.some((each) => each.isBlocked);
    const all = { ...NO_IMPORT, imports, services, endpoints, isBlocked };
    return { manifests: unhidden(observed, plan, all), refusal: undefined, notes };
  }
  const pending = 'the API server has yet to choose an address for the derived Service';
  // Until the API server has chosen an address, an existing ServiceImport stays unchanged, and all existing slices
  // stay. If the ServiceImport was headless, the Services of its pods stay as well.
  const kept = standing(observed);
  return {
    manifests: { ...kept, services: [...services, ...observed.podServices.map(service)], isPartial: true },
    refusal: { reason: 'Pending', message: pending },
    notes,
  };
}

/**
 * Delays the removal of the annotations that make Linkerd ignore the slices of the derived Service. The annotations
 * stay until every desired slice exists and has a label that names a Service. Only a change from flat to gateway mode
 * needs this delay.
 */
function unhidden(observed: ObservedImport, { type, mode }: ImportPlan, manifests: ImportManifests): ImportManifests {
  const { name, derived, imported } = observed;
  if (type === 'Headless' || mode !== 'gateway') return manifests;
  if (derived === undefined || !isOfImport(name, derived) || !isFlat(derived)) return manifests;
  const shown = new Set(imported.filter(isOfService).map(({ metadata }) => metadata.name));
  if (manifests.endpoints.every(({ object }) => shown.has(object.metadata.name))) return manifests;
  return { ...manifests, services: ours(SERVICES, name, derived), isPartial: true };
}

const isOfService = ({ metadata }: EndpointSlice): boolean => metadata.labels?.[Label.serviceName] !== undefined;

const importsIn = (objects: readonly ApiJson[]): readonly Desired[] =>
  objects.filter(({ kind }) => kind === SERVICE_IMPORTS.kind).map((object) => ({ of: SERVICE_IMPORTS, object }));

/**
 * Renders the objects of all clusters. If the construct refuses the endpoints of a cluster, the cluster is rendered
 * without endpoints, so that the other clusters are imported all the same.
 */
function soundly(observed: ObservedImport, plan: ImportPlan, clusters: readonly ImportedCluster[]): readonly ApiJson[] {
  const render = (given: readonly ImportedCluster[]): readonly ApiJson[] => rendered(observed, plan, given);
  const isSound = (cluster: ImportedCluster): boolean => attempt(() => render([cluster])) !== undefined;
  const bare = ({ id, targetCluster, targetClusterDomain, ports }: ImportedCluster): ImportedCluster => ({
    id,
    targetCluster,
    targetClusterDomain,
    ports,
  });
  return (
    attempt(() => render(clusters)) ?? render(clusters.map((cluster) => (isSound(cluster) ? cluster : bare(cluster))))
  );
}

/** Returns the function's result; undefined if it throws. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Renders a ServiceImport that consists of these clusters, and adds the annotations of {@link marksOf}. */
const rendered = (
  observed: ObservedImport,
  { fields, sources: _, order, ...plan }: ImportPlan,
  clusters: readonly ImportedCluster[],
): readonly ApiJson[] =>
  renderOf(ServiceImport, {
    ...fields,
    ...plan,
    service: observed.name,
    namespace: observed.namespace,
    clusters,
  }).map((object) => {
    const marks = marksOf(observed, object, order);
    if (marks === undefined) return object;
    const { metadata } = object;
    return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...marks } } };
  });

/**
 * Returns the annotations that an object gets in addition to those of the construct. The ServiceImport and the derived
 * Service get an annotation that names the operator that serves the ServiceImport. The ServiceImport also gets an
 * annotation that records the order of the exports, if that order is known. Undefined for all other objects.
 */
function marksOf(
  { name, operators }: ObservedImport,
  { kind, metadata }: Pick<ApiJson, 'kind' | 'metadata'>,
  order: string | undefined,
): Readonly<Record<string, string>> | undefined {
  const mark = { [Annotation.operator]: operators.own };
  if (kind === SERVICE_IMPORTS.kind) return { ...mark, ...(order !== undefined && { [Annotation.exports]: order }) };
  return kind === SERVICES.kind && metadata.name === derivedName(name) ? mark : undefined;
}

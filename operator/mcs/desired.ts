/**
 * What must exist of one ServiceImport: observed state and what was decided in, manifests out, by rendering the construct
 * that users compose. Pure. The derived Service comes first: the ServiceImport has its address.
 */
import { type ApiJson, type ImportedCluster, renderOf, ServiceImport } from '../../constructs/mirror/index.ts';
import { derivedName } from '../../crds/mcs/derived-name.ts';
import { Label } from '../../crds/wire.ts';
import { ENDPOINT_SLICES, type EndpointSlice, type KubeObject, type Resource, SERVICES } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { isFlat } from '../source/owner.ts';
import type { ImportPlan, ImportRefusal } from './import-plan.ts';
import { isOfImport } from './membership.ts';
import { SERVICE_IMPORTS } from './objects.ts';
import type { ObservedImport } from './observed.ts';
import { importedCluster, retainedSlices } from './sources.ts';

/** The objects of one ServiceImport. */
export interface ImportManifests {
  readonly imports: readonly Desired[];
  readonly services: readonly Desired[];
  readonly endpoints: readonly Desired[];
  /** Whether more is desired once this has been written. */
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

/** Everything that is ours, as it is: nothing is written and nothing deleted. */
export const asItIs = ({ name, live, derived, imported }: ObservedImport): ImportManifests => ({
  ...NO_IMPORT,
  imports: ours(SERVICE_IMPORTS, name, live),
  services: ours(SERVICES, name, derived),
  endpoints: imported.map(slice),
});

const ours = (of: Resource, name: string, object: KubeObject | undefined): readonly Desired[] =>
  object !== undefined && isOfImport(name, object) ? [{ of, object }] : [];

const slice = (object: KubeObject): Desired => ({ of: ENDPOINT_SLICES, object });

/** The manifests of a ServiceImport, and why it cannot be used, if so. */
export interface DesiredImport {
  readonly manifests: ImportManifests;
  readonly refusal: ImportRefusal | undefined;
}

/** Returns what must exist of a ServiceImport. */
export function desired(observed: ObservedImport, plan: ImportPlan): DesiredImport {
  const { derived, name, namespace, families } = observed;
  const { type, ipFamilies } = plan;
  if (ipFamilies.length === 0) {
    const message = `the Service has addresses of other families than this cluster, which has ${families.join(', ')}`;
    return {
      manifests: { ...NO_IMPORT, imports: importsIn(rendered(observed, plan, [])) },
      refusal: { reason: 'IPFamilyNotSupported', message },
    };
  }
  const isHeadless = type === 'Headless';
  if (!isHeadless && derived !== undefined && !isOfImport(name, derived)) {
    const message = `Service ${namespace}/${derivedName(name)} exists and is not derived from this ServiceImport; it is left alone. Rename or delete it`;
    return {
      manifests: { ...NO_IMPORT, imports: importsIn(rendered(observed, plan, [])), isBlocked: true },
      refusal: { reason: 'Pending', message },
    };
  }
  const clusters = plan.sources.map((source) => sound(plan, observed, importedCluster(observed, source, plan)));
  const objects = rendered(observed, plan, clusters);
  const services = objects
    .filter(({ kind }) => kind === 'Service')
    .map((object): Desired => ({ of: SERVICES, object }));
  const endpoints = [
    ...objects.filter(({ kind }) => kind === 'EndpointSlice'),
    ...plan.sources.flatMap((source) => retainedSlices(observed, source, plan)),
  ].map(slice);
  const imports = importsIn(objects);
  if (isHeadless || plan.ips.length > 0) {
    const all = { ...NO_IMPORT, imports, services, endpoints };
    return { manifests: unhidden(observed, plan, all), refusal: undefined };
  }
  const pending = 'the API server has yet to choose an address for the derived Service';
  // The ServiceImport that there is stays, with the address that it had.
  const kept = ours(SERVICE_IMPORTS, name, observed.live);
  return {
    manifests: { ...NO_IMPORT, imports: kept, services, endpoints: observed.imported.map(slice), isPartial: true },
    refusal: { reason: 'Pending', message: pending },
  };
}

/** An annotation hides slices from Linkerd, so they are all the derived Service's before it goes. */
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

/** A cluster whose endpoints the construct refuses is imported without them: it must not keep others from being imported. */
function sound(plan: ImportPlan, observed: ObservedImport, cluster: ImportedCluster): ImportedCluster {
  try {
    rendered(observed, plan, [cluster]);
    return cluster;
  } catch {
    const { id, targetCluster, targetClusterDomain, ports } = cluster;
    return { id, targetCluster, targetClusterDomain, ports };
  }
}

/** The construct's objects for these clusters. */
const rendered = (
  observed: ObservedImport,
  { fields, sources: _, ...plan }: ImportPlan,
  clusters: readonly ImportedCluster[],
): readonly ApiJson[] =>
  renderOf(ServiceImport, { ...fields, ...plan, service: observed.name, namespace: observed.namespace, clusters });

/**
 * What must exist in the source cluster for one target Service: observed state in, manifests out, by rendering the same
 * constructs that users compose. Pure. Each pass renders what may be written now. Our Endpoints prove that no foreign
 * ones have the name, so they come before the Service. ClusterIPs are known after it. A name that a foreign Service has
 * never gets endpoints of ours.
 */
import { type ApiJson, MirrorService, type MirrorPort, renderOf } from '../../constructs/rendered/index.ts';
import { Annotation, Label, mirrorName, Value } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES, type Resource, type Service, SERVICES } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { bytesOf } from './bytes.ts';
import { gatewayEndpoints, gatewayEndpointsOf, refreshedEndpoints } from './gateway-endpoints.ts';
import type { NameOf } from './names.ts';
import type { Observed } from './observed.ts';
import { keptServices } from './kept-services.ts';
import { indexOf } from './owned-index.ts';
import { foreignObject, lostName, type Refusal } from './reasons.ts';
import { Rendered, type StayingRender } from './rendered.ts';
import { hostsOf, type MirroredShape, type Shape } from './shape.ts';
import { mirrorSubsets } from './target-endpoints.ts';

export interface Manifests {
  readonly namespaces: readonly Desired[];
  readonly services: readonly Desired[];
  readonly endpoints: readonly Desired[];
  /** Why the Service, or a part of it, is not mirrored. */
  readonly refusals: readonly Refusal[];
  /** Whether more is desired once this has been written. */
  readonly isPartial: boolean;
  /** Whether a foreign Service has a name that is needed. The key is then reconciled again later. */
  readonly isBlocked: boolean;
  /** Bytes of all that is to be there in the end, written now or not. @default 0 */
  readonly bytes?: number;
  /** Set if rendering has only begun, since it would hold the event loop: decide anew in the next turn. */
  readonly isUnfinished?: true;
}

/** A change of this annotation alone causes no write (rule B4). */
const COMPARISON = { ignoredAnnotations: new Set<string>([Annotation.remoteResourceVersion]) };

export const NOTHING: Manifests = {
  namespaces: [],
  services: [],
  endpoints: [],
  refusals: [],
  isPartial: false,
  isBlocked: false,
};

const UNFINISHED: Manifests = { ...NOTHING, isUnfinished: true };

/** @param pods what was rendered before, which is not rendered again. @default - everything is rendered */
export function desired(observed: Observed, shape: Shape, nameOf: NameOf, pods = new Rendered()): Manifests {
  const staying = pods.staying(`${observed.namespace}/${observed.name}`);
  const manifests = desiredOrBegun(observed, shape, nameOf, { pods, staying });
  staying.end();
  return staying.isUnfinished ? UNFINISHED : manifests;
}

/** What renders, and remembers what it has rendered. */
interface Renderers {
  readonly pods: Rendered;
  readonly staying: StayingRender;
}

function desiredOrBegun(observed: Observed, shape: Shape, nameOf: NameOf, { pods, staying }: Renderers): Manifests {
  switch (shape.kind) {
    case 'undecided':
      return keptAs(observed, staying);
    case 'absent':
      return NOTHING;
    case 'refused':
      return {
        ...(shape.existing === 'keep' ? keptAs(observed, staying) : NOTHING),
        refusals: [shape.refusal],
      };
    case 'flat':
    case 'clusterIP':
    case 'headless': {
      const own = nameOf();
      const retained = (): Manifests => retainedAs(observed, shape, staying);
      if (own === undefined || 'lostTo' in own) return { ...retained(), refusals: [lostName(observed, own)] };
      const { link, namespace, namespaceState } = observed;
      const rendered =
        shape.kind === 'headless' ? headless(observed, shape, nameOf, { pods, staying }) : single(observed, shape);
      if (rendered.isUnfinished) return rendered;
      const { services, endpoints } = retained();
      return {
        ...rendered,
        services: [...rendered.services, ...services],
        endpoints: [...rendered.endpoints, ...endpoints],
        namespaces: namespaceState === 'missing' ? [namespaceManifest(namespace, link.cluster)] : [],
      };
    }
  }
}

function single(observed: Observed, shape: MirroredShape): Manifests {
  const local = mirrorName(observed.name, observed.link.cluster);
  const isFlat = shape.kind === 'flat';
  const endpoints = isFlat ? undefined : shape.endpoints;
  const objects = renderOf(MirrorService, {
    ...common(observed, shape.service),
    mode: isFlat ? 'remote-discovery' : 'gateway',
    endpoints: endpoints && gatewayEndpoints(observed, local, endpoints.anyReady),
  });
  return writable(observed, local, objects);
}

function headless(
  observed: Observed,
  shape: MirroredShape & { readonly kind: 'clusterIP' | 'headless' },
  nameOf: NameOf,
  { pods, staying }: Renderers,
): Manifests {
  const { link, name, owned } = observed;
  const local = mirrorName(name, link.cluster);
  const { services } = indexOf(owned);
  const { endpoints } = shape;
  const render = pods.begin(common(observed, shape.service));
  const parts: Manifests[] = [];
  const clusterIPs = new Map<string, string>();
  const gatewayOf = gatewayEndpointsOf(observed, endpoints?.anyReady === true);
  for (const host of hostsOf(shape)) {
    const given = nameOf(host.hostname);
    if (given === undefined || 'lostTo' in given) {
      parts.push({ ...NOTHING, refusals: [lostName(observed, given, host.hostname)] });
      continue;
    }
    const ip = services.get(given.name)?.spec?.clusterIP;
    if (ip !== undefined && ip !== '' && ip !== 'None') clusterIPs.set(host.hostname, ip);
    try {
      const rendered = render.pod({
        hostname: host.hostname,
        name: given.name,
        ports: host.ports,
        endpoints: gatewayOf(given.name),
      });
      if (rendered === undefined) return UNFINISHED;
      parts.push(writable(observed, given.name, rendered));
    } catch (error) {
      const refusals: Refusal[] = [{ reason: 'InvalidService', message: describe(error) }];
      parts.push({ ...kept(observed, given.name, staying), refusals });
    }
  }
  const mirror = render.mirror(
    endpoints && {
      identity: observed.gateway?.identity,
      kind: link.endpointsKind,
      subsets: mirrorSubsets(endpoints.subsets, clusterIPs),
    },
  );
  parts.push(writable(observed, local, mirror));
  return merged(parts);
}

/** Reports whether what has the name of a Service stays as it is. */
type Stays = (service: string) => boolean;

/** Our Services as they are, and endpoints of ours, which follow the gateway. @param stays @default - all */
const keptAs = (observed: Observed, staying: StayingRender, stays: Stays = () => true): Manifests => ({
  ...NOTHING,
  services: keptServices(
    observed,
    observed.owned.services.filter(({ metadata }) => stays(metadata.name)),
  ),
  endpoints: refreshedEndpoints(observed, staying, stays).map(toDesired),
});

/**
 * Some of our Services that stay as they are, and their endpoints, which follow the gateway.
 * @param pods what was rendered before
 */
export function stayingAs(observed: Observed, pods: Rendered, stays: Stays): Manifests {
  const staying = pods.staying(`${observed.namespace}/${observed.name}`);
  const kept = keptAs(observed, staying, stays);
  staying.end();
  return staying.isUnfinished ? UNFINISHED : kept;
}

/** One of our Services as it is, and its endpoints, which follow the gateway: what it must be no construct takes. */
function kept(observed: Observed, name: string, staying: StayingRender): Manifests {
  const live = indexOf(observed.owned).services.get(name);
  if (live === undefined) return NOTHING;
  const manifests = keptAs(observed, staying, (service) => service === name);
  return manifests.services.length > 0 ? manifests : { ...manifests, services: [{ of: SERVICES, object: live }] };
}

/** While the endpoints of the target are not known, ours stay, and still follow the gateway (rules F3, G1). */
function retainedAs(observed: Observed, shape: MirroredShape, staying: StayingRender): Manifests {
  if (shape.kind === 'flat' || shape.endpoints !== undefined) return NOTHING;
  const local = mirrorName(observed.name, observed.link.cluster);
  const manifests = keptAs(observed, staying, shape.kind === 'headless' ? undefined : (service) => service === local);
  // What the mirror itself must be is known.
  return { ...manifests, services: manifests.services.filter(({ object }) => object.metadata.name !== local) };
}

function common({ link, name, namespace }: Observed, service: Service) {
  const { labels, annotations, resourceVersion } = service.metadata;
  return {
    service: name,
    namespace,
    targetCluster: link.cluster,
    targetClusterDomain: link.clusterDomain,
    labels,
    annotations,
    excludedLabels: link.excludedLabels,
    excludedAnnotations: link.excludedAnnotations,
    remoteResourceVersion: resourceVersion,
    ports: (service.spec?.ports ?? []).map(
      ({ name: portName, protocol, port, targetPort, appProtocol }) =>
        ({ name: portName, protocol, port, targetPort, appProtocol }) as MirrorPort,
    ),
  };
}

const KINDS: Readonly<Record<string, Resource>> = {
  Service: SERVICES,
  Endpoints: ENDPOINTS,
  EndpointSlice: ENDPOINT_SLICES,
};

/** Returns a rendered object with the rules by which it is compared. */
export function toDesired(object: ApiJson): Desired {
  const of = KINDS[object.kind];
  if (of === undefined) throw new TypeError(`kind ${object.kind} must be Service, Endpoints or EndpointSlice`);
  return { of, object, ...(of === SERVICES ? { comparison: COMPARISON } : {}) };
}

/**
 * Returns what may be written now of a rendered Service and its endpoints.
 * - If the Service is ours: everything.
 * - If a foreign Service has the name: nothing.
 * - Otherwise: v1 Endpoints first, which can be created only where there are none, and the Service in the next pass. If
 *   no Endpoints are rendered, the Service comes first, and the applier looks for foreign Endpoints before it creates
 *   it.
 */
export function writable(
  { owned, namespace, isForeign }: Pick<Observed, 'owned' | 'namespace' | 'isForeign'>,
  name: string,
  objects: readonly ApiJson[],
): Manifests {
  const { services, endpoints, bytes, all } = desiredOf(objects);
  if (indexOf(owned).services.has(name)) return all;
  if (isForeign(name)) {
    return { ...NOTHING, refusals: [foreignObject('Service', `${namespace}/${name}`)], isBlocked: true };
  }
  const proof = endpoints.filter(({ of }) => of === ENDPOINTS);
  if (proof.length === 0) return { ...NOTHING, services, bytes };
  const isProven = indexOf(owned).endpoints.has(name);
  return isProven
    ? { ...NOTHING, services: services.map((each) => ({ ...each, endpointsProven: true })), endpoints: proof, bytes }
    : { ...NOTHING, endpoints: proof, isPartial: true, bytes };
}

interface DesiredObjects extends Required<Pick<Manifests, 'services' | 'endpoints' | 'bytes'>> {
  /** All of them. */
  readonly all: Manifests;
}

const known = new WeakMap<readonly ApiJson[], DesiredObjects>();

/** Returns rendered objects as they are desired; the same ones if they are not rendered anew. */
function desiredOf(objects: readonly ApiJson[]): DesiredObjects {
  const before = known.get(objects);
  if (before !== undefined) return before;
  const all = objects.map(toDesired);
  const services = all.filter(({ of }) => of === SERVICES);
  const endpoints = all.filter(({ of }) => of !== SERVICES);
  const bytes = objects.reduce((sum, object) => sum + bytesOf(object), 0);
  const found = { services, endpoints, bytes, all: { ...NOTHING, services, endpoints, bytes } };
  known.set(objects, found);
  return found;
}

function merged(parts: readonly Manifests[]): Manifests {
  const services: Desired[] = [];
  const endpoints: Desired[] = [];
  const refusals: Refusal[] = [];
  let [isPartial, isBlocked, bytes] = [false, false, 0];
  for (const part of parts) {
    services.push(...part.services);
    endpoints.push(...part.endpoints);
    refusals.push(...part.refusals);
    isPartial ||= part.isPartial;
    isBlocked ||= part.isBlocked;
    bytes += part.bytes ?? 0;
  }
  return { namespaces: [], services, endpoints, refusals, isPartial, isBlocked, bytes };
}

const namespaceManifest = (name: string, cluster: string): Desired => ({
  of: NAMESPACES,
  object: {
    metadata: { name, labels: { [Label.mirroredService]: Value.true, [Label.clusterName]: cluster } },
  },
});

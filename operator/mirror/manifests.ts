/**
 * What is to be written for one target Service, as a value: rendered objects with the rules by which they are compared,
 * and what of them may be written now. Our Endpoints prove that no foreign ones have the name, so they come before the
 * Service. A name that a foreign Service has never gets endpoints of ours.
 */
import type { ApiJson } from '../../constructs/rendered/index.ts';
import { Annotation } from '../../crds/wire.ts';
import { ENDPOINT_SLICES, ENDPOINTS, type Resource, SERVICES } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { sizeOf } from './bytes.ts';
import type { Observed } from './observed.ts';
import { indexOf } from './owned-index.ts';
import { foreignObject, type Refusal } from './reasons.ts';

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

export const UNFINISHED: Manifests = { ...NOTHING, isUnfinished: true };

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
 *   it. Slices that are left of a Service which somebody has deleted stay for the next one, so that it is ready at
 *   once.
 */
export function writable(
  { owned, namespace, isForeign }: Pick<Observed, 'owned' | 'namespace' | 'isForeign'>,
  name: string,
  desired: Manifests,
): Manifests {
  const { services, endpoints } = desired;
  if (indexOf(owned).services.has(name)) return desired;
  if (isForeign(name)) {
    return { ...NOTHING, refusals: [foreignObject('Service', `${namespace}/${name}`)], isBlocked: true };
  }
  const proof = endpoints.filter(({ of }) => of === ENDPOINTS);
  if (proof.length === 0) {
    const { sliceNames } = indexOf(owned);
    const left = endpoints.filter(({ object }) => sliceNames.has(object.metadata.name));
    return { ...desired, endpoints: left };
  }
  const isProven = indexOf(owned).endpoints.has(name);
  return isProven
    ? { ...desired, services: services.map((each) => ({ ...each, endpointsProven: true })), endpoints: proof }
    : { ...desired, services: [], endpoints: proof, isPartial: true };
}

/**
 * Returns rendered objects as they are desired. Whoever keeps what he has rendered keeps this: a plan knows each by
 * identity.
 */
export function desiredOf(objects: readonly ApiJson[]): Manifests {
  const all = objects.map(toDesired);
  return {
    ...NOTHING,
    services: all.filter(({ of }) => of === SERVICES),
    endpoints: all.filter(({ of }) => of !== SERVICES),
    bytes: objects.reduce((sum, object) => sum + sizeOf(object), 0),
  };
}

/** Returns what several come to. */
export function merged(parts: readonly Manifests[]): Manifests {
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

/**
 * Renders the manifests of one federated Service from what is observed and from its members. The manifests come from a
 * construct that users can use too. A membership that this operator cannot decide about now stays. Pure.
 */
import { type ApiJson, FederatedService, renderOf } from '../../constructs/rendered/index.ts';
import { Annotation, federatedName, Label, Value } from '../../crds/wire.ts';
import { ENDPOINT_SLICES, type EndpointSlice, NAMESPACES, type Service, SERVICES } from '../kube/objects.ts';
import { desiredOf, type Manifests, NOTHING, writable } from '../mirror/manifests.ts';
import type { OwnedObjects } from '../mirror/observed.ts';
import type { Desired } from '../runtime/plan.ts';
import { isFederated, isFlat, memberOf } from '../source/owner.ts';
import type { Admission } from './admission.ts';
import { type Member, portsIn } from './member.ts';
import { createsNamespace } from './refusals.ts';
import { followingGateways, gatewayMember, hiddenSlices, localSlices, retainedSlices } from './member-slices.ts';
import { membershipOf } from './membership.ts';
import type { ObservedFederation } from './observed.ts';

/**
 * Returns the objects that are ours, and the slices that others have made for the federated Service. A Service with the
 * name of the federated Service is ours only if it is a federated Service (rule I8). The slices of others are left out
 * unless the namespace exists.
 */
export const ownedOf = ({ live, slices, foreign, namespaceState }: ObservedFederation): OwnedObjects => ({
  services: live !== undefined && isFederated(live) ? [live] : [],
  endpoints: [],
  slices,
  foreign: namespaceState === 'exists' ? foreign : undefined,
});

/**
 * Returns the manifests of one federated Service.
 * @param isAwaited whether a cluster might still have a member, so that the Service is kept even without members
 *   (awaited.ts)
 */
export function desired(observed: ObservedFederation, admission: Admission, isAwaited: boolean): Manifests {
  const { mode, members, isWritable, refused } = admission;
  if (!isWritable) return observed.namespaceState === 'missing' ? standing(observed) : asItIs(observed);
  const isBlocked = refused.some(({ refusal }) => refusal.reason === 'NameConflict');
  if (members.length === 0) {
    const services = isAwaited ? ownedOf(observed).services.flatMap((live) => emptied(observed, live)) : [];
    return {
      ...NOTHING,
      services: services.map((object) => ({ of: SERVICES, object })),
      endpoints: hiddenSlices(observed, members).map(slice),
      isBlocked,
    };
  }
  // If somebody has deleted the federated Service, its content is not known until a member is known.
  if (membershipOf(observed)?.isDeleted === true && members.every(({ service }) => service === undefined))
    return standing({ ...observed, slices: slicesOf(observed, members) });
  const isHidden = mode === 'gateway' && membershipOf(observed)?.mode === 'remote-discovery';
  if (isHidden && !members.every((each) => hasKnownEndpoints(observed, each))) return standing(observed);
  const [service, ...slices] = rendered(observed, admission);
  if (service === undefined) throw new TypeError('a federated Service must be rendered first');
  const retained = [
    ...(mode === 'gateway' ? retainedSlices(observed, members) : []),
    ...hiddenSlices(observed, members),
  ];
  const name = federatedName(observed.name);
  const manifests = writable(
    { ...observed, owned: ownedOf(observed), isForeign: () => false },
    name,
    desiredOf([service, ...slices]),
  );
  const endpoints = [...manifests.endpoints, ...retained.map(slice)];
  // Linkerd ignores slices while the Service has a membership annotation, so the annotation stays until all slices
  // exist.
  if (
    isHidden &&
    !slices.every(({ metadata }) => observed.slices.some((each) => each.metadata.name === metadata.name))
  ) {
    return { ...asItIs(observed), endpoints, isPartial: true };
  }
  // Both annotations are removed in one write, even if another field manager owns one of them. If one annotation
  // stayed, Linkerd would ignore the slices, and would lose the members that only the removed annotation named.
  const services = manifests.services.map((each): Desired => (isHidden ? { ...each, atOnce: true } : each));
  return { ...manifests, services, endpoints, namespaces: namespacesOf(observed) };
}

/** Returns the existing slices of these members. */
function slicesOf({ slices }: ObservedFederation, members: readonly Member[]): readonly EndpointSlice[] {
  const clusters = new Set(members.map(({ target }) => target?.link.cluster));
  return slices.filter((each) => clusters.has(memberOf(each)));
}

/**
 * Reports whether the endpoints of a member are known. Only then can slices replace the member's entry in an
 * annotation.
 */
const hasKnownEndpoints = ({ local }: ObservedFederation, { target }: Member): boolean =>
  target === undefined ? local.slices !== undefined : target.anyReady !== undefined;

/** Returns all our objects unchanged, so that nothing is written or deleted. */
export const asItIs = (observed: ObservedFederation): Manifests => ({
  ...NOTHING,
  services: ownedOf(observed).services.map((object) => ({ of: SERVICES, object })),
  endpoints: observed.slices.map(slice),
});

/**
 * Returns all our objects unchanged, except that slices follow their gateways ({@link followingGateways}, rule F3).
 */
export const standing = (observed: ObservedFederation): Manifests => ({
  ...asItIs(observed),
  endpoints: followingGateways(observed).map(slice),
});

const slice = (object: EndpointSlice | ApiJson): Desired => ({ of: ENDPOINT_SLICES, object });

/** Renders the federated Service and, in gateway mode, the slices of members whose endpoints are known. */
function rendered(observed: ObservedFederation, { mode, members }: Admission): readonly ApiJson[] {
  const { name, namespace, live } = observed;
  const [first] = members;
  const metadata = (first?.service ?? live)?.metadata;
  const isGateway = mode === 'gateway';
  const ports = portsIn(mode, first?.service ?? live);
  const local = members.some(({ target }) => target === undefined);
  const [service, ...slices] = renderOf(FederatedService, {
    service: name,
    namespace,
    mode,
    ports,
    labels: metadata?.labels,
    annotations: metadata?.annotations,
    excludedLabels: first?.target?.link.excludedLabels,
    excludedAnnotations: first?.target?.link.excludedAnnotations,
    members: members.flatMap((each) => {
      if (each.target === undefined) return [];
      return [isGateway ? gatewayMember(observed, each, each.target) : { targetCluster: each.target.link.cluster }];
    }),
    local: local ? { slices: isGateway ? localSlices(observed) : undefined } : undefined,
  });
  if (service === undefined || live === undefined || first === undefined || first.service !== undefined) {
    return service === undefined ? [] : [service, ...slices];
  }
  return [withMetadataOf(live, service), ...slices];
}

/**
 * Returns the federated Service without members:
 * - In gateway mode, if that is its present mode, and this operator holds the Lease of local memberships.
 * - In flat mode in all other cases, with an empty list of members. Without that Lease, the list is needed: Linkerd's
 *   local service mirror deletes a federated Service that has no list (rule I7).
 */
function emptied(observed: ObservedFederation, live: Service): readonly ApiJson[] {
  const { name, namespace, local } = observed;
  const isAsItIs = local.isHeld && !isFlat(live);
  const ports = portsIn('remote-discovery', live);
  const { [Label.federation]: _, ...labels } = live.metadata.labels ?? {};
  const { [Annotation.localDiscovery]: __, ...annotations } = live.metadata.annotations ?? {};
  const metadata = isAsItIs
    ? { labels: live.metadata.labels ?? {}, annotations: live.metadata.annotations ?? {} }
    : { labels, annotations: { ...annotations, [Annotation.remoteDiscovery]: '' } };
  return renderOf(FederatedService, { service: name, namespace, ports, local: {} }).map((service) => ({
    ...service,
    metadata: { ...service.metadata, ...metadata },
  }));
}

/**
 * Returns the rendered Service with the labels and annotations of the existing Service. Used if the membership of the
 * first member stays as it is: labels and annotations come from the first member (rule I3), so they stay too, whoever
 * wrote them (rule I6). Only the membership annotations are those of the rendered Service: existing ones that are not
 * rendered are removed.
 */
function withMetadataOf({ metadata: { labels = {}, annotations = {} } }: Service, service: ApiJson): ApiJson {
  const { [Annotation.remoteDiscovery]: _, [Annotation.localDiscovery]: __, ...others } = annotations;
  const memberships = [Annotation.remoteDiscovery, Annotation.localDiscovery].flatMap((key) => {
    const value = service.metadata.annotations?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    ...service,
    metadata: { ...service.metadata, labels, annotations: { ...others, ...Object.fromEntries(memberships) } },
  };
}

/**
 * Returns a list with the namespace if it is missing and must be created for the Service of a target, even if that
 * Service does not join. The list is empty in all other cases.
 */
function namespacesOf({ namespace, namespaceState, targets }: ObservedFederation): readonly Desired[] {
  const creator = namespaceState === 'missing' ? targets.find(createsNamespace) : undefined;
  if (creator === undefined) return [];
  const labels = { [Label.mirroredService]: Value.true, [Label.clusterName]: creator.link.cluster };
  return [{ of: NAMESPACES, object: { metadata: { name: namespace, labels } } }];
}

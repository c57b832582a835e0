/**
 * The slices of a federated Service in gateway mode (rule I5). The construct renders the slices of members whose
 * endpoints are known. The existing slices of other members stay. Only what they say about the gateway is updated: its
 * addresses, port, identity and readiness. Pure.
 */
import {
  type ApiJson,
  endpointsObjects,
  type EndpointPort,
  type CopiedSlice,
  type FederatedGateway,
  type FederatedMember,
  gatewaySubset,
  render,
} from '../../constructs/rendered/index.ts';
import { Annotation, federatedName } from '../../crds/wire.ts';
import { ENDPOINT_SLICES, type EndpointSlice, type SliceEndpoint } from '../kube/objects.ts';
import type { Manifests } from '../mirror/manifests.ts';
import type { Desired } from '../runtime/plan.ts';
import { type Member, portsIn } from './member.ts';
import { memberOf } from '../source/owner.ts';
import type { ObservedFederation, TargetParty } from './observed.ts';

/**
 * Returns a target's member in the form that the construct takes, with the present endpoints of the gateway. Whatever
 * is not known about the gateway or the pods is taken from the existing slices. For example, until the first verdict of
 * the probes, the slices say whether the gateway is alive (rule F2). The result has no endpoints if the cluster's
 * `knowledge` is not `known`, if the target has no known gateway, or if neither the gateway nor the existing slices
 * have an address. The construct then renders no slices for the member.
 */
export function gatewayMember(observed: ObservedFederation, { service }: Member, target: TargetParty): FederatedMember {
  const { link, knowledge } = target;
  const targetCluster = link.cluster;
  const endpoints = gatewayEndpointsOf(target, slicesOf(observed, targetCluster));
  // The domain of a cluster without a session is not known.
  if (knowledge !== 'known' || endpoints === undefined) return { targetCluster };
  return { targetCluster, targetClusterDomain: link.clusterDomain, ports: portsIn('gateway', service), endpoints };
}

/** Fields of a target that decide about the endpoints of its gateway. */
export type GatewayTarget = Pick<TargetParty, 'gateway' | 'anyReady'>;

/**
 * Returns the endpoints of a target's gateway. Whatever is not known about the gateway or the pods is taken from the
 * target's existing slices. Undefined if the target has no known gateway, or if neither the gateway nor the slices have
 * an address.
 */
export function gatewayEndpointsOf(
  { gateway, anyReady }: GatewayTarget,
  slices: readonly EndpointSlice[],
): FederatedGateway | undefined {
  const { listed, ...live } = liveOf(gateway, slices);
  if (gateway === undefined || live.addresses.length === 0) return undefined;
  return { ...live, ready: anyReady ?? listed.length > 0 };
}

/**
 * Returns copies of the slices of the local Service, except those with host names (address type FQDN). The list is
 * empty while the local Service or its slices are not known, or while this operator does not decide about the local
 * membership.
 */
export const localSlices = ({ local: { knowledge, slices = [] } }: ObservedFederation): readonly CopiedSlice[] =>
  knowledge === 'known' ? slices.filter(isOfAddresses).map(asCopied) : [];

/** Reports whether the endpoints of a slice have IP addresses. */
export const isOfAddresses = ({ addressType }: EndpointSlice): boolean => addressType !== 'FQDN';

/** Returns the fields of a slice that the construct copies. Hostnames, and ports without a number, are left out. */
export const asCopied = ({ metadata, addressType, endpoints, ports }: EndpointSlice): CopiedSlice => ({
  name: metadata.name,
  addressType: addressType as CopiedSlice['addressType'],
  endpoints: (endpoints ?? []).map(localEndpoint),
  ports: (ports ?? []).filter(({ port }) => typeof port === 'number') as CopiedSlice['ports'],
});

type LocalEndpoint = CopiedSlice['endpoints'][number];

const localEndpoint = ({ addresses, conditions, targetRef, nodeName, zone }: SliceEndpoint): LocalEndpoint => ({
  addresses,
  conditions: Object.fromEntries(Object.entries(conditions ?? {}).filter(([, value]) => typeof value === 'boolean')),
  targetRef: podRef(targetRef),
  nodeName,
  zone,
});

function podRef(ref: unknown): LocalEndpoint['targetRef'] {
  if (typeof ref !== 'object' || ref === null) return undefined;
  const { kind, name, namespace, uid } = ref as NonNullable<LocalEndpoint['targetRef']>;
  return { kind, name, namespace, uid };
}

/**
 * Returns the existing slices of those members for which the construct renders none:
 * - If this operator does not hold the Lease of the Link of a target (`knowledge` is `anothers`), the target's slices
 *   stay unchanged.
 * - If the Service of any other target is not known or is too large, the target's slices get the present state of its
 *   gateway ({@link refreshedSlices}).
 * - If neither the gateway of a target nor its slices have an address, the target's slices stay unchanged.
 * - If the Service or the slices of the local member are not known, its slices stay unchanged.
 */
export function retainedSlices(
  observed: ObservedFederation,
  members: readonly Member[],
): readonly (EndpointSlice | ApiJson)[] {
  return members.flatMap((member) => {
    const { target, service } = member;
    if (target === undefined) {
      const isKnown = service !== undefined && observed.local.slices !== undefined;
      return isKnown ? [] : slicesOf(observed, undefined);
    }
    if (service === undefined && target.knowledge !== 'anothers') return refreshed(observed, target);
    const isRendered = gatewayMember(observed, member, target).endpoints !== undefined;
    return isRendered ? [] : slicesOf(observed, target.link.cluster);
  });
}

/**
 * Returns the existing slices of those targets that are not among the members, and whose Services are not known. Such
 * slices exist, for example, if an annotation that somebody else wrote makes the federated Service flat, and so hides
 * the slices from Linkerd. The slices are memberships all the same (rule I6), and lead to their targets again once the
 * annotation is gone. Meanwhile they follow their gateways ({@link followingGateways}).
 */
export const hiddenSlices = (
  observed: ObservedFederation,
  members: readonly Member[],
): readonly (EndpointSlice | ApiJson)[] => {
  const decided = new Set(members.map(({ target }) => target?.link.cluster));
  const targets = observed.targets.filter(({ knowledge, link }) => knowledge !== 'known' && !decided.has(link.cluster));
  const clusters = new Set<string | undefined>(targets.map(({ link }) => link.cluster));
  const slices = observed.slices.filter((each) => clusters.has(memberOf(each)));
  return followingGateways({ ...observed, targets, slices });
};

/**
 * Returns all existing slices. The slices of a target get the present state of its gateway ({@link refreshedSlices}).
 * If this operator does not hold the Lease of the target's Link (`knowledge` is `anothers`), they stay unchanged.
 */
export function followingGateways(observed: ObservedFederation): readonly (EndpointSlice | ApiJson)[] {
  // For a cluster whose Lease somebody else might hold, nothing is written (rule H1).
  const followed = observed.targets.filter(({ knowledge }) => knowledge !== 'anothers');
  const clusters = new Set<string | undefined>(followed.map(({ link }) => link.cluster));
  return [
    ...observed.slices.filter((each) => !clusters.has(memberOf(each))),
    ...followed.flatMap((target) => refreshed(observed, target)),
  ];
}

/**
 * Returns the manifests with some slices added that are due to be deleted: existing slices that the manifests lack,
 * that belong to a target with a dead gateway, and that still list ready endpoints. These slices are written as not
 * ready first (rule F3), because their deletion might have to wait until another object of the same Service can be
 * written. Slices that `follow` returns unchanged are not added. If any slice is added, the manifests are marked as
 * partial.
 * @param existing all existing slices
 * @param follow returns all existing slices, those of the given targets with the present state of their gateways
 */
export function withDying<M extends Pick<Manifests, 'endpoints' | 'isPartial'>, T extends Pick<TargetParty, 'gateway'>>(
  manifests: M,
  existing: readonly EndpointSlice[],
  targets: readonly T[],
  follow: (dead: readonly T[]) => readonly Desired['object'][],
): M {
  const dead = targets.filter(({ gateway }) => gateway?.alive === false);
  if (dead.length === 0) return manifests;
  const stays = new Set(manifests.endpoints.map(({ object }) => object.metadata.name));
  const isReady = ({ endpoints }: EndpointSlice): boolean =>
    endpoints?.some(({ conditions }) => conditions?.ready === true) === true;
  const ready = new Set(existing.filter(isReady).map(({ metadata }) => metadata.name));
  const asTheyAre = new Set<unknown>(existing);
  const slices = follow(dead)
    .filter((each) => ready.has(each.metadata.name) && !stays.has(each.metadata.name) && !asTheyAre.has(each))
    .map((object): Desired => ({ of: ENDPOINT_SLICES, object }));
  return slices.length === 0
    ? manifests
    : { ...manifests, endpoints: [...manifests.endpoints, ...slices], isPartial: true };
}

/** Returns the existing slices of a target with the present state of its gateway ({@link refreshedSlices}). */
function refreshed(observed: ObservedFederation, target: TargetParty): readonly (EndpointSlice | ApiJson)[] {
  const { cluster } = target.link;
  const service = federatedName(observed.name);
  return refreshedSlices(target, slicesOf(observed, cluster), { service, slicePrefix: `${service}.${cluster}` });
}

/**
 * Returns existing slices of one target with the present addresses, port, identity and readiness of its gateway (rules
 * C1, I6). If the Link no longer has a gateway, no endpoint is ready. The slices stay unchanged in these cases:
 * - None of the slices has endpoints.
 * - Neither the gateway nor the slices that lead to it have an address.
 * - It is not known whether the Link has a gateway.
 * @param of `service` is the name of the Service that the slices belong to, and `slicePrefix` is how the names of the
 *   slices begin. Neither is read from the labels of the slices, because somebody might have removed the labels
 */
export function refreshedSlices(
  { gateway, lacksGateway = false }: Pick<TargetParty, 'gateway' | 'lacksGateway'>,
  slices: readonly EndpointSlice[],
  of: { readonly service: string; readonly slicePrefix: string },
): readonly (EndpointSlice | ApiJson)[] {
  const [first] = slices;
  // Copies of the target's own slices contain the addresses of pods, and show nothing of the target's gateway.
  const { port, identity, addresses, alive } = liveOf(
    gateway,
    slices.filter(({ metadata }) => metadata.name.startsWith(`${of.slicePrefix}-ipv`)),
  );
  const isEmpty = slices.every(({ endpoints }) => (endpoints ?? []).length === 0);
  if (first === undefined || isEmpty || addresses.length === 0) return slices;
  const { labels = {}, namespace = '' } = first.metadata;
  if (gateway === undefined && !lacksGateway) return slices;
  const { [Annotation.remoteGatewayIdentity]: _, ...others } = first.metadata.annotations ?? {};
  return render((chart) => {
    endpointsObjects(chart, {
      name: of.service,
      namespace,
      slicePrefix: of.slicePrefix,
      labels,
      annotations: identity === undefined ? others : { ...others, [Annotation.remoteGatewayIdentity]: identity },
      kind: 'slices',
      subsets: [
        gatewaySubset(
          { port, addresses, alive: alive && !lacksGateway, ready: true },
          (first.ports ?? []) as readonly EndpointPort[],
        ),
      ],
    });
  });
}

/**
 * Returns the addresses, port and identity of a gateway, whether the gateway is alive, and the endpoints (`listed`) of
 * the existing slices. If no address of the gateway is known, its addresses, port and identity are taken from the
 * slices. While the probe has no verdict, the first of these cases that applies decides whether the gateway is alive:
 * - The slices list endpoints: it is alive if all of them are ready.
 * - An earlier verdict is known: the last one counts.
 * - Neither is the case: it is alive.
 */
function liveOf(
  gateway: GatewayTarget['gateway'],
  slices: readonly EndpointSlice[],
): Omit<FederatedGateway, 'ready'> & { readonly listed: readonly SliceEndpoint[] } {
  const listed = slices.flatMap(({ endpoints }) => endpoints ?? []);
  const { addresses = [], port = 0, identity } = gateway ?? {};
  const leads = slices.find(({ endpoints }) => (endpoints ?? []).length > 0);
  const former = {
    addresses: listed.flatMap((each) => each.addresses),
    port: leads?.ports?.[0]?.port ?? port,
    identity: leads?.metadata.annotations?.[Annotation.remoteGatewayIdentity],
  };
  return {
    ...(addresses.length > 0 ? { addresses, port, identity } : former),
    listed,
    alive: gateway?.alive ?? (listed.length > 0 ? areReady(listed) : gateway?.wasAlive !== false),
  };
}

const areReady = (listed: readonly SliceEndpoint[]): boolean =>
  listed.every(({ conditions }) => conditions?.ready !== false);

const slicesOf = ({ slices }: ObservedFederation, cluster: string | undefined): readonly EndpointSlice[] =>
  slices.filter((each) => memberOf(each) === cluster);

/**
 * The form of a target Service's mirror, or why it has none: rules A1, A3 to A5, and D1 to D3. Pure.
 */
import { Annotation, Label, mirrorName, Value } from '../../crds/wire.ts';
import { isServiceName } from '../../crds/names.ts';
import type { Service, ServicePort } from '../kube/objects.ts';
import { ByHostname } from './by-hostname.ts';
import { endpointMirrors } from './endpoint-mirrors.ts';
import {
  beyondNamespaces,
  missingNamespace,
  type Refusal,
  type RefusalReason,
  unreadableNamespace,
} from './reasons.ts';
import { type Claim, type ClaimOwner, endpointMirrorNames } from './names.ts';
import type { LinkView, Observed } from './observed.ts';
import { indexOf } from './owned-index.ts';
import { podsWithin } from './pod-limit.ts';
import { readSlices, subsetsOf, type TargetEndpoints, type TargetHost, withDeparted } from './target-endpoints.ts';

export type Shape =
  /**
   * Not known. Everything stays as it is, and only the gateway is kept up to date. If the target has yet to confirm
   * what takes the mirror away, it must be asked.
   */
  | { readonly kind: 'undecided'; readonly isUnconfirmed?: true }
  /** Not exported. All mirrors of it are removed. */
  | { readonly kind: 'absent' }
  /** Not mirrored. Existing mirrors are removed, or kept where they may not be written to. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly existing: 'remove' | 'keep' }
  | { readonly kind: 'flat'; readonly service: Service }
  | {
      readonly kind: 'clusterIP' | 'headless';
      readonly service: Service;
      /** Undefined while they are not known. */
      readonly endpoints: TargetEndpoints | undefined;
      /** Message that says what of the Service its mirror cannot have. */
      readonly note?: string;
    };

const refused = (reason: RefusalReason, message: string, existing: 'remove' | 'keep' = 'remove'): Shape => ({
  kind: 'refused',
  refusal: { reason, message },
  existing,
});

export function shapeOf(observed: Observed): Shape {
  const shape = shapeAsObserved(observed);
  const takesAway =
    shape.kind === 'absent' ||
    (shape.kind === 'refused' && shape.existing === 'remove') ||
    isNoLongerByPod(observed, shape);
  if (!takesAway || observed.isConfirmed || !ownsAnything(observed)) return shape;
  return { kind: 'undecided', isUnconfirmed: true };
}

/**
 * Whether a Service that is mirrored pod by pod is shown as one that cannot be, which takes all its endpoint mirrors
 * away.
 */
const isNoLongerByPod = ({ link, owned }: Observed, shape: Shape): boolean =>
  link.headless &&
  (shape.kind === 'flat' || (shape.kind === 'clusterIP' && shape.service.spec?.clusterIP !== 'None')) &&
  endpointMirrors(owned).size > 0;

function shapeAsObserved(observed: Observed): Shape {
  const { target, namespace, namespaceState } = observed;
  if (!observed.decidable) return { kind: 'undecided' };
  if (namespaceState === 'forbidden' || namespaceState === 'unreadable') {
    return target === undefined && !ownsAnything(observed) ? { kind: 'absent' } : outOfReach(namespace, namespaceState);
  }
  if (target === undefined) return { kind: 'absent' };
  const { service, mode } = target;
  const refusal = notAdmitted(observed, service);
  if (refusal !== undefined) return refusal;
  return mode === 'remote-discovery' ? { kind: 'flat', service } : throughGateway(observed, service);
}

/** Nothing is written to the namespace, nor removed from it. */
const outOfReach = (namespace: string, state: 'forbidden' | 'unreadable'): Shape =>
  state === 'unreadable'
    ? refused('MissingNamespace', unreadableNamespace(namespace), 'keep')
    : refused(
        'NamespaceNotAllowed',
        `namespace ${namespace} may not be written to: it belongs to Kubernetes, the control plane or the operator, or is not among --mirror-namespaces`,
        'keep',
      );

const removed = (refusal: Refusal): Shape => ({ kind: 'refused', refusal, existing: 'remove' });
const kept = (refusal: Refusal): Shape => ({ kind: 'refused', refusal, existing: 'keep' });

/** Why an exported Service has no mirror, of whatever mode. */
function notAdmitted(observed: Observed, service: Service): Shape | undefined {
  const { link, name, namespace, namespaceState } = observed;
  const refusal = invalidService(service) ?? invalidName(name, link.cluster);
  if (refusal !== undefined) return removed(refusal);
  if (!observed.isAdmitted) {
    return refused(
      'LimitExceeded',
      'the target exports more Services than the operator mirrors for a Link (--max-mirrors), and this is not one of the oldest; export fewer, or raise the limit',
      'keep',
    );
  }
  // Whoever deletes a namespace deletes what is in it. An object of ours that is there may show that it is back.
  if (namespaceState === 'over limit') return kept(beyondNamespaces(namespace));
  if (namespaceState === 'missing' && !link.createNamespaces) return kept(missingNamespace(namespace));
  return undefined;
}

/** The form of a mirror whose clients come to the target's gateway, which TCP alone crosses. */
function throughGateway(observed: Observed, service: Service): Shape {
  if (observed.gateway === undefined) {
    return refused(
      'WaitingForGateway',
      'the Link has no gatewayAddress: set spec.gatewayAddress, or export the Service as remote-discovery',
      'keep',
    );
  }
  const ports = service.spec?.ports ?? [];
  const left = ports.filter(({ protocol }) => (protocol ?? 'TCP') !== 'TCP');
  if (left.length === ports.length) {
    return refused(
      'InvalidService',
      'all its ports are UDP or SCTP, which do not cross a gateway; export it as remote-discovery on a flat network',
    );
  }
  const endpoints = endpointsOf(observed, service);
  const kind = kindOf(observed, service, endpoints);
  if (typeof kind === 'object') return kind;
  const { limited, notes } = limit(endpoints, observed);
  const all = [...omitted(left), ...(kind === 'headless' ? notes : [])];
  return { kind, service, endpoints: limited, ...(all.length === 0 ? {} : { note: all.join('; ') }) };
}

/** Whether a mirror behind a gateway is headless, or why there is none for now. */
function kindOf(
  observed: Observed,
  service: Service,
  endpoints: TargetEndpoints | undefined,
): 'clusterIP' | 'headless' | Shape {
  const { link, name, owned } = observed;
  if (!link.headless || service.spec?.clusterIP !== 'None') return 'clusterIP';
  const mirror = indexOf(owned).services.get(mirrorName(name, link.cluster));
  const wasHeadless = mirror?.spec?.clusterIP === 'None';
  // Pods that are gone, and keep their endpoint mirrors for now, are among these.
  const hasHosts = (endpoints?.hosts.size ?? 0) > 0;
  if (endpoints?.any === true || hasHosts) return hasHosts ? 'headless' : 'clusterIP';
  if (mirror !== undefined) return wasHeadless ? 'headless' : 'clusterIP';
  // A crash may have left endpoint mirrors alone, and somebody may have deleted their Service.
  if (endpoints === undefined && ownsAnything(observed)) return { kind: 'undecided' };
  return refused(
    'WaitingForEndpoints',
    'the headless Service has no endpoints; it is mirrored when its first endpoint appears',
  );
}

/** Endpoints within the limits on pods, with notes about those that are left out. */
function limit(
  endpoints: TargetEndpoints | undefined,
  observed: Observed,
): { readonly limited: TargetEndpoints | undefined; readonly notes: readonly string[] } {
  const within = endpoints && withinService(endpoints, observed);
  const limited = within && withoutSurplus(within, observed);
  const crowd = (endpoints?.hosts.size ?? 0) - (within?.hosts.size ?? 0);
  const surplus = (within?.hosts.size ?? 0) - (limited?.hosts.size ?? 0);
  return { limited, notes: [...crowded(observed.link, within), ...beyondService(crowd), ...beyond(surplus)] };
}

const omitted = (ports: readonly ServicePort[]): readonly string[] =>
  ports.length === 0
    ? []
    : [
        `ports left out because they do not cross a gateway: ${ports.map((port) => `${port.name ?? port.port}/${port.protocol ?? ''}`).join(', ')}`,
      ];

function endpointsOf({ slices, departed, owned }: Observed, service: Service): TargetEndpoints | undefined {
  if (slices === undefined) return undefined;
  const endpoints = readSlices(service, slices);
  return departed.size === 0 ? endpoints : withDeparted(endpoints, departed.keys(), endpointMirrors(owned));
}

/** Leaves out the pods that the limit of the Link does not allow; what is mirrored stays. */
function withoutSurplus(endpoints: TargetEndpoints, observed: Observed): TargetEndpoints {
  const { admitsPod, areAllPodsAdmitted = false, departed, owned } = observed;
  if (areAllPodsAdmitted) return endpoints;
  const mirrored = endpointMirrors(owned);
  const stays = (hostname: string): boolean => departed.has(hostname) || mirrored.has(hostname);
  return { ...endpoints, hosts: endpoints.hosts.filter((_, hostname) => stays(hostname) || admitsPod(hostname)) };
}

/** Leaves out the pods that are more than one Service may have. */
function withinService(endpoints: TargetEndpoints, { link, owned }: Observed): TargetEndpoints {
  const { hosts } = endpoints;
  const { maxServicePods = Infinity } = link;
  if (hosts.size <= maxServicePods) return endpoints;
  const mirrored = endpointMirrors(owned);
  const within = podsWithin(hosts, (hostname) => mirrored.has(hostname), maxServicePods);
  return { ...endpoints, hosts: hosts.filter((_, hostname) => within.has(hostname)) };
}

const beyondService = (pods: number): readonly string[] =>
  pods === 0
    ? []
    : [
        `${pods} of its pods are without an endpoint mirror, since it has more than the operator mirrors of one headless Service: raise --max-service-pods, or divide it`,
      ];

const beyond = (pods: number): readonly string[] =>
  pods === 0
    ? []
    : [
        `${pods} of its pods are without an endpoint mirror, since the target has more than the operator mirrors for a Link: raise --max-endpoint-mirrors, or export fewer`,
      ];

/** Kubernetes mirrors so many addresses of a subset of v1 Endpoints to slices, which clients read (rule D10). */
const MIRRORED_ADDRESSES = 1000;

function crowded({ endpointsKind }: LinkView, endpoints: TargetEndpoints | undefined): readonly string[] {
  if (endpointsKind !== 'endpoints' || endpoints === undefined || endpoints.hosts.size <= MIRRORED_ADDRESSES) return [];
  const most = Math.max(0, ...subsetsOf(endpoints.hosts.values()).map(({ hostnames }) => hostnames.length));
  if (most <= MIRRORED_ADDRESSES) return [];
  return [
    `${most} pods are ready, and of the v1 Endpoints that list them Kubernetes takes ${MIRRORED_ADDRESSES} into EndpointSlices, so DNS does not answer for the others: run the operator with --endpoints=slices`,
  ];
}

/** The claims on local names that a shape needs. */
export interface Claims {
  /** Of the mirror itself; undefined if it needs none. */
  readonly own: Claim | undefined;
  readonly pods: ByHostname<Claim>;
}

/** Returns the claims on local names that a shape needs. */
export function claimsOf({ name, namespace, link }: Observed, shape: Shape): Claims {
  if (!isMirrored(shape)) return { own: undefined, pods: ByHostname.none() };
  const owner = { cluster: link.cluster, key: `${namespace}/${name}` };
  const since = shape.service.metadata.creationTimestamp ?? '';
  return { own: { owner, names: [mirrorName(name, link.cluster)], since }, pods: podClaims(owner, shape) };
}

interface OfPods {
  readonly cluster: string;
  readonly from: ByHostname<TargetHost>;
  readonly to: ByHostname<Claim>;
}

/** The claims of the pods of a Service, as they were last made. */
const claimed = new WeakMap<Service, OfPods>();

/** Returns the claims of pods; those that were made before are the same objects. */
function podClaims(owner: ClaimOwner, shape: MirroredShape): ByHostname<Claim> {
  const { service } = shape;
  const from = hostsOf(shape);
  const { name, creationTimestamp: since = '' } = service.metadata;
  const { cluster } = owner;
  const last = claimed.get(service);
  const before = last?.cluster === cluster ? last : undefined;
  const claimOf = (hostname: string): Claim => ({
    owner,
    hostname,
    names: endpointMirrorNames(hostname, name, cluster),
    since,
  });
  const to = from.deriveFrom(before, (group, known) => {
    const claims = [...group.keys()].map((hostname) => [hostname, known?.get(hostname) ?? claimOf(hostname)] as const);
    return new Map(claims);
  });
  claimed.set(service, { cluster, from, to });
  return to;
}

/** Shape of a Service that is mirrored. */
export type MirroredShape = Extract<Shape, { readonly service: Service }>;

export const isMirrored = (shape: Shape): shape is MirroredShape => 'service' in shape;

const NOBODY = ByHostname.none<TargetHost>();

/** Returns the pods that get an endpoint mirror; none while the endpoints are not known. */
export const hostsOf = (shape: Shape): ByHostname<TargetHost> =>
  shape.kind === 'headless' && shape.endpoints !== undefined ? shape.endpoints.hosts : NOBODY;

function invalidService(service: Service): Refusal | undefined {
  const invalid = (message: string): Refusal => ({ reason: 'InvalidService', message });
  if (service.spec?.type === 'ExternalName')
    return invalid('a Service of type ExternalName has no endpoints to mirror; export the Service that it stands for');
  if ((service.spec?.ports ?? []).length === 0)
    return invalid('it has no ports, and a mirror needs at least one; add the ports that clients use');
  if (isMirrorItself(service))
    return invalid(
      'it is itself a mirror or a federated Service, or derived from a ServiceImport: these are not mirrored again; export the original Service in its own cluster',
    );
  return undefined;
}

/** Reports whether a Service of a target is itself a mirror, a federated Service, or derived from a ServiceImport. */
export function isMirrorItself({ metadata: { labels = {}, annotations = {} } }: Service): boolean {
  return (
    labels[Label.mirroredService] === Value.true ||
    Label.remoteDiscovery in labels ||
    Label.serviceImport in labels ||
    Annotation.remoteDiscovery in annotations ||
    Annotation.localDiscovery in annotations
  );
}

function invalidName(name: string, cluster: string): Refusal | undefined {
  const local = mirrorName(name, cluster);
  if (isServiceName(local)) return undefined;
  return {
    reason: 'InvalidName',
    message: `the name of its mirror, ${local}, must be a valid Service name: a DNS label of at most 63 characters; shorten the Service's name or the Link's targetClusterName`,
  };
}

const ownsAnything = ({ owned }: Observed): boolean =>
  owned.services.length > 0 || owned.endpoints.length > 0 || owned.slices.length > 0;

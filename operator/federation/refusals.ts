/**
 * Reasons why a Service does not join a federated Service. They concern the Service itself, the mode, all Services of
 * the same namespace and name (rules I1, I4, I5), or the limits of the Link (rule E10). Pure.
 */
import { FederatedService, type MirrorMode, renderOf } from '../../constructs/rendered/index.ts';
import { isServiceName } from '../../crds/names.ts';
import { federatedName, LOCAL_WRITE_LEASE } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import type { Service } from '../kube/objects.ts';
import {
  beyondNamespaces,
  missingNamespace,
  type Refusal,
  type RefusalReason,
  unreadableNamespace,
} from '../mirror/reasons.ts';
import { isMirrorItself } from '../mirror/shape.ts';
import { isFederated } from '../source/owner.ts';
import { isResolved, type Member, portsIn } from './member.ts';
import type { Membership } from './membership.ts';
import type { ObservedFederation, TargetParty } from './observed.ts';

export const refused = (reason: RefusalReason, message: string): Refusal => ({ reason, message });

/**
 * Returns what is wrong with a Service itself, so that it cannot join any federated Service (rules I1, I2); undefined
 * if nothing is wrong.
 */
export const invalidMember = (service: Service, link?: TargetParty['link']): Refusal | undefined =>
  invalidShape(service) ?? unwritable(service, link);

/**
 * Returns why a Service cannot be a member because of what it is: a mirror, a federated Service or a Service derived
 * from a ServiceImport; of type ExternalName; headless; or without ports. Undefined if it is none of these. Whether the
 * API server accepts its ports, labels and annotations is not checked here.
 */
export function invalidShape(service: Service): Refusal | undefined {
  const { type, clusterIP, ports = [] } = service.spec ?? {};
  const invalid = (message: string): Refusal => refused('InvalidService', message);
  if (isMirrorItself(service))
    return invalid(
      'it is itself a mirror or a federated Service, or derived from a ServiceImport: these join no other; let the original Service join',
    );
  if (type === 'ExternalName')
    return invalid('a Service of type ExternalName has no endpoints; let the Service that it stands for join');
  if (clusterIP === 'None')
    return invalid('a headless Service cannot join a federated Service, which has one ClusterIP for all pods');
  return ports.length === 0 ? invalid('it has no ports; add the ports that clients use') : undefined;
}

/**
 * Returns why the API server would refuse a federated Service with the ports, labels and annotations that are copied
 * from a Service; undefined if the API server would accept it. A target is not trusted to send valid data.
 */
function unwritable(service: Service, link?: TargetParty['link']): Refusal | undefined {
  const ports = portsIn('remote-discovery', service);
  const { labels, annotations } = service.metadata;
  const { excludedLabels, excludedAnnotations } = link ?? {};
  const metadata = { labels, annotations, excludedLabels, excludedAnnotations };
  try {
    renderOf(FederatedService, { service: 'member', namespace: 'default', ports, local: {}, ...metadata });
    return undefined;
  } catch (error) {
    return refused('InvalidService', describe(error));
  }
}

/**
 * Returns why no Service of this namespace and name can join; undefined if Services can join. The result has `isKept`
 * if existing objects stay because the namespace is missing, cannot be read or must not be written to.
 */
export function refusalOfAll({
  namespace,
  name,
  namespaceState,
  targets,
  live,
}: ObservedFederation): { readonly refusal: Refusal; readonly isKept?: true } | undefined {
  const federated = federatedName(name);
  switch (namespaceState) {
    case 'unreadable':
      return { refusal: refused('MissingNamespace', unreadableNamespace(namespace)), isKept: true };
    case 'forbidden':
      return {
        refusal: refused(
          'NamespaceNotAllowed',
          `namespace ${namespace} may not be written to: it belongs to Kubernetes, the control plane or the operator, or is not among --mirror-namespaces`,
        ),
        isKept: true,
      };
    case 'missing':
      if (targets.some(createsNamespace)) break;
      return {
        refusal: targets.some(wantsNamespace) ? beyondNamespaces(namespace) : missingNamespace(namespace),
        isKept: true,
      };
    case 'exists':
  }
  if (!isServiceName(federated)) {
    const message = `the name of the federated Service, ${federated}, must be a valid Service name: a DNS label of at most 63 characters; shorten the Service's name`;
    return { refusal: refused('InvalidName', message) };
  }
  if (live !== undefined && !isFederated(live)) {
    const message = `Service ${namespace}/${federated} exists and is no federated Service; it is left alone. Rename or delete it to have the Services of this name joined`;
    return { refusal: refused('NameConflict', message) };
  }
  return undefined;
}

/**
 * Reports whether the namespace, if it is missing, must be created for the Service of a target: the Service needs the
 * namespace ({@link wantsNamespace}), and the Link's limit on namespaces allows it.
 */
export const createsNamespace = (target: TargetParty): boolean =>
  wantsNamespace(target) && target.isNamespaceAdmitted !== false;

/**
 * Reports whether a missing namespace is needed for the Service of a target: the Link asks for namespaces to be
 * created, and the Service is valid and within the Link's limits on members and written bytes.
 */
const wantsNamespace = ({ knowledge, service, isAdmitted, isWithinBytes, link }: TargetParty): boolean =>
  knowledge === 'known' &&
  service !== undefined &&
  isAdmitted &&
  isWithinBytes !== false &&
  invalidMember(service, link) === undefined &&
  link.createNamespaces;

const WAITING_FOR_GATEWAY = refused(
  'WaitingForGateway',
  'the federated Service leads through gateways, and the Link has no gatewayAddress; set spec.gatewayAddress',
);
const WAITING_FOR_ADDRESS = refused(
  'WaitingForGateway',
  'its Link wants it to be reached through the gateway, or the federated Service leads through gateways, and the host name in gatewayAddress of the Link has no IP address yet',
);
const NO_PORT_CROSSES = refused('InvalidService', 'all its ports are UDP or SCTP, which do not cross a gateway');

const WAITING_FOR_LEASE = refused(
  'WaitingForLease',
  `its Link wants it to be reached through the gateway, which the operator only begins while it holds Lease ${LOCAL_WRITE_LEASE}: Linkerd's local mirror deletes such federated Services. Scale Deployment linkerd-local-service-mirror to zero, and do not leave --federated-selector empty`,
);

export const BEYOND_LIMIT = refused(
  'LimitExceeded',
  'the target has more members of federated Services than the operator joins for a Link (--max-mirrors), and this is not one of the oldest; label fewer, or raise the limit',
);

/**
 * Refusal of a Service that is too large to join: if it joined, the objects that are written for the Link would exceed
 * the limit on written bytes (rule E10). If the Service is already a member, its membership stays as it is.
 */
export const TOO_LARGE = refused(
  'LimitExceeded',
  'the federated Service, with the labels and annotations that it copies, would take all that is written for the Link beyond what the operator allows (--max-written-mib); shorten the metadata of the Service, export fewer, or raise the limit',
);

/** What {@link unfit} needs, besides the member, to decide whether the member can join in a mode. */
export interface Fit {
  readonly mode: MirrorMode;
  /** Whether this operator holds the Lease of local memberships. */
  readonly isHeld: boolean;
  readonly before: Membership | undefined;
}

/** Returns why a Service cannot join in this mode; undefined if it can. */
export function unfit({ target, service }: Member, { mode, isHeld, before }: Fit): Refusal | undefined {
  if (mode === 'gateway') {
    if (before?.isDeleted === true && !isHeld) return WAITING_FOR_LEASE;
    if (target !== undefined && target.gateway === undefined) return WAITING_FOR_GATEWAY;
    if (portsIn(mode, service).length === 0) return NO_PORT_CROSSES;
    // Until the gateway's host name has been resolved, existing slices keep their addresses.
    const isReachable = target === undefined || isResolved(target) || isListed(target, 'gateway', before);
    return isReachable ? undefined : WAITING_FOR_ADDRESS;
  }
  if (target === undefined) return undefined;
  if (target.mode === 'gateway' && target.gateway === undefined) return WAITING_FOR_GATEWAY;
  if (target.mode === 'gateway' && portsIn(target.mode, service).length === 0) return NO_PORT_CROSSES;
  if (target.mode === 'gateway' && !isHeld) return WAITING_FOR_LEASE;
  // A flat member stays flat until the gateway has an address.
  if (target.mode === 'gateway' && !isResolved(target))
    return isListed(target, mode, before) ? undefined : WAITING_FOR_ADDRESS;
  if (target.mode === 'gateway')
    return refused(
      'ModeMismatch',
      "its Link wants it to be reached through the gateway, but the federated Service is on a flat network, and has a member that cannot change that now: its cluster cannot be read, or Linkerd's controller writes for it",
    );
  const { cluster } = target.link;
  if (target.isDiscoverable === false)
    return refused(
      'WaitingForCredentials',
      `Linkerd's control plane has no credentials of cluster ${cluster}; create the copy of its credentials Secret in the control plane's namespace`,
    );
  // An existing member stays while it is not known whether there are credentials.
  if (target.isDiscoverable === undefined && before?.clusters.has(cluster) !== true)
    return refused(
      'WaitingForCredentials',
      `it is not known whether Linkerd's control plane has credentials of cluster ${cluster}: linkspan upgrade --flat --apply, or flat of MirrorOperator, lets the operator list and watch the Secrets of the control plane's namespace`,
    );
  return undefined;
}

/** Reports whether a target's Service is already a member of the federated Service in this mode. */
const isListed = ({ link }: TargetParty, mode: MirrorMode, before: Membership | undefined): boolean =>
  before?.mode === mode && before.clusters.has(link.cluster);

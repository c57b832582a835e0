/**
 * Which Services join a federated Service, in which shape, and why the others do not: rules I1 to I6. Pure.
 */
import {
  crossesGateway,
  FederatedService,
  type MirrorMode,
  type MirrorPort,
  renderOf,
  sharedPorts,
} from '../../constructs/mirror/index.ts';
import { isServiceName } from '../../crds/names.ts';
import { federatedName, LOCAL_WRITE_LEASE } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import type { Service } from '../kube/objects.ts';
import { type Refusal, type RefusalReason, unreadableNamespace } from '../mirror/reasons.ts';
import { isMirrorItself } from '../mirror/shape.ts';
import { isFederated } from '../source/owner.ts';
import { type Membership, membershipOf } from './membership.ts';
import type { ObservedFederation, TargetParty } from './observed.ts';

/** A cluster whose Service is a member. */
export interface Member {
  /** Undefined: the local cluster. */
  readonly target: TargetParty | undefined;
  /** Undefined: the membership stays as it is, since what decides about it is not known, or is another's to decide. */
  readonly service: Service | undefined;
  /** What the member cannot have. */
  readonly note?: string;
}

/** A Service that is selected, but is not a member. */
export interface Refused {
  readonly target: TargetParty | undefined;
  readonly refusal: Refusal;
}

export interface Admission {
  readonly mode: MirrorMode;
  /** In the order of rule I3: labels, annotations and ports are those of the first. */
  readonly members: readonly Member[];
  readonly refused: readonly Refused[];
  /** Whether the namespace may be written to; if not, everything there is stays as it is. */
  readonly isWritable: boolean;
}

type Standing = Member | Refused;

const isMember = (each: Standing): each is Member => 'service' in each;

/** Decides who joins. */
export function admit(observed: ObservedFederation): Admission {
  const before = membershipOf(observed);
  const everywhere = refusalOfAll(observed);
  const standings = [undefined, ...[...observed.targets].sort(bySeniority)]
    .map((target) => standingOf(observed, target, before))
    .filter((each) => each !== undefined);
  const { isHeld } = observed.local;
  const mode = modeOf(standings.filter(isMember), before, isHeld);
  const ours = standings.filter((each) => each.target !== undefined || mayWriteLocal(each, mode, isHeld));
  const fit = ours.map((each): Standing => {
    if (!isMember(each) || each.service === undefined) return each;
    const refusal = everywhere?.refusal ?? unfit(each, { mode, isHeld, before });
    return refusal === undefined ? each : { target: each.target, refusal };
  });
  const [first] = fit.filter(isMember);
  const ports = portsIn(mode, first?.service ?? observed.live);
  const decided = fit.map((each) => (isMember(each) && each !== first ? withPorts(each, ports, mode) : each));
  return {
    mode,
    members: decided.filter(isMember),
    refused: decided.filter((each): each is Refused => !isMember(each)),
    isWritable: everywhere?.isKept !== true,
  };
}

/** What one cluster has to do with the federated Service, by itself; undefined: nothing. */
function standingOf(
  { local }: ObservedFederation,
  target: TargetParty | undefined,
  before: Membership | undefined,
): Standing | undefined {
  const { knowledge, service } = target ?? local;
  if (knowledge !== 'known') {
    const isListed = target === undefined ? before?.local : before?.clusters.has(target.link.cluster);
    return isListed === true ? { target, service: undefined } : undefined;
  }
  if (service === undefined) return undefined;
  const refusal = invalidMember(service, target?.link) ?? (target?.isAdmitted === false ? BEYOND_LIMIT : undefined);
  return refusal === undefined ? { target, service } : { target, refusal };
}

/**
 * Through gateways if any member's Link wants that and its gateway has an address, or had one (rule I5). A membership that
 * stays as it is cannot change its shape, so the shape stays too; and so it does while another may write local memberships
 * (rule I7), unless nobody is left who could be reached through a gateway.
 */
function modeOf(members: readonly Member[], before: Membership | undefined, isHeld: boolean): MirrorMode {
  const mayStay = before?.mode === 'gateway' && members.some((each) => mayLeadThroughGateways(each, before));
  if (!isHeld) return mayStay ? 'gateway' : 'remote-discovery';
  if (before !== undefined && members.some(({ service }) => service === undefined)) return before.mode;
  const wanted = members.filter(wantsGateways);
  return wanted.some(({ target }) => mayStay || isResolved(target)) ? 'gateway' : 'remote-discovery';
}

/**
 * Reports whether what the local Service has to do with it is ours to decide: on a flat network, it is an annotation, which
 * only the holder of the Lease writes, also when the shape has just changed to that (rule I7).
 */
const mayWriteLocal = (local: Standing, mode: MirrorMode, isHeld: boolean): boolean =>
  isHeld || mode === 'gateway' || (isMember(local) && local.service === undefined);

/** Reports whether a member stays in whatever shape there is, or can be reached through a gateway. */
const mayLeadThroughGateways = (member: Member, before: Membership): boolean =>
  member.service === undefined || unfit(member, { mode: 'gateway', isHeld: false, before }) === undefined;

/** Reports whether a member is to be reached through its gateway, whose address may not be known yet. */
const wantsGateways = ({ target, service }: Member): boolean =>
  target?.mode === 'gateway' && target.gateway !== undefined && portsIn('gateway', service).length > 0;

const isResolved = (target: TargetParty | undefined): boolean => (target?.gateway?.addresses.length ?? 0) > 0;

const refused = (reason: RefusalReason, message: string): Refusal => ({ reason, message });

/** Why a Service can be no member of any federated Service (rule I1). */
export function invalidMember(service: Service, link?: TargetParty['link']): Refusal | undefined {
  const { type, clusterIP, ports = [] } = service.spec ?? {};
  const invalid = (message: string): Refusal => refused('InvalidService', message);
  if (isMirrorItself(service))
    return invalid('it is itself a mirror or a federated Service, which join no other; let the original Service join');
  if (type === 'ExternalName')
    return invalid('a Service of type ExternalName has no endpoints; let the Service that it stands for join');
  if (clusterIP === 'None')
    return invalid('a headless Service cannot join a federated Service, which has one ClusterIP for all pods');
  if (ports.length === 0) return invalid('it has no ports; add the ports that clients use');
  return unwritable(service, link);
}

/** Why the API server would refuse ports, labels or annotations of a Service: a target is not trusted to have valid ones. */
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

/** Why no Service of this namespace and name can join; `isKept`: what there is may not be written to, and stays. */
function refusalOfAll({
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
    case 'over limit':
    case 'missing':
      if (namespaceState === 'missing' && targets.some(createsNamespace)) break;
      return {
        refusal: refused(
          'MissingNamespace',
          `namespace ${namespace} does not exist in the source cluster; create it, or enable namespace creation`,
        ),
      };
    case 'exists':
  }
  if (!isServiceName(federated)) {
    const message = `the name of the federated Service, ${federated}, must be a valid Service name: a DNS label of at most 63 characters that starts with a letter; shorten the Service's name`;
    return { refusal: refused('InvalidName', message) };
  }
  if (live !== undefined && !isFederated(live)) {
    const message = `Service ${namespace}/${federated} exists and is no federated Service; it is left alone. Rename or delete it to have the Services of this name joined`;
    return { refusal: refused('NameConflict', message) };
  }
  return undefined;
}

/** Reports whether a namespace may be created for the sake of a target's member. */
export const createsNamespace = ({ knowledge, service, isAdmitted, link }: TargetParty): boolean =>
  knowledge === 'known' &&
  service !== undefined &&
  isAdmitted &&
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

const BEYOND_LIMIT = refused(
  'LimitExceeded',
  'the target has more members of federated Services than the operator joins for a Link (--max-mirrors), and this is not one of the oldest; label fewer, or raise the limit',
);

/** What decides who fits in. */
interface Fit {
  readonly mode: MirrorMode;
  /** Whether we hold the Lease of local memberships. */
  readonly isHeld: boolean;
  readonly before: Membership | undefined;
}

/** Why a Service cannot join in this shape. */
function unfit({ target, service }: Member, { mode, isHeld, before }: Fit): Refusal | undefined {
  if (mode === 'gateway') {
    if (target !== undefined && target.gateway === undefined) return WAITING_FOR_GATEWAY;
    if (portsIn(mode, service).length === 0) return NO_PORT_CROSSES;
    // Slices that there are stay until the next lookup.
    const isReachable = target === undefined || isResolved(target) || isListed(target, 'gateway', before);
    return isReachable ? undefined : WAITING_FOR_ADDRESS;
  }
  if (target === undefined) return undefined;
  if (target.mode === 'gateway' && target.gateway === undefined) return WAITING_FOR_GATEWAY;
  if (target.mode === 'gateway' && portsIn(target.mode, service).length === 0) return NO_PORT_CROSSES;
  if (target.mode === 'gateway' && !isHeld) return WAITING_FOR_LEASE;
  // A member is found as before until there is an address that can take over.
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
  // A member stays while nothing is known.
  if (target.isDiscoverable === undefined && before?.clusters.has(cluster) !== true)
    return refused(
      'WaitingForCredentials',
      `it is not known whether Linkerd's control plane has credentials of cluster ${cluster}: set flat of MirrorOperator, which lets the operator list and watch the Secrets of the control plane's namespace`,
    );
  return undefined;
}

/** Reports whether a target's Service has been a member in this shape. */
const isListed = ({ link }: TargetParty, mode: MirrorMode, before: Membership | undefined): boolean =>
  before?.mode === mode && before.clusters.has(link.cluster);

/** Admits a Service that has the ports that count; through gateways, any of them (rules I4, I5). */
function withPorts(member: Member, ports: readonly MirrorPort[], mode: MirrorMode): Standing {
  const { target, service } = member;
  if (service === undefined) return member;
  const own = portsIn(mode, service);
  const shared = new Set(
    mode === 'gateway' ? sharedPorts(ports, own) : ports.filter((port) => own.some(sameNumber(port))),
  );
  const lacking = ports.filter((port) => !shared.has(port)).map(described);
  if (lacking.length === 0) return member;
  if (mode === 'gateway' && shared.size > 0)
    return { ...member, note: `requests to ports that it lacks go to other members: ${lacking.join(', ')}` };
  return {
    target,
    refusal: refused(
      'PortMismatch',
      `it lacks ports of the federated Service, which are those of its first member: ${lacking.join(', ')}; let the Services of this name have the same ports`,
    ),
  };
}

const sameNumber =
  (port: MirrorPort) =>
  (other: MirrorPort): boolean =>
    port.port === other.port && (port.protocol ?? 'TCP') === (other.protocol ?? 'TCP');

const described = ({ name = '', port, protocol = 'TCP' }: MirrorPort): string =>
  `${name === '' ? '' : `${name} `}${port}/${protocol}`;

/** Returns the ports of a Service that a federated Service in this mode can have. */
export function portsIn(mode: MirrorMode, service: Service | undefined): readonly MirrorPort[] {
  const ports = (service?.spec?.ports ?? []).map(
    ({ name, protocol, port, targetPort, appProtocol }) =>
      ({ name, protocol, port, targetPort, appProtocol }) as MirrorPort,
  );
  return mode === 'gateway' ? ports.filter(crossesGateway) : ports;
}

function bySeniority({ seniority: a }: TargetParty, { seniority: b }: TargetParty): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

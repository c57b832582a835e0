/** Decides which Services join a federated Service, and in which mode (rules I1 to I6). Pure. */
import { type MirrorMode, type MirrorPort, sharedPorts } from '../../constructs/rendered/index.ts';
import type { Refusal } from '../mirror/reasons.ts';
import { isResolved, type Member, portsIn } from './member.ts';
import { type Membership, membershipOf } from './membership.ts';
import type { ObservedFederation, TargetParty } from './observed.ts';
import { BEYOND_LIMIT, invalidMember, refusalOfAll, refused, TOO_LARGE, unfit } from './refusals.ts';

/** A Service that is selected but does not join. `target` is undefined for the local Service. */
export interface Refused {
  readonly target: TargetParty | undefined;
  readonly refusal: Refusal;
}

export interface Admission {
  readonly mode: MirrorMode;
  /**
   * Members in the order of rule I3: the local member, then the others by age and name of their Links. The first member
   * decides about labels, annotations and ports. If the federated Service was deleted ({@link Membership.isDeleted}),
   * members with a {@link Member.service} come before the others.
   */
  readonly members: readonly Member[];
  readonly refused: readonly Refused[];
  /**
   * Whether the objects of the federated Service are made to match {@link members}. False in two cases:
   * - The namespace cannot be read or must not be written to, or another operator serves or might serve the federated
   *   Service. The existing objects then stay unchanged.
   * - The namespace is missing, and is not created for the Service of any target. The objects that the stores still
   *   show then stay, and the slices among them follow the gateways.
   */
  readonly isWritable: boolean;
}

type Standing = Member | Refused;

const isMember = (each: Standing): each is Member => 'service' in each;

const isUnknown = (each: Standing): boolean => isMember(each) && each.service === undefined;

/** Decides which of the observed Services join. */
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
  // A deleted federated Service is created anew, and has no labels and ports that could stay. They must come from a
  // member whose Service joins.
  const ranked = before?.isDeleted === true ? fit.toSorted((a, b) => Number(isUnknown(a)) - Number(isUnknown(b))) : fit;
  const [first] = ranked.filter(isMember);
  const ports = portsIn(mode, first?.service ?? observed.live);
  const decided = ranked.map((each) => (isMember(each) && each !== first ? withPorts(each, ports, mode) : each));
  return {
    mode,
    members: decided.filter(isMember),
    refused: decided.filter((each): each is Refused => !isMember(each)),
    isWritable: everywhere?.isKept !== true,
  };
}

/**
 * Judges the Service of one cluster without regard to other clusters: the Service is a member, or is refused. Undefined
 * if the cluster is known to have no selected Service of this name. Also undefined if the `knowledge` of the cluster is
 * not `known`, and the cluster has no membership now.
 */
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
  if (refusal !== undefined) return { target, refusal };
  if (target?.isWithinBytes !== false) return { target, service };
  const isMember = before?.clusters.has(target.link.cluster) === true;
  return isMember ? { target, service: undefined, kept: TOO_LARGE } : { target, refusal: TOO_LARGE };
}

/**
 * Returns the mode in which members are reached (rule I5).
 *
 * Without the Lease of local memberships (rule I7): gateway if the present mode is gateway, and at least one member
 * fits that mode or has a membership that must stay as it is. Otherwise flat.
 *
 * With the Lease, the first of these cases that applies:
 * - A membership must stay as it is: the present mode.
 * - The Link of a member asks for gateway mode ({@link wantsGateways}), and the gateway of that member has an address:
 *   gateway. The address is not required if the present mode is gateway and any member, this one or another, fits it.
 * - All other cases: flat.
 */
function modeOf(members: readonly Member[], before: Membership | undefined, isHeld: boolean): MirrorMode {
  const mayStay = before?.mode === 'gateway' && members.some((each) => mayLeadThroughGateways(each, before, isHeld));
  if (!isHeld) return mayStay ? 'gateway' : 'remote-discovery';
  if (before !== undefined && members.some(({ service }) => service === undefined)) return before.mode;
  const wanted = members.filter(wantsGateways);
  return wanted.some(({ target }) => mayStay || isResolved(target)) ? 'gateway' : 'remote-discovery';
}

/**
 * Reports whether {@link admit} takes the local Service into account. In flat mode, the local membership is an
 * annotation that only the holder of the Lease of local memberships writes (rule I7). Without that Lease, the local
 * Service counts in flat mode only if its membership stays as it is.
 * @param mode the mode that has been decided, which can differ from the present one
 */
const mayWriteLocal = (local: Standing, mode: MirrorMode, isHeld: boolean): boolean =>
  isHeld || mode === 'gateway' || (isMember(local) && local.service === undefined);

/** Reports whether a member fits gateway mode, or has a membership that must stay as it is. */
const mayLeadThroughGateways = (member: Member, before: Membership, isHeld: boolean): boolean =>
  member.service === undefined || unfit(member, { mode: 'gateway', isHeld, before }) === undefined;

/**
 * Reports whether the Link of a member asks for gateway mode and has a gateway, and the Service of the member has a
 * port that a gateway can carry. The gateway need not have an address yet.
 */
const wantsGateways = ({ target, service }: Member): boolean =>
  target?.mode === 'gateway' && target.gateway !== undefined && portsIn('gateway', service).length > 0;

/**
 * Admits or refuses a member by its ports (rules I4, I5):
 * - A member without a {@link Member.service} is admitted, because its membership must stay as it is.
 * - In flat mode, any other member must have all ports of the federated Service.
 * - In gateway mode, any other member must have at least one of these ports. A note names the ports that it lacks.
 */
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

function bySeniority({ seniority: a }: TargetParty, { seniority: b }: TargetParty): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

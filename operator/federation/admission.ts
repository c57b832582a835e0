/**
 * Which Services join a federated Service, and in which shape: rules I1 to I6. Pure.
 */
import { type MirrorMode, type MirrorPort, sharedPorts } from '../../constructs/rendered/index.ts';
import type { Refusal } from '../mirror/reasons.ts';
import { isResolved, type Member, portsIn } from './member.ts';
import { type Membership, membershipOf } from './membership.ts';
import type { ObservedFederation, TargetParty } from './observed.ts';
import { BEYOND_LIMIT, invalidMember, refusalOfAll, refused, TOO_LARGE, unfit } from './refusals.ts';

/** A Service that is selected, but is not a member. */
export interface Refused {
  readonly target: TargetParty | undefined;
  readonly refusal: Refusal;
}

export interface Admission {
  readonly mode: MirrorMode;
  /** In the order of rule I3. The first member decides about labels, annotations and ports. */
  readonly members: readonly Member[];
  readonly refused: readonly Refused[];
  /** Whether the namespace may be written to. If not, existing objects stay unchanged. */
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

/**
 * Returns whether the Service of one cluster is a member or is refused, judged by itself; undefined if the cluster
 * has none.
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
 * Returns how members are reached (rule I5): through gateways if the Link of any member asks for that and its gateway
 * has, or had, an address. The present mode stays while any membership must not change. While another operator may
 * write local memberships (rule I7), gateway mode stays as long as any member can be reached through a gateway.
 */
function modeOf(members: readonly Member[], before: Membership | undefined, isHeld: boolean): MirrorMode {
  const mayStay = before?.mode === 'gateway' && members.some((each) => mayLeadThroughGateways(each, before));
  if (!isHeld) return mayStay ? 'gateway' : 'remote-discovery';
  if (before !== undefined && members.some(({ service }) => service === undefined)) return before.mode;
  const wanted = members.filter(wantsGateways);
  return wanted.some(({ target }) => mayStay || isResolved(target)) ? 'gateway' : 'remote-discovery';
}

/**
 * Reports whether the local membership is ours to decide. On a flat network it is an entry of an annotation, which
 * only the holder of the Lease writes, even right after the mode has changed (rule I7).
 */
const mayWriteLocal = (local: Standing, mode: MirrorMode, isHeld: boolean): boolean =>
  isHeld || mode === 'gateway' || (isMember(local) && local.service === undefined);

/** Reports whether a member can be reached through a gateway, or must not change at all. */
const mayLeadThroughGateways = (member: Member, before: Membership): boolean =>
  member.service === undefined || unfit(member, { mode: 'gateway', isHeld: false, before }) === undefined;

/** Reports whether the Link of a member asks for its gateway. The gateway need not have an address yet. */
const wantsGateways = ({ target, service }: Member): boolean =>
  target?.mode === 'gateway' && target.gateway !== undefined && portsIn('gateway', service).length > 0;

/**
 * Admits a Service that has all ports of the first member. In gateway mode, one shared port is enough (rules I4, I5).
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

/** Whether what a Link reports is kept true by the operator that reports it. Pure. */
import { cut } from '../../../operator/kube/errors.ts';
import type { KubeObject, Lease } from '../../../operator/kube/objects.ts';
import { holderOf, type Unserved, unservedBy } from './lease.ts';
import { conditionOf } from './link-status.ts';
import type { Readable } from './readable.ts';

/**
 * Reports whether the holder of a Link's Lease is the operator. One that elects no leader has never had a Lease of its own,
 * and says by the status that it is the holder; one that has given its Lease up is none.
 */
export const isOperator = (holder: string, operators: Lease | undefined, link: KubeObject): boolean => {
  if (operators !== undefined) return holderOf(operators) === holder;
  const ready = conditionOf(link, 'Ready');
  return ready !== undefined && ready.reason !== 'HeldByAnother' && ready.reason !== 'Suspended';
};

/** The Leases that say who serves a Link. */
export interface LinkLeases {
  /** Under which its mirrors are written, by the operator or by Linkerd's controller. */
  readonly link: Readable<Lease | undefined>;
  /** Of the leader among operators. */
  readonly operators: Readable<Lease | undefined>;
}

/** Reports whether a Link says that the operator leaves it to others, or serves another in its place. */
const isLeft = (link: KubeObject): boolean =>
  conditionOf(link, 'Accepted')?.status === 'False' || conditionOf(link, 'Ready')?.reason === 'HeldByAnother';

/**
 * Why a Link's report may be old; undefined if it is not. Once another than the operator writes its mirrors, nobody keeps
 * it true, but for a report that says just that.
 */
export const unservedLink = (link: KubeObject, leases: LinkLeases, nowMs: number): Unserved | undefined => {
  const unserved = unservedBy(leases.link, nowMs);
  if (unserved !== undefined || !('found' in leases.link) || !('found' in leases.operators)) return unserved;
  const holder = holderOf(leases.link.found);
  if (isLeft(link) || isOperator(holder, leases.operators.found, link)) return undefined;
  const message = `its Lease is held by ${cut(holder)}, which is not the operator that reports: what is reported may be old`;
  return { reason: 'NotServed', message };
};

/** A Link, and the Lease under which its mirrors are written. */
export interface LinkWithLease {
  readonly link: KubeObject;
  readonly lease: Readable<Lease | undefined>;
}

/**
 * Why what the operator reports of no one Link may be old; undefined if it is not. One that elects no leader has no Lease
 * of its own: it runs if it serves any Link.
 */
export const unservedJoint = (
  operators: Readable<Lease | undefined>,
  links: readonly LinkWithLease[],
  nowMs: number,
): Unserved | undefined => {
  const isAlone = 'found' in operators && operators.found === undefined;
  const isServed = ({ link, lease }: LinkWithLease): boolean =>
    !isLeft(link) && unservedLink(link, { link: lease, operators }, nowMs) === undefined;
  return isAlone && links.some(isServed) ? undefined : unservedBy(operators, nowMs);
};

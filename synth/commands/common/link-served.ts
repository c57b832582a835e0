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

/**
 * Why a Link's report may be old; undefined if it is not. Once another than the operator writes its mirrors, nobody keeps
 * it true, but for a report that says just that.
 */
export const unservedLink = (link: KubeObject, leases: LinkLeases, nowMs: number): Unserved | undefined => {
  const unserved = unservedBy(leases.link, nowMs);
  if (unserved !== undefined || !('found' in leases.link) || !('found' in leases.operators)) return unserved;
  const holder = holderOf(leases.link.found);
  const isLeft =
    conditionOf(link, 'Accepted')?.status === 'False' || conditionOf(link, 'Ready')?.reason === 'HeldByAnother';
  if (isLeft || isOperator(holder, leases.operators.found, link)) return undefined;
  const message = `its Lease is held by ${cut(holder)}, which is not the operator that reports: what is reported may be old`;
  return { reason: 'NotServed', message };
};

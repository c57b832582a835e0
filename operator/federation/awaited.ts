/**
 * Decides for which clusters a federated Service without members is kept, so that clients keep its ClusterIP (rule I6).
 * Such a cluster might still have a member: this operator cannot decide about its membership yet, or the cluster is
 * known to have a Service that cannot join yet. Pure.
 */
import type { RefusalReason } from '../mirror/reasons.ts';
import { isFederated } from '../source/owner.ts';
import type { Admission } from './admission.ts';
import { invalidMember } from './refusals.ts';
import type { ObservedFederation, TargetParty } from './observed.ts';

/**
 * Returns the clusters for which a federated Service without members is kept, because each of them might still have a
 * member:
 * - a target for which {@link mayYetHaveMember} returns true;
 * - a target whose Service is refused, but might join later without being changed ({@link isUndecided});
 * - the local cluster (`undefined`), if it is not known whether it has a selected Service, or if it has a valid one and
 *   this operator does not hold the Lease of local memberships.
 *
 * The result is empty if the federated Service has members, does not exist or is not ours, or if
 * {@link Admission.isWritable} is false.
 */
export function awaitedClusters(
  { live, local, targets }: ObservedFederation,
  { members, refused, isWritable }: Admission,
): ReadonlySet<string | undefined> {
  if (live === undefined || !isFederated(live) || !isWritable || members.length > 0) return new Set();
  const undecided = refused.flatMap(({ target, refusal: { reason } }) =>
    target !== undefined && isUndecided(target, reason) ? [target] : [],
  );
  const unread = targets.filter(mayYetHaveMember);
  const { knowledge, isHeld, service } = local;
  // The present or the next holder of the Lease of local memberships will make the local Service a member.
  const isComing = !isHeld && service !== undefined && invalidMember(service) === undefined;
  return new Set([
    ...[...undecided, ...unread].map(({ link }) => link.cluster),
    ...(knowledge === 'unknown' || isComing ? [undefined] : []),
  ]);
}

/**
 * Reports whether a target might have a member, and this operator cannot decide about its membership now. False for a
 * target that seems to belong to another operator (`TargetParty.isLinked`).
 */
export const mayYetHaveMember = ({ knowledge, mayHaveMember, isLinked }: TargetParty): boolean =>
  knowledge !== 'known' && mayHaveMember && isLinked !== false;

/**
 * Reports whether a refused Service might join later without being changed: once it is known whether the control plane
 * has credentials, once the gateway's host name has an address, or once this operator holds the Lease of local
 * memberships.
 */
function isUndecided({ isDiscoverable, gateway }: TargetParty, reason: RefusalReason): boolean {
  switch (reason) {
    case 'WaitingForCredentials':
      return isDiscoverable === undefined;
    case 'WaitingForGateway':
      // If there is a gateway, the reason is that its host name has no address yet.
      return gateway !== undefined;
    case 'WaitingForLease':
      return true;
    default:
      return false;
  }
}

/**
 * Decides which clusters may have a member that is not known yet. While there is such a cluster, a federated Service
 * without members is kept, so that clients keep its ClusterIP (rule I6). Pure.
 */
import type { RefusalReason } from '../mirror/reasons.ts';
import { isFederated } from '../source/owner.ts';
import type { Admission } from './admission.ts';
import { invalidMember } from './refusals.ts';
import type { ObservedFederation, TargetParty } from './observed.ts';

/**
 * Returns the clusters because of which a federated Service without members is kept: each of them may yet have a
 * member. `undefined` stands for the local cluster. The result is empty if the federated Service has members, does not
 * exist, is not ours, or may not be written ({@link Admission.isWritable}).
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
  // The present or the next holder of the Lease will make the local Service a member.
  const isComing = !isHeld && service !== undefined && invalidMember(service) === undefined;
  return new Set([
    ...[...undecided, ...unread].map(({ link }) => link.cluster),
    ...(knowledge === 'unknown' || isComing ? [undefined] : []),
  ]);
}

/** Reports whether a cluster of this operator's Links may have a member that is not known. */
export const mayYetHaveMember = ({ knowledge, mayHaveMember, isLinked }: TargetParty): boolean =>
  knowledge !== 'known' && mayHaveMember && isLinked !== false;

/**
 * Reports whether a refused Service may join later without being changed: once it is known whether the control plane
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

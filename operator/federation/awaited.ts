/**
 * Clusters that may have a member that is not known yet. While there is one, a federated Service without members
 * stays, so that clients keep its ClusterIP (rule I6). Pure.
 */
import type { RefusalReason } from '../mirror/reasons.ts';
import { isFederated } from '../source/owner.ts';
import type { Admission } from './admission.ts';
import { invalidMember } from './refusals.ts';
import type { ObservedFederation, TargetParty } from './observed.ts';

/** Returns the clusters that a Service waits for; none while it has members. The local cluster is `undefined`. */
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
  // The holder of the Lease, or we once we hold it, will list the local member.
  const isComing = !isHeld && service !== undefined && invalidMember(service) === undefined;
  return new Set([
    ...[...undecided, ...unread].map(({ link }) => link.cluster),
    ...(knowledge === 'unknown' || isComing ? [undefined] : []),
  ]);
}

/** Reports whether a cluster may have a member that is not known, and belongs to a Link of this operator. */
export const mayYetHaveMember = ({ knowledge, mayHaveMember, isLinked }: TargetParty): boolean =>
  knowledge !== 'known' && mayHaveMember && isLinked !== false;

/**
 * Reports whether a refusal may end without a change of the member: once something becomes known, or we hold the
 * Lease of local memberships.
 */
function isUndecided({ isDiscoverable, gateway }: TargetParty, reason: RefusalReason): boolean {
  switch (reason) {
    case 'WaitingForCredentials':
      return isDiscoverable === undefined;
    case 'WaitingForGateway':
      // Its name has no address yet.
      return gateway !== undefined;
    case 'WaitingForLease':
      return true;
    default:
      return false;
  }
}

/**
 * Which clusters may have a member that is not known yet, so that a federated Service without members stays for it, and
 * clients keep its ClusterIP (rule I6). Pure.
 */
import { isFederated } from '../source/owner.ts';
import type { Admission } from './admission.ts';
import { invalidMember } from './refusals.ts';
import type { ObservedFederation } from './observed.ts';

/** Returns the clusters that a Service waits for; none while it has members. Undefined among them: the local cluster. */
export function awaitedClusters(
  { live, local, targets }: ObservedFederation,
  { members, refused, isWritable }: Admission,
): ReadonlySet<string | undefined> {
  if (live === undefined || !isFederated(live) || !isWritable || members.length > 0) return new Set();
  const undecided = refused.flatMap(({ target, refusal: { reason } }) =>
    target !== undefined && reason === 'WaitingForCredentials' && target.isDiscoverable === undefined ? [target] : [],
  );
  const unread = targets.filter(({ knowledge, mayHaveMember }) => knowledge !== 'known' && mayHaveMember);
  const { knowledge, isHeld, service } = local;
  // The holder of the Lease, or we once we hold it, will list the local member.
  const isComing = !isHeld && service !== undefined && invalidMember(service) === undefined;
  return new Set([
    ...[...undecided, ...unread].map(({ link }) => link.cluster),
    ...(knowledge === 'unknown' || isComing ? [undefined] : []),
  ]);
}

/**
 * Decides the desired state of one federated Service from the observed state. The decision contains the manifests of
 * the federated Service, and the status of each cluster's Service. Pure.
 */
import { federatedName } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import type { Manifests } from '../mirror/manifests.ts';
import type { Refusal } from '../mirror/reasons.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import { type Admission, admit } from './admission.ts';
import { awaitedClusters } from './awaited.ts';
import { asItIs, desired, standing } from './desired.ts';
import { followingGateways, withDying } from './member-slices.ts';
import { membershipOf } from './membership.ts';
import type { ObservedFederation } from './observed.ts';
import { anothersRefusal, markOf, marked, standingOf } from './operators.ts';
import { invalidMember } from './refusals.ts';

/** Desired state of a federated Service, and the statuses to report. */
export interface FederationDecision {
  readonly admission: Admission;
  readonly manifests: Manifests;
  /**
   * Entries for `status.federatedServices` of the Links. Key: name of the target cluster. A cluster has no entry if it
   * has no selected Service of this name, or if this operator cannot decide about its membership now.
   */
  readonly statuses: ReadonlyMap<string, MirrorStatus>;
  /**
   * Status of the local Service. No Link shows this status. Undefined in these cases:
   * - No local Service of this name is selected.
   * - This operator cannot decide about the local membership now.
   * - The federated Service is left to another operator ({@link isLeft}).
   */
  readonly local: MirrorStatus | undefined;
  /**
   * Whether the objects must not be written or deleted, because another operator serves or might serve the federated
   * Service (rule I9).
   */
  readonly isLeft: boolean;
  /**
   * Clusters that might still have a member. Because of them, the federated Service is kept although it has no members
   * (rule I6). Empty if the federated Service is not kept for this reason. `undefined` stands for the local cluster.
   */
  readonly awaited: ReadonlySet<string | undefined>;
  /**
   * Whether the federated Service keeps naming this operator for one reason only: a target might have a member, and
   * this operator cannot decide about that membership now (rule I9).
   */
  readonly isUnsure: boolean;
}

/** Decides the desired state of one federated Service, and the statuses to report. */
export function decideFederation(given: ObservedFederation): FederationDecision {
  const observed = besideOthers(given);
  const served = standingOf(observed);
  if (served === 'another' || served === 'none') return left(observed);
  const admission = admit(observed);
  const awaited = awaitedClusters(observed, admission);
  try {
    const follow = (targets: ObservedFederation['targets']) => followingGateways({ ...observed, targets });
    const planned = desired(observed, admission, awaited.size > 0);
    const all = withDying(planned, observed.slices, observed.targets, follow);
    const { members } = admission;
    const mark = served === 'own' ? markOf(observed, members, awaited.size > 0) : 'unset';
    const marks = { isOurs: mark !== 'unset', hasMembers: members.length > 0 };
    const services = all.services.map((each) => marked(observed, each, marks));
    const manifests = { ...all, services };
    const isUnsure = mark === 'unsure';
    return { admission, manifests, ...statusesOf(observed, admission), awaited, isUnsure, isLeft: false };
  } catch (error) {
    // The construct refused data of a cluster. The existing objects stay, and the slices among them still follow the
    // gateways.
    const refusal: Refusal = { reason: 'InvalidService', message: describe(error) };
    const statuses = statusesOf(observed, admission, refusal);
    return { admission, manifests: standing(observed), ...statuses, awaited, isUnsure: false, isLeft: false };
  }
}

/**
 * Returns the decision that leaves all objects unchanged, because another operator serves or might serve the federated
 * Service. The selected Services of targets are refused. Targets whose `knowledge` is not `known` are left out.
 */
function left(observed: ObservedFederation): FederationDecision {
  const refused = observed.targets.flatMap((target) =>
    target.knowledge === 'known' && target.service !== undefined
      ? [{ target, refusal: invalidMember(target.service, target.link) ?? anothersRefusal(observed) }]
      : [],
  );
  const mode = membershipOf(observed)?.mode ?? 'remote-discovery';
  const admission: Admission = { mode, members: [], refused, isWritable: false };
  const manifests = { ...asItIs(observed), isBlocked: refused.length > 0 };
  const none = { awaited: new Set<never>(), isUnsure: false };
  return { admission, manifests, ...statusesOf(observed, admission), ...none, isLeft: true };
}

/**
 * Returns the observed state. If this operator does not hold the Lease of local memberships, the result has `anothers`
 * as the `knowledge` of the local cluster, so that the local membership is left to the holder. Two exceptions:
 * - `unknown` stays `unknown`.
 * - If the federated Service is in gateway mode, the `knowledge` stays as it is. The local membership is then ours even
 *   without the Lease: it consists of slices, which only this operator writes.
 */
function besideOthers(observed: ObservedFederation): ObservedFederation {
  const { local } = observed;
  if (local.isHeld || local.knowledge === 'unknown' || membershipOf(observed)?.mode === 'gateway') return observed;
  return { ...observed, local: { ...local, knowledge: 'anothers' } };
}

function statusesOf(
  { namespace, name }: ObservedFederation,
  { members, refused }: Admission,
  failure?: Refusal,
): Pick<FederationDecision, 'statuses' | 'local'> {
  const status = (refusal: Refusal | undefined, note = ''): MirrorStatus => ({
    remote: { namespace, name },
    local: federatedName(name),
    mirrored: refusal === undefined,
    reason: refusal?.reason ?? 'Mirrored',
    message: refusal?.message ?? note,
  });
  const all = [
    ...members
      .filter(({ service, kept }) => service !== undefined || kept !== undefined)
      .map(({ target, note, kept }) => [target?.link.cluster, status(failure ?? kept, note)] as const),
    ...refused.map(({ target, refusal }) => [target?.link.cluster, status(refusal)] as const),
  ];
  return {
    statuses: new Map(all.flatMap(([cluster, each]) => (cluster === undefined ? [] : [[cluster, each] as const]))),
    local: all.find(([cluster]) => cluster === undefined)?.[1],
  };
}

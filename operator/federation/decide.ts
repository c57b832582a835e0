/**
 * Decides about one federated Service: takes what is observed, returns the manifests and the status of each cluster.
 * Pure.
 */
import { federatedName } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import type { Manifests } from '../mirror/manifests.ts';
import type { Refusal } from '../mirror/reasons.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import { type Admission, admit } from './admission.ts';
import { awaitedClusters } from './awaited.ts';
import { asItIs, desired, standing } from './desired.ts';
import { membershipOf } from './membership.ts';
import type { ObservedFederation } from './observed.ts';
import { anothersRefusal, markOf, marked, standingOf } from './operators.ts';
import { invalidMember } from './refusals.ts';

/** What a federated Service must be. */
export interface FederationDecision {
  readonly admission: Admission;
  readonly manifests: Manifests;
  /**
   * Entry for `status.federatedServices` of a Link, by target cluster. There is none for a cluster without such a
   * Service, or whose membership stays as it is.
   */
  readonly statuses: ReadonlyMap<string, MirrorStatus>;
  /** Such an entry for the Service of the local cluster. */
  readonly local: MirrorStatus | undefined;
  /** Whether the objects must not be written or deleted, since another operator serves it, or may (rule I9). */
  readonly isLeft: boolean;
  /**
   * Clusters that may still have a member, so that the Service stays without members (rule I6). The local cluster is
   * `undefined`.
   */
  readonly awaited: ReadonlySet<string | undefined>;
  /** Whether it names this operator only because a cluster that is still to be read may have a member (rule I9). */
  readonly isUnsure: boolean;
}

/** Decides about one federated Service. */
export function decideFederation(given: ObservedFederation): FederationDecision {
  const observed = besideOthers(given);
  const served = standingOf(observed);
  if (served === 'another' || served === 'none') return left(observed);
  const admission = admit(observed);
  const awaited = awaitedClusters(observed, admission);
  try {
    const all = desired(observed, admission, awaited.size > 0);
    const { members } = admission;
    const mark = served === 'own' ? markOf(observed, members, awaited.size > 0) : 'unset';
    const marks = { isOurs: mark !== 'unset', hasMembers: members.length > 0 };
    const services = all.services.map((each) => marked(observed, each, marks));
    const manifests = { ...all, services };
    const isUnsure = mark === 'unsure';
    return { admission, manifests, ...statusesOf(observed, admission), awaited, isUnsure, isLeft: false };
  } catch (error) {
    // The construct refused what a cluster sent: nothing of it is written, and what there is stays.
    const refusal: Refusal = { reason: 'InvalidService', message: describe(error) };
    const statuses = statusesOf(observed, admission, refusal);
    return { admission, manifests: standing(observed), ...statuses, awaited, isUnsure: false, isLeft: false };
  }
}

/**
 * Leaves everything as it is, since another operator serves it. Members of our Links wait until that operator is
 * gone.
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
 * Leaves the local membership to another operator while we do not hold the Lease. Gateway mode is different: there it
 * consists of slices, which are always ours.
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

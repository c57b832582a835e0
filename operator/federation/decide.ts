/** One federated Service decided: what is observed in, the manifests and the status of each cluster out. Pure. */
import { federatedName } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import type { Manifests } from '../mirror/desired.ts';
import type { Refusal } from '../mirror/reasons.ts';
import type { MirrorStatus } from '../mirror/status.ts';
import { type Admission, admit } from './admission.ts';
import { asItIs, desired } from './desired.ts';
import { membershipOf } from './membership.ts';
import type { ObservedFederation } from './observed.ts';

/** What a federated Service must be. */
export interface FederationDecision {
  readonly admission: Admission;
  readonly manifests: Manifests;
  /**
   * By target cluster, an entry for `status.federatedServices` of its Link; none for a cluster that has no such Service,
   * or whose membership stays as it is.
   */
  readonly statuses: ReadonlyMap<string, MirrorStatus>;
  /** The same for the local Service. */
  readonly local: MirrorStatus | undefined;
}

/** Decides about one federated Service. */
export function decideFederation(given: ObservedFederation): FederationDecision {
  const observed = besideOthers(given);
  const admission = admit(observed);
  try {
    return { admission, manifests: desired(observed, admission), ...statusesOf(observed, admission) };
  } catch (error) {
    // The construct refused what a cluster sent: nothing of it is written, and what there is stays.
    const refusal: Refusal = { reason: 'InvalidService', message: describe(error) };
    return { admission, manifests: asItIs(observed), ...statusesOf(observed, admission, refusal) };
  }
}

/** Without the Lease, the local membership is another's; but slices, by which it shows in gateway shape, are only ours. */
function besideOthers(observed: ObservedFederation): ObservedFederation {
  const { local } = observed;
  if (local.isHeld || membershipOf(observed)?.mode === 'gateway') return observed;
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
      .filter(({ service }) => service !== undefined)
      .map(({ target, note }) => [target?.link.cluster, status(failure, note)] as const),
    ...refused.map(({ target, refusal }) => [target?.link.cluster, status(refusal)] as const),
  ];
  return {
    statuses: new Map(all.flatMap(([cluster, each]) => (cluster === undefined ? [] : [[cluster, each] as const]))),
    local: all.find(([cluster]) => cluster === undefined)?.[1],
  };
}

/**
 * Reads back the status of a Link. It is foreign data: anybody with the right may write it, and a CRD that is not ours
 * allows more than ours. What is not of the expected form is left out, and no form makes this throw (rule G1).
 */
import { type Condition, fieldsOf, isStatus, isTime, readConditions } from '../kube/conditions.ts';
import type { MirrorServiceBefore } from '../mirror/status.ts';

/** The part of `Link.status` that is read back. */
export interface LinkStatusBefore {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  /** Whether it says how many Services are not admitted. */
  readonly countsNotAdmitted?: true;
  readonly mirrorServices?: readonly MirrorServiceBefore[] | undefined;
  readonly federatedServices?: readonly MirrorServiceBefore[] | undefined;
}

export function readStatus(foreign: unknown): LinkStatusBefore {
  const { observedGeneration, conditions, mirrors, mirrorServices, federatedServices } = fieldsOf(foreign);
  return {
    observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : undefined,
    conditions: Array.isArray(conditions) ? readConditions(conditions) : undefined,
    ...('notAdmitted' in fieldsOf(mirrors) && { countsNotAdmitted: true as const }),
    mirrorServices: Array.isArray(mirrorServices) ? mirrorServices.flatMap(readMirrorService) : undefined,
    federatedServices: Array.isArray(federatedServices) ? federatedServices.flatMap(readMirrorService) : undefined,
  };
}

function readMirrorService(foreign: unknown): readonly MirrorServiceBefore[] {
  const { remoteRef, conditions } = fieldsOf(foreign);
  const { namespace, name } = fieldsOf(remoteRef);
  const [first] = Array.isArray(conditions) ? (conditions as readonly unknown[]) : [];
  const { status, lastTransitionTime } = fieldsOf(first);
  if (typeof namespace !== 'string' || typeof name !== 'string') return [];
  if (!isStatus(status) || !isTime(lastTransitionTime)) return [];
  return [{ remoteRef: { namespace, name }, conditions: [{ status, lastTransitionTime }] }];
}

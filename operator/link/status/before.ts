/**
 * Reads the present status of a Link. The status is foreign data: anybody with permission can write it, and another
 * version of the CRD might allow more. Whatever does not have the expected form is left out, and no content causes an
 * error (rule G1).
 */
import { type Condition, fieldsOf, isStatus, isTime, readConditions } from '../../kube/conditions.ts';
import type { MirrorServiceBefore } from '../../mirror/status.ts';

/** Fields of `status.mirrors` that only a Link with an import policy has. */
export const NOT_ADMITTED_COUNTS = ['notAdmitted', 'waitingForApproval'] as const;
export type NotAdmittedCount = (typeof NOT_ADMITTED_COUNTS)[number];

/** The part of `Link.status` that is read. */
export interface LinkStatusBefore {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  /** Value of `status.gateway.alive`, of any type; undefined if the field is missing. */
  readonly gatewayVerdict?: unknown;
  /** Those of {@link NOT_ADMITTED_COUNTS} that the status has. */
  readonly notAdmittedCounts?: readonly NotAdmittedCount[];
  readonly mirrorServices?: readonly MirrorServiceBefore[] | undefined;
  readonly federatedServices?: readonly MirrorServiceBefore[] | undefined;
}

export function readStatus(foreign: unknown): LinkStatusBefore {
  const { observedGeneration, conditions, gateway, mirrors, mirrorServices, federatedServices } = fieldsOf(foreign);
  const counts = NOT_ADMITTED_COUNTS.filter((each) => each in fieldsOf(mirrors));
  return {
    observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : undefined,
    conditions: Array.isArray(conditions) ? readConditions(conditions) : undefined,
    ...('alive' in fieldsOf(gateway) && { gatewayVerdict: fieldsOf(gateway)['alive'] }),
    ...(counts.length > 0 && { notAdmittedCounts: counts }),
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

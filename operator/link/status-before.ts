/**
 * Reads back the status of a Link. It is foreign data: anybody with the right may write it, and a CRD that is not ours
 * allows more than ours. What is not of the expected form is left out, and no form makes this throw (rule G1).
 */
import { type Condition, isReason } from '../kube/conditions.ts';
import type { MirrorServiceBefore } from '../mirror/status.ts';

/** The part of `Link.status` that is read back. */
export interface LinkStatusBefore {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly mirrorServices?: readonly MirrorServiceBefore[] | undefined;
  readonly federatedServices?: readonly MirrorServiceBefore[] | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a value; none if it is no object. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export function readStatus(foreign: unknown): LinkStatusBefore {
  const { observedGeneration, conditions, mirrorServices, federatedServices } = fieldsOf(foreign);
  return {
    observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : undefined,
    conditions: Array.isArray(conditions) ? conditions.flatMap(readCondition) : undefined,
    mirrorServices: Array.isArray(mirrorServices) ? mirrorServices.flatMap(readMirrorService) : undefined,
    federatedServices: Array.isArray(federatedServices) ? federatedServices.flatMap(readMirrorService) : undefined,
  };
}

function readCondition(foreign: unknown): readonly Condition[] {
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = fieldsOf(foreign);
  if (typeof type !== 'string' || !isStatus(status) || !isTime(lastTransitionTime)) return [];
  if (typeof reason !== 'string' || !isReason(reason)) return [];
  return [
    {
      type,
      status,
      reason,
      message: typeof message === 'string' ? message : '',
      observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : 0,
      lastTransitionTime,
    },
  ];
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

const isStatus = (value: unknown): value is Condition['status'] =>
  value === 'True' || value === 'False' || value === 'Unknown';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Whether the API server accepts it as a time: it is written back. */
const isTime = (value: unknown): value is string =>
  typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));

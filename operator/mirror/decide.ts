/**
 * One target Service's mirrors decided: what is observed, and the names that it gets, in; the manifests and the status
 * out. Pure, but for what is remembered of pods to render less.
 */
import { describe } from '../kube/errors.ts';
import type { Named } from './claims.ts';
import { desired } from './desired.ts';
import type { Manifests } from './manifests.ts';
import type { Names } from './names.ts';
import { isMirrored, type Shape } from './shape.ts';
import type { Observed } from './observed.ts';
import type { Refusal } from './reasons.ts';
import type { MirrorPass } from './reasons.ts';
import { Rendered } from './rendered.ts';
import { mirrored, type MirrorStatus, notMirrored } from './status.ts';

/** What a target Service's mirrors must be. */
export interface Decision {
  readonly shape: Shape;
  readonly manifests: Manifests;
}

/**
 * Decides about one target Service.
 * @param named its form and names, by claims that have been entered
 * @param pods what was rendered before of the pods of headless Services. @default - nothing
 */
export function decide(observed: Observed, { shape, ...names }: Named, pods = new Rendered()): Decision {
  const rendered = attempt(() => {
    if (shape instanceof Error) throw shape;
    return { shape, manifests: desired(observed, shape, names, pods) };
  });
  if (!(rendered instanceof Error)) {
    if (isTooLarge(rendered, observed)) return refusedBy(observed, TOO_LARGE, pods);
    if (!['headless', 'undecided'].includes(rendered.shape.kind)) pods.forget(`${observed.namespace}/${observed.name}`);
    return rendered;
  }
  // A construct rejected what the target sent: nothing of it is written, and existing mirrors stay.
  return refusedBy(observed, { reason: 'InvalidService', message: describe(rendered) }, pods);
}

const NO_NAMES: Names = { nameOf: () => undefined, revision: 0 };

/** Existing mirrors stay. */
function refusedBy(observed: Observed, refusal: Refusal, pods: Rendered): Decision {
  const shape: Shape = { kind: 'refused', refusal, existing: 'keep' };
  return { shape, manifests: desired(observed, shape, NO_NAMES, pods) };
}

const TOO_LARGE: Refusal = {
  reason: 'LimitExceeded',
  message:
    'its mirrors, with the labels and annotations that they copy, would take all that is written for the Link beyond what the operator allows (--max-written-mib); shorten the metadata of what is exported, export fewer, or raise the limit',
};

/** Whether what is to be written would take more than the limit of the Link allows (rule E10). */
function isTooLarge({ shape, manifests }: Decision, { admitsBytes }: Observed): boolean {
  const isSettled =
    isMirrored(shape) || shape.kind === 'absent' || (shape.kind === 'refused' && shape.existing === 'remove');
  // While endpoints are not known, less is rendered than stays.
  const isKnown = !('endpoints' in shape) || shape.endpoints !== undefined;
  if (!isSettled || !isKnown || manifests.isUnfinished || admitsBytes === undefined) return false;
  return !admitsBytes(manifests.bytes ?? 0);
}

/** Returns why a target Service, or a part of it, is not mirrored: the first reason; undefined if it is. */
export const refusalOf = ({ manifests }: Decision, pass: Pick<MirrorPass, 'refusals'>): Refusal | undefined =>
  [...manifests.refusals, ...pass.refusals][0];

/** Returns the status of one target Service; undefined if it is not exported and no mirror of it is left. */
export function statusOf(
  { namespace, name, link }: Observed,
  shape: Shape,
  refusal: Refusal | undefined,
  pass: Pick<MirrorPass, 'errors' | 'notes'>,
): MirrorStatus | undefined {
  const remote = { namespace, name };
  const [failure] = pass.errors;
  if (shape.kind === 'absent') {
    if (failure === undefined) return undefined;
    const message = `it is no longer exported, but its mirror cannot be deleted: ${describe(failure)}`;
    return notMirrored(remote, link.cluster, { reason: 'Error', message });
  }
  if (refusal !== undefined) return notMirrored(remote, link.cluster, refusal);
  if (failure !== undefined) return notMirrored(remote, link.cluster, { reason: 'Error', message: describe(failure) });
  const note = 'note' in shape && shape.note !== undefined ? [shape.note] : [];
  return mirrored(remote, link.cluster, [...note, ...pass.notes].join('; '));
}

/** Returns the function's result, or the error that it throws. */
function attempt<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

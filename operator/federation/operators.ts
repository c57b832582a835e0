/**
 * Which operator serves a federated Service, where a cluster has several of them in namespaces of their own (rule I9): the
 * one that an annotation of the Service names. Pure.
 */
import { Annotation } from '../../crds/wire.ts';
import type { Operators } from '../mirror/observed.ts';
import { type Refusal, servedByAnother } from '../mirror/reasons.ts';
import { SERVICES, type Service } from '../kube/objects.ts';
import type { Desired } from '../runtime/plan.ts';
import { isFederated } from '../source/owner.ts';
import { mayYetHaveMember } from './awaited.ts';
import { memberOf } from '../source/owner.ts';
import { listedClusters, membershipOf } from './membership.ts';
import type { Member } from './member.ts';
import type { ObservedFederation } from './observed.ts';

/** Returns the namespace of the operator that serves a federated Service; undefined if nothing says which. */
export function operatorOf(live: Service | undefined, { own, isGone }: Operators): string | undefined {
  const operator =
    live !== undefined && isFederated(live) ? live.metadata.annotations?.[Annotation.operator] : undefined;
  return operator === undefined || (operator !== own && isGone(operator)) ? undefined : operator;
}

/** Whose a federated Service is: `none`, it is nobody's as far as is known, and this operator has no part in it either. */
export type Standing = 'own' | 'shared' | 'another' | 'none';

/**
 * Returns whose a federated Service is. One that has no mark is that of an operator that has a part in it: a cluster of its
 * Links has a member, or is listed. One of Services of this cluster alone, which all operators know, is shared.
 */
export function standingOf(observed: ObservedFederation): Standing {
  const { live, local, targets, operators, slices } = observed;
  const operator = operatorOf(live, operators);
  if (operator !== undefined) return operator === operators.own ? 'own' : 'another';
  const listed = listedClusters(observed);
  const others = new Set(targets.flatMap(({ isLinked, link }) => (isLinked === false ? [link.cluster] : [])));
  const isPart = [...listed].some((cluster) => !others.has(cluster));
  if (isPart || targets.some(({ service }) => service !== undefined)) return 'own';
  if (listed.size > 0) return 'none';
  const isListed = membershipOf(observed)?.local === true || slices.some((slice) => memberOf(slice) === undefined);
  if (isListed || local.service !== undefined) return 'shared';
  if (targets.some(mayYetHaveMember)) return 'own';
  // It is left over from somebody who did not mark it, as Linkerd's local mirror; whoever has Links has looked for members.
  return targets.length > 0 ? 'shared' : 'none';
}

/** Why the members of an operator's Links do not join what another one serves. */
export const anothersRefusal = ({ namespace, live, operators: { own } }: ObservedFederation): Refusal =>
  servedByAnother(namespace, live?.metadata.name ?? '', live?.metadata.annotations?.[Annotation.operator] ?? '', own);

/** Whether a federated Service is to name this operator; `unsure`: it does, and goes on until all clusters have been read. */
export type Mark = 'set' | 'unset' | 'unsure';

/**
 * Returns whether a federated Service is to name this operator: a cluster of its Links has a Service of that name, or is a
 * member. It goes on to do so until nothing but this cluster's own Services is left of it.
 */
export function markOf(
  { live, targets, operators }: ObservedFederation,
  members: readonly Member[],
  isAwaited: boolean,
): Mark {
  const ofTargets = members.flatMap(({ target }) => (target === undefined ? [] : [target]));
  if (isAwaited || targets.some(({ service }) => service !== undefined)) return 'set';
  const isMarked = operatorOf(live, operators) === operators.own;
  if (isMarked ? ofTargets.length > 0 : ofTargets.some(({ isLinked }) => isLinked !== false)) return 'set';
  return isMarked && targets.some(mayYetHaveMember) ? 'unsure' : 'unset';
}

/**
 * Returns the Service with the mark of this operator, or without one; what stays as it is keeps what it has. While a member
 * tells whose it is, the lack of a mark does not cause a write: Linkerd's controllers leave it out each time.
 */
export function marked(
  { live, operators }: ObservedFederation,
  desired: Desired,
  { isOurs, hasMembers }: { readonly isOurs: boolean; readonly hasMembers: boolean },
): Desired {
  const { of, object, comparison } = desired;
  if (of !== SERVICES || object === live) return desired;
  const { metadata } = object;
  const { [Annotation.operator]: _, ...others } = metadata.annotations ?? {};
  const annotations = isOurs ? { ...others, [Annotation.operator]: operators.own } : others;
  const isLacking = isOurs && hasMembers && live?.metadata.annotations?.[Annotation.operator] === undefined;
  const ignoredAnnotations = new Set([...(comparison?.ignoredAnnotations ?? []), Annotation.operator]);
  return {
    ...desired,
    object: { ...object, metadata: { ...metadata, annotations } },
    ...(isLacking && { comparison: { ...comparison, ignoredAnnotations } }),
  };
}
